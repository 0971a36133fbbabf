/**
 * The fields of a contact, each once, in the order of its record. The codec, rules, columns of files and rows of a store
 * iterate it. What the schemas have and this table lacks does not compile.
 */
import type { FieldEntry, TextsEntry } from "./ContactField.ts"
import { ConsentTracking, type ContactRecord, ContactSource, ContactStatus } from "./ContactRecord.ts"

type Wire = typeof ContactRecord.Encoded
type NamesIn<Group extends "Consent" | "Activity"> = keyof NonNullable<Wire[Group]> & string
// The lists of a contact are no column of it, and only some reads have them.
type WireName = Exclude<keyof Wire, "Consent" | "Activity" | "Lists"> | NamesIn<"Consent"> | NamesIn<"Activity">

/** Every field by its name in rules, where custom fields have names of their own. */
export const contactFieldTable = {
  email: { path: "Email", kind: "text", isAdded: true, isStored: true, read: (of) => of.email },
  status: {
    path: "Status",
    kind: "enumeration",
    values: ContactStatus.literals,
    isAdded: true,
    isStored: true,
    read: (of) => of.status
  },
  firstname: { path: "FirstName", kind: "text", isAdded: true, read: (of) => of.firstName },
  lastname: { path: "LastName", kind: "text", isAdded: true, read: (of) => of.lastName },
  customfields: { path: "CustomFields", kind: "texts", isAdded: true, isStored: true, read: (of) => of.customFields },
  consentip: { path: "Consent.ConsentIP", kind: "text", isAdded: true, read: (of) => of.consent?.ip },
  consentdate: {
    path: "Consent.ConsentDate",
    kind: "date",
    isAdded: true,
    isNullable: true,
    read: (of) => of.consent?.date
  },
  consenttracking: {
    path: "Consent.ConsentTracking",
    kind: "enumeration",
    values: ConsentTracking.literals,
    isAdded: true,
    read: (of) => of.consent?.tracking
  },
  source: {
    path: "Source",
    kind: "enumeration",
    values: ContactSource.literals,
    isStored: true,
    read: (of) => of.source
  },
  dateadded: { path: "DateAdded", kind: "date", isStored: true, read: (of) => of.dateAdded },
  dateupdated: { path: "DateUpdated", kind: "date", isNullable: true, read: (of) => of.dateUpdated },
  statuschangedate: { path: "StatusChangeDate", kind: "date", isNullable: true, read: (of) => of.statusChangeDate },
  totalsent: { path: "Activity.TotalSent", kind: "number", isStored: true, read: (of) => of.activity?.totalSent },
  totalopened: { path: "Activity.TotalOpened", kind: "number", isStored: true, read: (of) => of.activity?.totalOpened },
  totalclicked: {
    path: "Activity.TotalClicked",
    kind: "number",
    isStored: true,
    read: (of) => of.activity?.totalClicked
  },
  totalfailed: { path: "Activity.TotalFailed", kind: "number", isStored: true, read: (of) => of.activity?.totalFailed },
  lastsent: { path: "Activity.LastSent", kind: "date", isNullable: true, read: (of) => of.activity?.lastSent },
  lastopened: { path: "Activity.LastOpened", kind: "date", isNullable: true, read: (of) => of.activity?.lastOpened },
  lastclicked: { path: "Activity.LastClicked", kind: "date", isNullable: true, read: (of) => of.activity?.lastClicked },
  lastfailed: { path: "Activity.LastFailed", kind: "date", isNullable: true, read: (of) => of.activity?.lastFailed },
  lastip: { path: "Activity.LastIP", kind: "text", read: (of) => of.activity?.lastIP },
  errorcode: { path: "Activity.ErrorCode", kind: "number", isNullable: true, read: (of) => of.activity?.errorCode },
  friendlyerrormessage: {
    path: "Activity.FriendlyErrorMessage",
    kind: "text",
    read: (of) => of.activity?.friendlyErrorMessage
  }
} as const satisfies { readonly [Name in Lowercase<WireName>]: FieldEntry | TextsEntry }

const { customfields: _, ...ofRules } = contactFieldTable

/** Every field but the custom ones by its name in rules, in the order of the columns of an export. */
export const contactFields = ofRules
