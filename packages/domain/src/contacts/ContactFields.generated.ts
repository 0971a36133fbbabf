/** The fields of contacts. Written by `pnpm docs:contacts` from the schemas in `ContactRecord`. */
import type { ContactField } from "./ContactField.ts"

/** Every stored field but the custom ones by its name in rules, in the order of the columns of an export. */
export const contactFields = {
  email: {
    name: "email",
    wire: "Email",
    path: "Email",
    column: "email",
    kind: "text",
    isAdded: true,
    isStored: true,
    read: (of) => of.email
  },
  status: {
    name: "status",
    wire: "Status",
    path: "Status",
    column: "status",
    kind: "enumeration",
    values: [
      "Transactional",
      "Engaged",
      "Active",
      "Bounced",
      "Unsubscribed",
      "Abuse",
      "Inactive",
      "Stale",
      "NotConfirmed"
    ],
    isAdded: true,
    isStored: true,
    read: (of) => of.status
  },
  firstname: {
    name: "firstName",
    wire: "FirstName",
    path: "FirstName",
    column: "first_name",
    kind: "text",
    isAdded: true,
    isChanged: true,
    read: (of) => of.firstName
  },
  lastname: {
    name: "lastName",
    wire: "LastName",
    path: "LastName",
    column: "last_name",
    kind: "text",
    isAdded: true,
    isChanged: true,
    read: (of) => of.lastName
  },
  consentip: {
    name: "ip",
    wire: "ConsentIP",
    path: "Consent.ConsentIP",
    column: "consent_ip",
    kind: "text",
    isAdded: true,
    read: (of) => of.consent?.ip
  },
  consentdate: {
    name: "date",
    wire: "ConsentDate",
    path: "Consent.ConsentDate",
    column: "consent_date",
    kind: "date",
    isAdded: true,
    read: (of) => of.consent?.date
  },
  consenttracking: {
    name: "tracking",
    wire: "ConsentTracking",
    path: "Consent.ConsentTracking",
    column: "consent_tracking",
    kind: "enumeration",
    values: ["Unknown", "Allow", "Deny"],
    isAdded: true,
    read: (of) => of.consent?.tracking
  },
  source: {
    name: "source",
    wire: "Source",
    path: "Source",
    column: "source",
    kind: "enumeration",
    values: [
      "DeliveryApi",
      "ManualInput",
      "FileUpload",
      "WebForm",
      "ContactApi",
      "VerificationApi",
      "FileVerificationApi",
      "PilotBillingPlan",
      "PaidNewsletter"
    ],
    isStored: true,
    read: (of) => of.source
  },
  dateadded: {
    name: "dateAdded",
    wire: "DateAdded",
    path: "DateAdded",
    column: "date_added",
    kind: "date",
    isStored: true,
    read: (of) => of.dateAdded
  },
  dateupdated: {
    name: "dateUpdated",
    wire: "DateUpdated",
    path: "DateUpdated",
    column: "date_updated",
    kind: "date",
    read: (of) => of.dateUpdated
  },
  statuschangedate: {
    name: "statusChangeDate",
    wire: "StatusChangeDate",
    path: "StatusChangeDate",
    column: "status_change_date",
    kind: "date",
    read: (of) => of.statusChangeDate
  },
  totalsent: {
    name: "totalSent",
    wire: "TotalSent",
    path: "Activity.TotalSent",
    column: "total_sent",
    kind: "number",
    isStored: true,
    read: (of) => of.activity?.totalSent
  },
  totalopened: {
    name: "totalOpened",
    wire: "TotalOpened",
    path: "Activity.TotalOpened",
    column: "total_opened",
    kind: "number",
    isStored: true,
    read: (of) => of.activity?.totalOpened
  },
  totalclicked: {
    name: "totalClicked",
    wire: "TotalClicked",
    path: "Activity.TotalClicked",
    column: "total_clicked",
    kind: "number",
    isStored: true,
    read: (of) => of.activity?.totalClicked
  },
  totalfailed: {
    name: "totalFailed",
    wire: "TotalFailed",
    path: "Activity.TotalFailed",
    column: "total_failed",
    kind: "number",
    isStored: true,
    read: (of) => of.activity?.totalFailed
  },
  lastsent: {
    name: "lastSent",
    wire: "LastSent",
    path: "Activity.LastSent",
    column: "last_sent",
    kind: "date",
    read: (of) => of.activity?.lastSent
  },
  lastopened: {
    name: "lastOpened",
    wire: "LastOpened",
    path: "Activity.LastOpened",
    column: "last_opened",
    kind: "date",
    read: (of) => of.activity?.lastOpened
  },
  lastclicked: {
    name: "lastClicked",
    wire: "LastClicked",
    path: "Activity.LastClicked",
    column: "last_clicked",
    kind: "date",
    read: (of) => of.activity?.lastClicked
  },
  lastfailed: {
    name: "lastFailed",
    wire: "LastFailed",
    path: "Activity.LastFailed",
    column: "last_failed",
    kind: "date",
    read: (of) => of.activity?.lastFailed
  },
  lastip: {
    name: "lastIP",
    wire: "LastIP",
    path: "Activity.LastIP",
    column: "last_ip",
    kind: "text",
    read: (of) => of.activity?.lastIP
  },
  errorcode: {
    name: "errorCode",
    wire: "ErrorCode",
    path: "Activity.ErrorCode",
    column: "error_code",
    kind: "number",
    read: (of) => of.activity?.errorCode
  },
  friendlyerrormessage: {
    name: "friendlyErrorMessage",
    wire: "FriendlyErrorMessage",
    path: "Activity.FriendlyErrorMessage",
    column: "friendly_error_message",
    kind: "text",
    read: (of) => of.activity?.friendlyErrorMessage
  }
} as const satisfies Readonly<Record<string, ContactField>>
