/** The fields of contacts. Written by `pnpm docs:contacts` from `ContactRecord`. */
import type { FieldEntry } from "./ContactField.ts"
import { ContactStatus, ConsentTracking, ContactSource } from "./ContactRecord.ts"

/** Every stored field but the custom ones by its name in rules, in the order of the columns of an export. */
export const contactFields = {
  email: {
    path: "Email",
    kind: "text",
    isAdded: true,
    isStored: true,
    read: (of) => of.email
  },
  status: {
    path: "Status",
    kind: "enumeration",
    values: ContactStatus.literals,
    isAdded: true,
    isStored: true,
    read: (of) => of.status
  },
  firstname: {
    path: "FirstName",
    kind: "text",
    isAdded: true,
    read: (of) => of.firstName
  },
  lastname: {
    path: "LastName",
    kind: "text",
    isAdded: true,
    read: (of) => of.lastName
  },
  consentip: {
    path: "Consent.ConsentIP",
    kind: "text",
    isAdded: true,
    read: (of) => of.consent?.ip
  },
  consentdate: {
    path: "Consent.ConsentDate",
    kind: "date",
    isAdded: true,
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
  dateadded: {
    path: "DateAdded",
    kind: "date",
    isStored: true,
    read: (of) => of.dateAdded
  },
  dateupdated: {
    path: "DateUpdated",
    kind: "date",
    read: (of) => of.dateUpdated
  },
  statuschangedate: {
    path: "StatusChangeDate",
    kind: "date",
    read: (of) => of.statusChangeDate
  },
  totalsent: {
    path: "Activity.TotalSent",
    kind: "number",
    isStored: true,
    read: (of) => of.activity?.totalSent
  },
  totalopened: {
    path: "Activity.TotalOpened",
    kind: "number",
    isStored: true,
    read: (of) => of.activity?.totalOpened
  },
  totalclicked: {
    path: "Activity.TotalClicked",
    kind: "number",
    isStored: true,
    read: (of) => of.activity?.totalClicked
  },
  totalfailed: {
    path: "Activity.TotalFailed",
    kind: "number",
    isStored: true,
    read: (of) => of.activity?.totalFailed
  },
  lastsent: {
    path: "Activity.LastSent",
    kind: "date",
    read: (of) => of.activity?.lastSent
  },
  lastopened: {
    path: "Activity.LastOpened",
    kind: "date",
    read: (of) => of.activity?.lastOpened
  },
  lastclicked: {
    path: "Activity.LastClicked",
    kind: "date",
    read: (of) => of.activity?.lastClicked
  },
  lastfailed: {
    path: "Activity.LastFailed",
    kind: "date",
    read: (of) => of.activity?.lastFailed
  },
  lastip: {
    path: "Activity.LastIP",
    kind: "text",
    read: (of) => of.activity?.lastIP
  },
  errorcode: {
    path: "Activity.ErrorCode",
    kind: "number",
    read: (of) => of.activity?.errorCode
  },
  friendlyerrormessage: {
    path: "Activity.FriendlyErrorMessage",
    kind: "text",
    read: (of) => of.activity?.friendlyErrorMessage
  }
} as const satisfies Readonly<Record<string, FieldEntry>>
