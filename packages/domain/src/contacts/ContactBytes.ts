/**
 * Contacts as they nearly all are, written at once as the bytes that travel: the same JSON as the schema and
 * `JSON.stringify` make, without the record and the texts between. What is not plain is left to those; a property test
 * proves that the two agree. Plain is here also what no terminal would obey, so that nobody has to look for it afterwards.
 */
import type { Consent, Contact, ContactActivity } from "./Contact.ts"
import { isCount, isPlain } from "./FastContactDecoder.ts"
import { isInstant, writeWireDate } from "../values/WireDate.ts"

const encoder = new TextEncoder()

const quote = 0x22
const comma = 0x2c
const colon = 0x3a
const backslash = 0x5c
const open = 0x7b
const close = 0x7d

/** The name of a field with what stands before and behind it. */
const name = (text: string): Uint8Array => encoder.encode(`,"${text}":`)

const names = {
  email: encoder.encode('{"Email":'),
  status: name("Status"),
  firstName: name("FirstName"),
  lastName: name("LastName"),
  customFields: name("CustomFields"),
  consent: name("Consent"),
  ip: name("ConsentIP"),
  date: name("ConsentDate"),
  tracking: name("ConsentTracking"),
  source: name("Source"),
  dateAdded: name("DateAdded"),
  dateUpdated: name("DateUpdated"),
  statusChangeDate: name("StatusChangeDate"),
  activity: name("Activity"),
  totalSent: name("TotalSent"),
  totalOpened: name("TotalOpened"),
  totalClicked: name("TotalClicked"),
  totalFailed: name("TotalFailed"),
  lastSent: name("LastSent"),
  lastOpened: name("LastOpened"),
  lastClicked: name("LastClicked"),
  lastFailed: name("LastFailed"),
  lastIP: name("LastIP"),
  errorCode: name("ErrorCode"),
  friendlyErrorMessage: name("FriendlyErrorMessage")
}
const nothing = encoder.encode("null")

/** More than all names, instants and numbers of a contact take. */
const roomForTheRest = 1024

// Each of these gives the place behind what it has written, or -1; what begins at -1 ends there.

const writeText = (bytes: Uint8Array, start: number, text: unknown): number => {
  if (start < 0 || typeof text !== "string" || bytes.length - start < 3 * text.length + roomForTheRest) return -1
  let at = start
  bytes[at++] = quote
  for (let index = 0; index < text.length; index++) {
    const code = text.charCodeAt(index)
    if (code >= 0x20 && code < 0x7f && code !== quote && code !== backslash) {
      bytes[at++] = code
    } else if (code >= 0xa0 && code < 0x600) {
      bytes[at++] = 0xc0 | (code >> 6)
      bytes[at++] = 0x80 | (code & 0x3f)
    } else if ((code >= 0x800 && code < 0x2000) || (code >= 0x3000 && code < 0xd800)) {
      bytes[at++] = 0xe0 | (code >> 12)
      bytes[at++] = 0x80 | ((code >> 6) & 0x3f)
      bytes[at++] = 0x80 | (code & 0x3f)
    } else {
      return -1
    }
  }
  bytes[at++] = quote
  return at
}

const writeName = (bytes: Uint8Array, start: number, name: Uint8Array): number => {
  if (start < 0) return -1
  // A call of `set` takes longer for so few.
  for (let index = 0; index < name.length; index++) bytes[start + index] = name[index] ?? 0
  return start + name.length
}

const text = (bytes: Uint8Array, start: number, name: Uint8Array, value: unknown): number =>
  writeText(bytes, writeName(bytes, start, name), value)

const date = (bytes: Uint8Array, start: number, name: Uint8Array, value: unknown): number => {
  const at = writeName(bytes, start, name)
  if (at < 0 || !isInstant(value)) return -1
  bytes[at] = quote
  const end = writeWireDate(value, bytes, at + 1)
  if (end < 0) return -1
  bytes[end] = quote
  return end + 1
}

const dateOrNull = (bytes: Uint8Array, start: number, name: Uint8Array, value: unknown): number =>
  value === null ? writeName(bytes, writeName(bytes, start, name), nothing) : date(bytes, start, name, value)

const count = (bytes: Uint8Array, start: number, name: Uint8Array, value: unknown): number => {
  let at = writeName(bytes, start, name)
  if (at < 0 || !isCount(value)) return -1
  const digits = String(value)
  for (let index = 0; index < digits.length; index++) bytes[at++] = digits.charCodeAt(index)
  return at
}

/** What was written from a place on becomes an object: each of its fields begins with a comma. */
const closed = (bytes: Uint8Array, start: number, end: number): number => {
  if (end < 0) return -1
  bytes[start] = open
  const at = end === start ? end + 1 : end
  bytes[at] = close
  return at + 1
}

