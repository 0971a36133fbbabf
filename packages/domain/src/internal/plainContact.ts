/**
 * Contacts as services send nearly all of them, read and written without the steps of a schema, which take ten times as
 * long. What is not plain, and what is wrong, is `undefined` here and left to the schema, which knows what to say about it;
 * a property test proves that the two agree. Each field is named where it is read, since that is what makes it fast.
 */
import { type DateTime, type SchemaAST } from "effect"
import { invalid } from "effect/schema/SchemaCompiler"
import type { Consent, Contact, ContactActivity } from "../Contact.ts"
import type { UnknownValue } from "../OpenLiterals.ts"
import { formatWireDate, isInstant, parseWireDate } from "../WireDate.ts"

/** @internal */
export type Writable<A> = { -readonly [K in keyof A]: A[K] }

/** Any value under the names of a record, or none. */
type Fields<A> = { readonly [K in keyof A]?: unknown }

/**
 * What else is a record may have getters, or names from elsewhere.
 *
 * @internal
 */
export const isPlain = <A extends object>(value: unknown): value is Fields<A> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** @internal */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value)

/** Every text is one of a list that grows: one that is known, or one that is not. */
const isOpen = (value: unknown): value is UnknownValue => typeof value === "string"

/** @internal */
export const areTexts = (value: unknown): value is { readonly [name: string]: string } => {
  if (!isPlain<{ readonly [name: string]: unknown }>(value)) return false
  for (const name in value) if (typeof value[name] !== "string") return false
  return true
}

/** @internal */
export const readDate = (value: unknown): DateTime.Utc | undefined =>
  typeof value === "string" ? parseWireDate(value) : undefined

const writeDate = (value: unknown): string | undefined => (isInstant(value) ? formatWireDate(value) : undefined)

const readConsent = (wire: unknown): Consent | undefined => {
  if (!isPlain<typeof Consent.Encoded>(wire)) return undefined
  const to: Writable<Consent> = {}
  const ip = wire.ConsentIP
  if (typeof ip === "string") to.ip = ip
  else if (ip !== undefined || "ConsentIP" in wire) return undefined
  const date = wire.ConsentDate === null ? null : readDate(wire.ConsentDate)
  if (date !== undefined) to.date = date
  else if ("ConsentDate" in wire) return undefined
  const tracking = wire.ConsentTracking
  if (isOpen(tracking)) to.tracking = tracking
  else if (tracking !== undefined || "ConsentTracking" in wire) return undefined
  return to
}

const readActivity = (wire: unknown): ContactActivity | undefined => {
  if (!isPlain<typeof ContactActivity.Encoded>(wire)) return undefined
  const to: Writable<ContactActivity> = {}
  const totalSent = wire.TotalSent
  if (isCount(totalSent)) to.totalSent = totalSent
  else if (totalSent !== undefined || "TotalSent" in wire) return undefined
  const totalOpened = wire.TotalOpened
  if (isCount(totalOpened)) to.totalOpened = totalOpened
  else if (totalOpened !== undefined || "TotalOpened" in wire) return undefined
  const totalClicked = wire.TotalClicked
  if (isCount(totalClicked)) to.totalClicked = totalClicked
  else if (totalClicked !== undefined || "TotalClicked" in wire) return undefined
  const totalFailed = wire.TotalFailed
  if (isCount(totalFailed)) to.totalFailed = totalFailed
  else if (totalFailed !== undefined || "TotalFailed" in wire) return undefined
  const lastSent = wire.LastSent === null ? null : readDate(wire.LastSent)
  if (lastSent !== undefined) to.lastSent = lastSent
  else if ("LastSent" in wire) return undefined
  const lastOpened = wire.LastOpened === null ? null : readDate(wire.LastOpened)
  if (lastOpened !== undefined) to.lastOpened = lastOpened
  else if ("LastOpened" in wire) return undefined
  const lastClicked = wire.LastClicked === null ? null : readDate(wire.LastClicked)
  if (lastClicked !== undefined) to.lastClicked = lastClicked
  else if ("LastClicked" in wire) return undefined
  const lastFailed = wire.LastFailed === null ? null : readDate(wire.LastFailed)
  if (lastFailed !== undefined) to.lastFailed = lastFailed
  else if ("LastFailed" in wire) return undefined
  const lastIP = wire.LastIP
  if (typeof lastIP === "string") to.lastIP = lastIP
  else if (lastIP !== undefined || "LastIP" in wire) return undefined
  const errorCode = wire.ErrorCode
  if (errorCode === null || isCount(errorCode)) to.errorCode = errorCode
  else if (errorCode !== undefined || "ErrorCode" in wire) return undefined
  const friendlyErrorMessage = wire.FriendlyErrorMessage
  if (typeof friendlyErrorMessage === "string") to.friendlyErrorMessage = friendlyErrorMessage
  else if (friendlyErrorMessage !== undefined || "FriendlyErrorMessage" in wire) return undefined
  return to
}

