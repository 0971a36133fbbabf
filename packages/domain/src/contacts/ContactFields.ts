/** The fields of a contact record: the column of each in a CSV file, and how a rule reads it. */
import type { DateTime } from "effect"
import type { Contact } from "./Contact.ts"
import { type Consent, ConsentTracking, type ContactActivity, ContactSource, ContactStatus } from "./ContactRecord.ts"

type Maybe<A> = A | null | undefined

/** Optional fields, with any text where a contact has an enumeration. */
type Loose<A> = {
  readonly [K in keyof A]?: Maybe<NonNullable<A[K]> extends string ? string : NonNullable<A[K]>>
}

/** The data of a contact that rules read; a missing, null or undefined property is a field without a value. */
export interface RuleSubject extends Loose<Omit<Contact, "email" | "consent" | "activity">> {
  readonly email: string
  readonly consent?: Maybe<Loose<Consent>>
  readonly activity?: Maybe<Loose<ContactActivity>>
}

/** The value of a field, or `undefined` for a field without one. */
export type RecordFieldValue = string | number | DateTime.Utc | undefined

/** What a record field holds, which decides the operators and literals that a rule may use with it. */
export type FieldKind = "text" | "number" | "date" | "enumeration"

/** How a field is read. The values of an enumeration are those known today: the service may add others. */
export type RecordFieldInfo = {
  readonly read: (of: RuleSubject, now: number) => RecordFieldValue | null
} & (
  | { readonly kind: Exclude<FieldKind, "enumeration"> }
  | { readonly kind: "enumeration"; readonly values: ReadonlyArray<string> }
)

/** Every stored field by its name in rules, in the order of the columns of an export. */
export const contactFields = {
  email: { column: "Email", kind: "text", read: (of) => of.email },
  status: { column: "Status", kind: "enumeration", values: ContactStatus.literals, read: (of) => of.status },
  firstname: { column: "FirstName", kind: "text", read: (of) => of.firstName },
  lastname: { column: "LastName", kind: "text", read: (of) => of.lastName },
  consentip: { column: "ConsentIP", kind: "text", read: (of) => of.consent?.ip },
  consentdate: { column: "ConsentDate", kind: "date", read: (of) => of.consent?.date },
  consenttracking: {
    column: "ConsentTracking",
    kind: "enumeration",
    values: ConsentTracking.literals,
    read: (of) => of.consent?.tracking
  },
  source: { column: "Source", kind: "enumeration", values: ContactSource.literals, read: (of) => of.source },
  dateadded: { column: "DateAdded", kind: "date", read: (of) => of.dateAdded },
  dateupdated: { column: "DateUpdated", kind: "date", read: (of) => of.dateUpdated },
  statuschangedate: { column: "StatusChangeDate", kind: "date", read: (of) => of.statusChangeDate },
  totalsent: { column: "TotalSent", kind: "number", read: (of) => of.activity?.totalSent },
  totalopened: { column: "TotalOpened", kind: "number", read: (of) => of.activity?.totalOpened },
  totalclicked: { column: "TotalClicked", kind: "number", read: (of) => of.activity?.totalClicked },
  totalfailed: { column: "TotalFailed", kind: "number", read: (of) => of.activity?.totalFailed },
  lastsent: { column: "LastSent", kind: "date", read: (of) => of.activity?.lastSent },
  lastopened: { column: "LastOpened", kind: "date", read: (of) => of.activity?.lastOpened },
  lastclicked: { column: "LastClicked", kind: "date", read: (of) => of.activity?.lastClicked },
  lastfailed: { column: "LastFailed", kind: "date", read: (of) => of.activity?.lastFailed },
  lastip: { column: "LastIP", kind: "text", read: (of) => of.activity?.lastIP },
  errorcode: { column: "ErrorCode", kind: "number", read: (of) => of.activity?.errorCode },
  friendlyerrormessage: {
    column: "FriendlyErrorMessage",
    kind: "text",
    read: (of) => of.activity?.friendlyErrorMessage
  }
} as const satisfies Record<string, RecordFieldInfo & { readonly column: string }>