const writeTexts = (bytes: Uint8Array, start: number, value: unknown): number => {
  if (start < 0 || !isPlain<{ readonly [name: string]: unknown }>(value)) return -1
  let at = start
  for (const name in value) {
    // A name that takes all the room.
    if (at < 0 || at >= bytes.length) return -1
    bytes[at] = comma
    const behind = writeText(bytes, at + 1, name)
    if (behind < 0) return -1
    bytes[behind] = colon
    at = writeText(bytes, behind + 1, value[name])
  }
  return closed(bytes, start, at)
}

const writeConsent = (bytes: Uint8Array, start: number, value: unknown): number => {
  if (start < 0 || !isPlain<Consent>(value)) return -1
  let at = start
  if (value.ip !== undefined || "ip" in value) at = text(bytes, at, names.ip, value.ip)
  if (value.date !== undefined || "date" in value) at = dateOrNull(bytes, at, names.date, value.date)
  if (value.tracking !== undefined || "tracking" in value) at = text(bytes, at, names.tracking, value.tracking)
  return closed(bytes, start, at)
}

const writeActivity = (bytes: Uint8Array, start: number, value: unknown): number => {
  if (start < 0 || !isPlain<ContactActivity>(value)) return -1
  const { errorCode, friendlyErrorMessage, lastClicked, lastFailed, lastIP, lastOpened, lastSent } = value
  const { totalClicked, totalFailed, totalOpened, totalSent } = value
  let at = start
  if (totalSent !== undefined || "totalSent" in value) at = count(bytes, at, names.totalSent, totalSent)
  if (totalOpened !== undefined || "totalOpened" in value) at = count(bytes, at, names.totalOpened, totalOpened)
  if (totalClicked !== undefined || "totalClicked" in value) at = count(bytes, at, names.totalClicked, totalClicked)
  if (totalFailed !== undefined || "totalFailed" in value) at = count(bytes, at, names.totalFailed, totalFailed)
  if (lastSent !== undefined || "lastSent" in value) at = dateOrNull(bytes, at, names.lastSent, lastSent)
  if (lastOpened !== undefined || "lastOpened" in value) at = dateOrNull(bytes, at, names.lastOpened, lastOpened)
  if (lastClicked !== undefined || "lastClicked" in value) at = dateOrNull(bytes, at, names.lastClicked, lastClicked)
  if (lastFailed !== undefined || "lastFailed" in value) at = dateOrNull(bytes, at, names.lastFailed, lastFailed)
  if (lastIP !== undefined || "lastIP" in value) at = text(bytes, at, names.lastIP, lastIP)
  if (errorCode === null) at = writeName(bytes, writeName(bytes, at, names.errorCode), nothing)
  else if (errorCode !== undefined || "errorCode" in value) at = count(bytes, at, names.errorCode, errorCode)
  if (friendlyErrorMessage !== undefined || "friendlyErrorMessage" in value) {
    at = text(bytes, at, names.friendlyErrorMessage, friendlyErrorMessage)
  }
  return closed(bytes, start, at)
}

/**
 * Writes a contact from a place on and gives the place behind it; -1 where it is not plain or does not fit, whatever
 * stands there then.
 */
export const writePlainContact = (contact: Contact, bytes: Uint8Array, start: number): number => {
  if (!isPlain<Contact>(contact) || bytes.length - start < roomForTheRest) return -1
  const { activity, consent, customFields, dateAdded, dateUpdated, firstName, lastName } = contact
  const { source, status, statusChangeDate } = contact
  let at = text(bytes, start, names.email, contact.email)
  if (status !== undefined || "status" in contact) at = text(bytes, at, names.status, status)
  if (firstName !== undefined || "firstName" in contact) at = text(bytes, at, names.firstName, firstName)
  if (lastName !== undefined || "lastName" in contact) at = text(bytes, at, names.lastName, lastName)
  if (customFields !== undefined || "customFields" in contact) {
    at = writeTexts(bytes, writeName(bytes, at, names.customFields), customFields)
  }
  if (consent !== undefined || "consent" in contact) {
    at = writeConsent(bytes, writeName(bytes, at, names.consent), consent)
  }
  if (source !== undefined || "source" in contact) at = text(bytes, at, names.source, source)
  if (dateAdded !== undefined || "dateAdded" in contact) at = date(bytes, at, names.dateAdded, dateAdded)
  if (dateUpdated !== undefined || "dateUpdated" in contact) {
    at = dateOrNull(bytes, at, names.dateUpdated, dateUpdated)
  }
  if (statusChangeDate !== undefined || "statusChangeDate" in contact) {
    at = dateOrNull(bytes, at, names.statusChangeDate, statusChangeDate)
  }
  if (activity !== undefined || "activity" in contact) {
    at = writeActivity(bytes, writeName(bytes, at, names.activity), activity)
  }
  if (at < 0) return -1
  bytes[at] = close
  return at + 1
}
