/**
 * Contacts as they nearly all are, written for the wire as `plainContact.ts` reads them.
 */
import { type SchemaAST } from "effect"
import { invalid } from "effect/schema/SchemaCompiler"
import type { Consent, Contact, ContactActivity } from "./Contact.ts"
import { formatWireDate, isInstant } from "../values/WireDate.ts"
import { areTexts, isCount, isPlain, isUsual, type Writable } from "./FastContactDecoder.ts"

const writeDate = (value: unknown): string | undefined => (isInstant(value) ? formatWireDate(value) : undefined)

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

/** To the wire, or `invalid`. */
export const encodePlainContact = (contact: unknown, options: SchemaAST.ParseOptions): unknown =>
  isUsual(options) ? (writeContact(contact) ?? invalid) : invalid
