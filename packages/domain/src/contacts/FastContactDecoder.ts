/**
 * Contacts as services send nearly all of them, read without the steps of a schema, which take ten times as long. What is
 * not plain, and what is wrong, is `undefined` here and left to the schema, which knows what to say about it; a property
 * test proves that the two agree. Each field is named where it is read, since that is what makes it fast.
 */
import { type DateTime, type SchemaAST } from "effect"
import { invalid } from "effect/schema/SchemaCompiler"
import type { Consent, Contact, ContactActivity } from "./Contact.ts"
import type { UnknownValue } from "../values/OpenLiterals.ts"
import { parseWireDate } from "../values/WireDate.ts"

export type Writable<A> = { -readonly [K in keyof A]: A[K] }

/** Any value under the names of a record, or none. */
type Fields<A> = { readonly [K in keyof A]?: unknown }

/** What else is a record may have getters, or names from elsewhere. */
export const isPlain = <A extends object>(value: unknown): value is Fields<A> =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

export const isCount = (value: unknown): value is number => Number.isSafeInteger(value)

/** Every text is one of a list that grows: one that is known, or one that is not. */
const isOpen = (value: unknown): value is UnknownValue => typeof value === "string"

export const areTexts = (value: unknown): value is { readonly [name: string]: string } => {
  if (!isPlain<{ readonly [name: string]: unknown }>(value)) return false
  for (const name in value) if (typeof value[name] !== "string") return false
  return true
}

export const readDate = (value: unknown): DateTime.Utc | undefined =>
  typeof value === "string" ? parseWireDate(value) : undefined

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

/** A schema that is told to do more or less than usual does it itself. */
export const isUsual = ({ disableChecks, onExcessProperty }: SchemaAST.ParseOptions): boolean =>
  disableChecks !== true && onExcessProperty !== "error"

/** From the wire, or `invalid`. */
export const decodePlainContact = (wire: unknown, options: SchemaAST.ParseOptions): unknown =>
  isUsual(options) ? (readContact(wire) ?? invalid) : invalid
