/** The fast codec of contacts, for `FastContactCodec`. Written by `pnpm docs:contacts` from `ContactRecord`. */
import type { Types } from "effect"
import { ConsentTracking, ContactStatus, type ContactRecord, type PayloadRecord } from "./ContactRecord.ts"
import {
  address,
  count,
  countOrNull,
  oneOf,
  open,
  plain,
  readDate,
  readDateOrNull,
  text,
  texts,
  type FastCodec,
  uniqueTexts,
  writeDate,
  writeDateOrNull
} from "./FastContactCodec.ts"

const oneConsentTracking = oneOf(ConsentTracking.literals)
const oneContactStatus = oneOf(ContactStatus.literals)

const readContactConsent = (wire: unknown) => {
  const from = plain<NonNullable<(typeof ContactRecord.Encoded)["Consent"]>>(wire)
  const to: Types.Mutable<NonNullable<ContactRecord["consent"]>> = {}
  if (from.ConsentIP != null) to.ip = text(from.ConsentIP)
  if (from.ConsentDate !== undefined) to.date = readDateOrNull(from.ConsentDate)
  if (from.ConsentTracking != null) to.tracking = open(from.ConsentTracking)
  return to
}

const writeContactConsent = (value: unknown) => {
  const from = plain<NonNullable<ContactRecord["consent"]>>(value)
  const to: Types.Mutable<NonNullable<(typeof ContactRecord.Encoded)["Consent"]>> = {}
  if (from.ip !== undefined) to.ConsentIP = text(from.ip)
  if (from.date !== undefined) to.ConsentDate = writeDateOrNull(from.date)
  if (from.tracking !== undefined) to.ConsentTracking = text(from.tracking)
  return to
}

const readContactActivity = (wire: unknown) => {
  const from = plain<NonNullable<(typeof ContactRecord.Encoded)["Activity"]>>(wire)
  const to: Types.Mutable<NonNullable<ContactRecord["activity"]>> = {}
  if (from.TotalSent != null) to.totalSent = count(from.TotalSent)
  if (from.TotalOpened != null) to.totalOpened = count(from.TotalOpened)
  if (from.TotalClicked != null) to.totalClicked = count(from.TotalClicked)
  if (from.TotalFailed != null) to.totalFailed = count(from.TotalFailed)
  if (from.LastSent !== undefined) to.lastSent = readDateOrNull(from.LastSent)
  if (from.LastOpened !== undefined) to.lastOpened = readDateOrNull(from.LastOpened)
  if (from.LastClicked !== undefined) to.lastClicked = readDateOrNull(from.LastClicked)
  if (from.LastFailed !== undefined) to.lastFailed = readDateOrNull(from.LastFailed)
  if (from.LastIP != null) to.lastIP = text(from.LastIP)
  if (from.ErrorCode !== undefined) to.errorCode = countOrNull(from.ErrorCode)
  if (from.FriendlyErrorMessage != null) to.friendlyErrorMessage = text(from.FriendlyErrorMessage)
  return to
}

const writeContactActivity = (value: unknown) => {
  const from = plain<NonNullable<ContactRecord["activity"]>>(value)
  const to: Types.Mutable<NonNullable<(typeof ContactRecord.Encoded)["Activity"]>> = {}
  if (from.totalSent !== undefined) to.TotalSent = count(from.totalSent)
  if (from.totalOpened !== undefined) to.TotalOpened = count(from.totalOpened)
  if (from.totalClicked !== undefined) to.TotalClicked = count(from.totalClicked)
  if (from.totalFailed !== undefined) to.TotalFailed = count(from.totalFailed)
  if (from.lastSent !== undefined) to.LastSent = writeDateOrNull(from.lastSent)
  if (from.lastOpened !== undefined) to.LastOpened = writeDateOrNull(from.lastOpened)
  if (from.lastClicked !== undefined) to.LastClicked = writeDateOrNull(from.lastClicked)
  if (from.lastFailed !== undefined) to.LastFailed = writeDateOrNull(from.lastFailed)
  if (from.lastIP !== undefined) to.LastIP = text(from.lastIP)
  if (from.errorCode !== undefined) to.ErrorCode = countOrNull(from.errorCode)
  if (from.friendlyErrorMessage !== undefined) to.FriendlyErrorMessage = text(from.friendlyErrorMessage)
  return to
}

