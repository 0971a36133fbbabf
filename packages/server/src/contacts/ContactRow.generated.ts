/** The rows of contacts. Written by `pnpm docs:contacts` from `ContactRecord`. */
import { type Contact, type CustomFields, JsonParser, type RuleFields } from "@roster/domain"
import type { Types } from "effect"
import { nullableDate, nullableSeconds, sharedDate } from "../store/StoreClock.ts"

/** The columns that make a contact, in the order of `ContactValues`. */
export const contactColumns: ReadonlyArray<string> = [
  "id",
  "email",
  "status",
  "first_name",
  "last_name",
  "custom_fields",
  "consent_ip",
  "consent_date",
  "consent_tracking",
  "source",
  "date_added",
  "date_updated",
  "status_change_date",
  "total_sent",
  "total_opened",
  "total_clicked",
  "total_failed",
  "last_sent",
  "last_opened",
  "last_clicked",
  "last_failed",
  "last_ip",
  "error_code",
  "friendly_error_message"
]

/** The values of `contactColumns`, which SQLite returns in half the time of an object. */
type ContactValues = readonly [
  id: number,
  email: string,
  status: NonNullable<Contact["status"]>,
  firstName: string | null,
  lastName: string | null,
  customFields: string,
  consentIp: string | null,
  consentDate: number | null,
  consentTracking: NonNullable<NonNullable<Contact["consent"]>["tracking"]> | null,
  source: NonNullable<Contact["source"]>,
  dateAdded: number,
  dateUpdated: number | null,
  statusChangeDate: number | null,
  totalSent: number,
  totalOpened: number,
  totalClicked: number,
  totalFailed: number,
  lastSent: number | null,
  lastOpened: number | null,
  lastClicked: number | null,
  lastFailed: number | null,
  lastIp: string | null,
  errorCode: number | null,
  friendlyErrorMessage: string | null
]

/**
 * Decodes a row of `contactColumns`. Assigning properties in the order of the record is faster than spreading, and reading
 * values by their positions than iterating over them.
 */
export const toContact = (values: ReadonlyArray<unknown>): Contact => {
  const {
    1: email,
    2: status,
    3: firstName,
    4: lastName,
    5: customFields,
    6: consentIp,
    7: consentDate,
    8: consentTracking,
    9: source,
    10: dateAdded,
    11: dateUpdated,
    12: statusChangeDate,
    13: totalSent,
    14: totalOpened,
    15: totalClicked,
    16: totalFailed,
    17: lastSent,
    18: lastOpened,
    19: lastClicked,
    20: lastFailed,
    21: lastIp,
    22: errorCode,
    23: friendlyErrorMessage
    // A statement knows the columns of its rows, the client does not.
  } = values as ContactValues
  const contact: Types.Mutable<Contact> = {
    email,
    status
  }
  if (firstName !== null) contact.firstName = firstName
  if (lastName !== null) contact.lastName = lastName
  // This module wrote it: an object of texts.
  contact.customFields = JsonParser.parse(customFields) as CustomFields
  if (consentIp !== null || consentDate !== null || consentTracking !== null) {
    const consent: Types.Mutable<NonNullable<Contact["consent"]>> = {}
    if (consentIp !== null) consent.ip = consentIp
    if (consentDate !== null) consent.date = sharedDate(consentDate)
    if (consentTracking !== null) consent.tracking = consentTracking
    contact.consent = consent
  }
  contact.source = source
  contact.dateAdded = sharedDate(dateAdded)
  contact.dateUpdated = nullableDate(dateUpdated)
  contact.statusChangeDate = nullableDate(statusChangeDate)
  const activity: Types.Mutable<NonNullable<Contact["activity"]>> = {
    totalSent,
    totalOpened,
    totalClicked,
    totalFailed,
    lastSent: nullableDate(lastSent),
    lastOpened: nullableDate(lastOpened),
    lastClicked: nullableDate(lastClicked),
    lastFailed: nullableDate(lastFailed)
  }
  if (lastIp !== null) activity.lastIP = lastIp
  activity.errorCode = errorCode
  if (friendlyErrorMessage !== null) activity.friendlyErrorMessage = friendlyErrorMessage
  contact.activity = activity
  return contact
}

/** The columns of a contact but its id, as `toContact` reads them. */
export const toColumns = (contact: RuleFields.RuleSubject): Readonly<Record<string, string | number | null>> => {
  const consent = contact.consent ?? {}
  const activity = contact.activity ?? {}
  return {
    email: contact.email,
    status: contact.status ?? "Active",
    first_name: contact.firstName ?? null,
    last_name: contact.lastName ?? null,
    custom_fields: JSON.stringify(contact.customFields ?? {}),
    consent_ip: consent.ip ?? null,
    consent_date: nullableSeconds(consent.date),
    consent_tracking: consent.tracking ?? null,
    source: contact.source ?? "ContactApi",
    date_added: nullableSeconds(contact.dateAdded) ?? 0,
    date_updated: nullableSeconds(contact.dateUpdated),
    status_change_date: nullableSeconds(contact.statusChangeDate),
    total_sent: activity.totalSent ?? 0,
    total_opened: activity.totalOpened ?? 0,
    total_clicked: activity.totalClicked ?? 0,
    total_failed: activity.totalFailed ?? 0,
    last_sent: nullableSeconds(activity.lastSent),
    last_opened: nullableSeconds(activity.lastOpened),
    last_clicked: nullableSeconds(activity.lastClicked),
    last_failed: nullableSeconds(activity.lastFailed),
    last_ip: activity.lastIP ?? null,
    error_code: activity.errorCode ?? null,
    friendly_error_message: activity.friendlyErrorMessage ?? null
  }
}