const readContact = (wire: unknown): Contact | undefined => {
  if (!isPlain<typeof Contact.Encoded>(wire)) return undefined
  const email = wire.Email
  if (typeof email !== "string") return undefined
  const to: Writable<Contact> = { email }
  const status = wire.Status
  if (isOpen(status)) to.status = status
  else if (status !== undefined || "Status" in wire) return undefined
  const firstName = wire.FirstName
  if (typeof firstName === "string") to.firstName = firstName
  else if (firstName !== undefined || "FirstName" in wire) return undefined
  const lastName = wire.LastName
  if (typeof lastName === "string") to.lastName = lastName
  else if (lastName !== undefined || "LastName" in wire) return undefined
  const customFields = wire.CustomFields
  if (areTexts(customFields)) to.customFields = { ...customFields }
  else if (customFields !== undefined || "CustomFields" in wire) return undefined
  const consent = readConsent(wire.Consent)
  if (consent !== undefined) to.consent = consent
  else if ("Consent" in wire) return undefined
  const source = wire.Source
  if (isOpen(source)) to.source = source
  else if (source !== undefined || "Source" in wire) return undefined
  const dateAdded = readDate(wire.DateAdded)
  if (dateAdded !== undefined) to.dateAdded = dateAdded
  else if ("DateAdded" in wire) return undefined
  const dateUpdated = wire.DateUpdated === null ? null : readDate(wire.DateUpdated)
  if (dateUpdated !== undefined) to.dateUpdated = dateUpdated
  else if ("DateUpdated" in wire) return undefined
  const statusChangeDate = wire.StatusChangeDate === null ? null : readDate(wire.StatusChangeDate)
  if (statusChangeDate !== undefined) to.statusChangeDate = statusChangeDate
  else if ("StatusChangeDate" in wire) return undefined
  const activity = readActivity(wire.Activity)
  if (activity !== undefined) to.activity = activity
  else if ("Activity" in wire) return undefined
  return to
}

const writeConsent = (value: unknown): typeof Consent.Encoded | undefined => {
  if (!isPlain<Consent>(value)) return undefined
  const to: Writable<typeof Consent.Encoded> = {}
  const ip = value.ip
  if (typeof ip === "string") to.ConsentIP = ip
  else if (ip !== undefined || "ip" in value) return undefined
  const date = value.date === null ? null : writeDate(value.date)
  if (date !== undefined) to.ConsentDate = date
  else if ("date" in value) return undefined
  const tracking = value.tracking
  if (typeof tracking === "string") to.ConsentTracking = tracking
  else if (tracking !== undefined || "tracking" in value) return undefined
  return to
}