const readContact = (wire: unknown) => {
  const from = plain<typeof ContactRecord.Encoded>(wire)
  const to: Types.Mutable<ContactRecord> = {
    email: text(from.Email)
  }
  if (from.Status != null) to.status = open(from.Status)
  if (from.FirstName != null) to.firstName = text(from.FirstName)
  if (from.LastName != null) to.lastName = text(from.LastName)
  if (from.CustomFields != null) to.customFields = texts(from.CustomFields)
  if (from.Consent != null) to.consent = readContactConsent(from.Consent)
  if (from.Source != null) to.source = open(from.Source)
  if (from.DateAdded != null) to.dateAdded = readDate(from.DateAdded)
  if (from.DateUpdated !== undefined) to.dateUpdated = readDateOrNull(from.DateUpdated)
  if (from.StatusChangeDate !== undefined) to.statusChangeDate = readDateOrNull(from.StatusChangeDate)
  if (from.Activity != null) to.activity = readContactActivity(from.Activity)
  return to
}

const writeContact = (value: unknown) => {
  const from = plain<ContactRecord>(value)
  const to: Types.Mutable<typeof ContactRecord.Encoded> = {
    Email: text(from.email)
  }
  if (from.status !== undefined) to.Status = text(from.status)
  if (from.firstName !== undefined) to.FirstName = text(from.firstName)
  if (from.lastName !== undefined) to.LastName = text(from.lastName)
  if (from.customFields !== undefined) to.CustomFields = texts(from.customFields)
  if (from.consent !== undefined) to.Consent = writeContactConsent(from.consent)
  if (from.source !== undefined) to.Source = text(from.source)
  if (from.dateAdded !== undefined) to.DateAdded = writeDate(from.dateAdded)
  if (from.dateUpdated !== undefined) to.DateUpdated = writeDateOrNull(from.dateUpdated)
  if (from.statusChangeDate !== undefined) to.StatusChangeDate = writeDateOrNull(from.statusChangeDate)
  if (from.activity !== undefined) to.Activity = writeContactActivity(from.activity)
  return to
}

const readPayloadConsent = (wire: unknown) => {
  const from = plain<NonNullable<(typeof PayloadRecord.Encoded)["Consent"]>>(wire)
  const to: Types.Mutable<NonNullable<PayloadRecord["consent"]>> = {}
  if (from.ConsentIP != null) to.ip = text(from.ConsentIP)
  if (from.ConsentDate !== undefined) to.date = readDateOrNull(from.ConsentDate)
  if (from.ConsentTracking != null) to.tracking = oneConsentTracking(from.ConsentTracking)
  return to
}

const namesOfPayloadConsent = new Set(["ip", "date", "tracking"])
const writePayloadConsent = (value: unknown) => {
  const from = plain<NonNullable<PayloadRecord["consent"]>>(value, namesOfPayloadConsent)
  const to: Types.Mutable<NonNullable<(typeof PayloadRecord.Encoded)["Consent"]>> = {}
  if (from.ip !== undefined) to.ConsentIP = text(from.ip)
  if (from.date !== undefined) to.ConsentDate = writeDateOrNull(from.date)
  if (from.tracking !== undefined) to.ConsentTracking = oneConsentTracking(from.tracking)
  return to
}

const readPayload = (wire: unknown) => {
  const from = plain<typeof PayloadRecord.Encoded>(wire)
  const to: Types.Mutable<PayloadRecord> = {
    email: address(from.Email)
  }
  if (from.Status != null) to.status = oneContactStatus(from.Status)
  if (from.FirstName != null) to.firstName = text(from.FirstName)
  if (from.LastName != null) to.lastName = text(from.LastName)
  if (from.CustomFields != null) to.customFields = uniqueTexts(from.CustomFields)
  if (from.Consent != null) to.consent = readPayloadConsent(from.Consent)
  return to
}

const namesOfPayload = new Set(["email", "status", "firstName", "lastName", "customFields", "consent"])
const writePayload = (value: unknown) => {
  const from = plain<PayloadRecord>(value, namesOfPayload)
  const to: Types.Mutable<typeof PayloadRecord.Encoded> = {
    Email: address(from.email)
  }
  if (from.status !== undefined) to.Status = oneContactStatus(from.status)
  if (from.firstName !== undefined) to.FirstName = text(from.firstName)
  if (from.lastName !== undefined) to.LastName = text(from.lastName)
  if (from.customFields !== undefined) to.CustomFields = uniqueTexts(from.customFields)
  if (from.consent !== undefined) to.Consent = writePayloadConsent(from.consent)
  return to
}

/** The fast path of `Contact`. */
export const contactCodec: FastCodec = { decode: readContact, encode: writeContact }

/** The fast path of `ContactPayload`. */
export const payloadCodec: FastCodec = { decode: readPayload, encode: writePayload }
