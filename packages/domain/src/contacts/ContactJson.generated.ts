/** The JSON of a contact, for `ContactJson`. Written by `pnpm docs:contacts` from `ContactRecord`. */
import { fieldName, type JsonBuffer, writeDate, writeNumber, writeText, writeTexts } from "../values/JsonBuffer.ts"
import type { ContactRecord } from "./ContactRecord.ts"

const names = {
  ConsentIP: fieldName("ConsentIP"),
  ConsentDate: fieldName("ConsentDate"),
  ConsentTracking: fieldName("ConsentTracking"),
  TotalSent: fieldName("TotalSent"),
  TotalOpened: fieldName("TotalOpened"),
  TotalClicked: fieldName("TotalClicked"),
  TotalFailed: fieldName("TotalFailed"),
  LastSent: fieldName("LastSent"),
  LastOpened: fieldName("LastOpened"),
  LastClicked: fieldName("LastClicked"),
  LastFailed: fieldName("LastFailed"),
  LastIP: fieldName("LastIP"),
  ErrorCode: fieldName("ErrorCode"),
  FriendlyErrorMessage: fieldName("FriendlyErrorMessage"),
  Email: fieldName("Email"),
  Status: fieldName("Status"),
  FirstName: fieldName("FirstName"),
  LastName: fieldName("LastName"),
  CustomFields: fieldName("CustomFields"),
  Consent: fieldName("Consent"),
  Source: fieldName("Source"),
  DateAdded: fieldName("DateAdded"),
  DateUpdated: fieldName("DateUpdated"),
  StatusChangeDate: fieldName("StatusChangeDate"),
  Activity: fieldName("Activity")
}

const writeContactConsent = (to: JsonBuffer, from: NonNullable<ContactRecord["consent"]>): void => {
  const start = to.length
  writeText(to, names.ConsentIP, from.ip)
  writeDate(to, names.ConsentDate, from.date)
  writeText(to, names.ConsentTracking, from.tracking)
  to.object(start)
}

const writeContactActivity = (to: JsonBuffer, from: NonNullable<ContactRecord["activity"]>): void => {
  const start = to.length
  writeNumber(to, names.TotalSent, from.totalSent)
  writeNumber(to, names.TotalOpened, from.totalOpened)
  writeNumber(to, names.TotalClicked, from.totalClicked)
  writeNumber(to, names.TotalFailed, from.totalFailed)
  writeDate(to, names.LastSent, from.lastSent)
  writeDate(to, names.LastOpened, from.lastOpened)
  writeDate(to, names.LastClicked, from.lastClicked)
  writeDate(to, names.LastFailed, from.lastFailed)
  writeText(to, names.LastIP, from.lastIP)
  writeNumber(to, names.ErrorCode, from.errorCode)
  writeText(to, names.FriendlyErrorMessage, from.friendlyErrorMessage)
  to.object(start)
}

/** Writes the JSON of a contact. */
export const writeContact = (to: JsonBuffer, from: ContactRecord): void => {
  const start = to.length
  writeText(to, names.Email, from.email)
  writeText(to, names.Status, from.status)
  writeText(to, names.FirstName, from.firstName)
  writeText(to, names.LastName, from.lastName)
  writeTexts(to, names.CustomFields, from.customFields)
  if (from.consent !== undefined) {
    to.bytes(names.Consent)
    writeContactConsent(to, from.consent)
  }
  writeText(to, names.Source, from.source)
  writeDate(to, names.DateAdded, from.dateAdded)
  writeDate(to, names.DateUpdated, from.dateUpdated)
  writeDate(to, names.StatusChangeDate, from.statusChangeDate)
  if (from.activity !== undefined) {
    to.bytes(names.Activity)
    writeContactActivity(to, from.activity)
  }
  to.object(start)
}