const writeActivity = (value: unknown): typeof ContactActivity.Encoded | undefined => {
  if (!isPlain<ContactActivity>(value)) return undefined
  const to: Writable<typeof ContactActivity.Encoded> = {}
  const totalSent = value.totalSent
  if (isCount(totalSent)) to.TotalSent = totalSent
  else if (totalSent !== undefined || "totalSent" in value) return undefined
  const totalOpened = value.totalOpened
  if (isCount(totalOpened)) to.TotalOpened = totalOpened
  else if (totalOpened !== undefined || "totalOpened" in value) return undefined
  const totalClicked = value.totalClicked
  if (isCount(totalClicked)) to.TotalClicked = totalClicked
  else if (totalClicked !== undefined || "totalClicked" in value) return undefined
  const totalFailed = value.totalFailed
  if (isCount(totalFailed)) to.TotalFailed = totalFailed
  else if (totalFailed !== undefined || "totalFailed" in value) return undefined
  const lastSent = value.lastSent === null ? null : writeDate(value.lastSent)
  if (lastSent !== undefined) to.LastSent = lastSent
  else if ("lastSent" in value) return undefined
  const lastOpened = value.lastOpened === null ? null : writeDate(value.lastOpened)
  if (lastOpened !== undefined) to.LastOpened = lastOpened
  else if ("lastOpened" in value) return undefined
  const lastClicked = value.lastClicked === null ? null : writeDate(value.lastClicked)
  if (lastClicked !== undefined) to.LastClicked = lastClicked
  else if ("lastClicked" in value) return undefined
  const lastFailed = value.lastFailed === null ? null : writeDate(value.lastFailed)
  if (lastFailed !== undefined) to.LastFailed = lastFailed
  else if ("lastFailed" in value) return undefined
  const lastIP = value.lastIP
  if (typeof lastIP === "string") to.LastIP = lastIP
  else if (lastIP !== undefined || "lastIP" in value) return undefined
  const errorCode = value.errorCode
  if (errorCode === null || isCount(errorCode)) to.ErrorCode = errorCode
  else if (errorCode !== undefined || "errorCode" in value) return undefined
  const friendlyErrorMessage = value.friendlyErrorMessage
  if (typeof friendlyErrorMessage === "string") to.FriendlyErrorMessage = friendlyErrorMessage
  else if (friendlyErrorMessage !== undefined || "friendlyErrorMessage" in value) return undefined
  return to
}

const writeContact = (value: unknown): typeof Contact.Encoded | undefined => {
  if (!isPlain<Contact>(value)) return undefined
  const email = value.email
  if (typeof email !== "string") return undefined
  const to: Writable<typeof Contact.Encoded> = { Email: email }
  const status = value.status
  if (typeof status === "string") to.Status = status
  else if (status !== undefined || "status" in value) return undefined
  const firstName = value.firstName
  if (typeof firstName === "string") to.FirstName = firstName
  else if (firstName !== undefined || "firstName" in value) return undefined
  const lastName = value.lastName
  if (typeof lastName === "string") to.LastName = lastName
  else if (lastName !== undefined || "lastName" in value) return undefined
  const customFields = value.customFields
  if (areTexts(customFields)) to.CustomFields = { ...customFields }
  else if (customFields !== undefined || "customFields" in value) return undefined
  const consent = writeConsent(value.consent)
  if (consent !== undefined) to.Consent = consent
  else if ("consent" in value) return undefined
  const source = value.source
  if (typeof source === "string") to.Source = source
  else if (source !== undefined || "source" in value) return undefined
  const dateAdded = writeDate(value.dateAdded)
  if (dateAdded !== undefined) to.DateAdded = dateAdded
  else if ("dateAdded" in value) return undefined
  const dateUpdated = value.dateUpdated === null ? null : writeDate(value.dateUpdated)
  if (dateUpdated !== undefined) to.DateUpdated = dateUpdated
  else if ("dateUpdated" in value) return undefined
  const statusChangeDate = value.statusChangeDate === null ? null : writeDate(value.statusChangeDate)
  if (statusChangeDate !== undefined) to.StatusChangeDate = statusChangeDate
  else if ("statusChangeDate" in value) return undefined
  const activity = writeActivity(value.activity)
  if (activity !== undefined) to.Activity = activity
  else if ("activity" in value) return undefined
  return to
}

/**
 * A schema that is told to do more or less than usual does it itself.
 *
 * @internal
 */
export const isUsual = ({ disableChecks, onExcessProperty }: SchemaAST.ParseOptions): boolean =>
  disableChecks !== true && onExcessProperty !== "error"

/**
 * From the wire, or `invalid`.
 *
 * @internal
 */
export const decodePlainContact = (wire: unknown, options: SchemaAST.ParseOptions): unknown =>
  isUsual(options) ? (readContact(wire) ?? invalid) : invalid

/**
 * To the wire, or `invalid`.
 *
 * @internal
 */
export const encodePlainContact = (contact: unknown, options: SchemaAST.ParseOptions): unknown =>
  isUsual(options) ? (writeContact(contact) ?? invalid) : invalid
