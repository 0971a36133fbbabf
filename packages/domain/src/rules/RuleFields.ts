/** The fields of a contact record that a rule can name, and how they are read. */
import type { DateTime } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import {
  type Consent,
  ConsentTracking,
  type ContactActivity,
  ContactSource,
  ContactStatus
} from "../contacts/ContactRecord.ts"
import { wholeDays } from "./RuleDate.ts"
import { didYouMean } from "../values/DidYouMean.ts"

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
export type FieldValue = string | number | DateTime.Utc | undefined

/** What a record field holds, which decides the operators and literals that a rule may use with it. */
export type FieldKind = "text" | "number" | "date" | "enumeration"

/** A row of the table. The values of an enumeration are those known today: the service may add others. */
export type RecordFieldInfo = {
  /** The column of a CSV file; `undefined` for a field that is not stored. */
  readonly column?: string
  readonly read: (of: RuleSubject, now: number) => FieldValue | null
} & (
  | { readonly kind: Exclude<FieldKind, "enumeration"> }
  | { readonly kind: "enumeration"; readonly values: ReadonlyArray<string> }
)

/** Every record field by its name in rules, in record order; `contactage` is the whole days since `dateadded`. */
export const recordFields = {
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
  },
  contactage: {
    kind: "number",
    read: ({ dateAdded }, now) => dateAdded && wholeDays(dateAdded.epochMilliseconds, now)
  }
} as const satisfies Record<string, RecordFieldInfo>

/** The name of a record field, in the lower case that rules are printed in. */
export type RecordFieldName = keyof typeof recordFields

// Object.keys widens to string; the table is a literal, so its keys are exactly the names.
/** The names of all record fields, in record order. */
export const recordFieldNames = Object.keys(recordFields) as ReadonlyArray<RecordFieldName>

/** Whether a text is the name of a record field, spelled in lower case. */
export const isRecordFieldName = (name: string): name is RecordFieldName => Object.hasOwn(recordFields, name)

/** Looks up the row of a record field. */
export const recordFieldInfo = (name: RecordFieldName): RecordFieldInfo => recordFields[name]

/** Asks whether a custom field of this name was meant to be a record field, or gives `undefined` when none is near. */
export const meantField = (name: string): string | undefined => didYouMean(name, recordFieldNames)
