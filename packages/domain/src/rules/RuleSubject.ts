/** The part of a contact that rules are evaluated on, and how its fields are read. */
import * as DateTime from "effect/DateTime"
import { wholeDays } from "./RuleDate.ts"
import type { RecordFieldName } from "./RuleFields.ts"
import { foldText } from "./Rule.ts"

type Maybe<A> = A | null | undefined

/** What rules read of a contact. Every `Contact` is one; a missing, null or undefined property is a field without a value. */
export interface RuleSubject {
  readonly email: string
  readonly status?: Maybe<string>
  readonly firstName?: Maybe<string>
  readonly lastName?: Maybe<string>
  readonly customFields?: Maybe<Readonly<Record<string, string>>>
  readonly consent?: Maybe<{
    readonly ip?: Maybe<string>
    readonly date?: Maybe<DateTime.Utc>
    readonly tracking?: Maybe<string>
  }>
  readonly source?: Maybe<string>
  readonly dateAdded?: Maybe<DateTime.Utc>
  readonly dateUpdated?: Maybe<DateTime.Utc>
  readonly statusChangeDate?: Maybe<DateTime.Utc>
  readonly activity?: Maybe<{
    readonly totalSent?: Maybe<number>
    readonly totalOpened?: Maybe<number>
    readonly totalClicked?: Maybe<number>
    readonly totalFailed?: Maybe<number>
    readonly lastSent?: Maybe<DateTime.Utc>
    readonly lastOpened?: Maybe<DateTime.Utc>
    readonly lastClicked?: Maybe<DateTime.Utc>
    readonly lastFailed?: Maybe<DateTime.Utc>
    readonly lastIP?: Maybe<string>
    readonly errorCode?: Maybe<number>
    readonly friendlyErrorMessage?: Maybe<string>
  }>
}

/** The value of a field, or `undefined` for a field without one. */
export type FieldValue = string | number | DateTime.Utc | undefined

const readers: Readonly<Record<RecordFieldName, (subject: RuleSubject, now: number) => Maybe<FieldValue>>> = {
  email: (subject) => subject.email,
  status: (subject) => subject.status,
  firstname: (subject) => subject.firstName,
  lastname: (subject) => subject.lastName,
  consentip: (subject) => subject.consent?.ip,
  consentdate: (subject) => subject.consent?.date,
  consenttracking: (subject) => subject.consent?.tracking,
  source: (subject) => subject.source,
  dateadded: (subject) => subject.dateAdded,
  dateupdated: (subject) => subject.dateUpdated,
  statuschangedate: (subject) => subject.statusChangeDate,
  totalsent: (subject) => subject.activity?.totalSent,
  totalopened: (subject) => subject.activity?.totalOpened,
  totalclicked: (subject) => subject.activity?.totalClicked,
  totalfailed: (subject) => subject.activity?.totalFailed,
  lastsent: (subject) => subject.activity?.lastSent,
  lastopened: (subject) => subject.activity?.lastOpened,
  lastclicked: (subject) => subject.activity?.lastClicked,
  lastfailed: (subject) => subject.activity?.lastFailed,
  lastip: (subject) => subject.activity?.lastIP,
  errorcode: (subject) => subject.activity?.errorCode,
  friendlyerrormessage: (subject) => subject.activity?.friendlyErrorMessage,
  contactage: ({ dateAdded }, now) => dateAdded && wholeDays(DateTime.toEpochMillis(dateAdded), now)
}

/** Reads a record field. */
export const recordValue = (subject: RuleSubject, name: RecordFieldName, now: number): FieldValue =>
  readers[name](subject, now) ?? undefined

/** Reads a custom field. A name in the same case wins, then the first one in another case. */
export const customValue = ({ customFields }: RuleSubject, name: string): FieldValue => {
  if (customFields === undefined || customFields === null) return undefined
  if (Object.hasOwn(customFields, name)) return customFields[name]
  const folded = foldText(name)
  const key = Object.keys(customFields).find((key) => foldText(key) === folded)
  return key === undefined ? undefined : customFields[key]
}
