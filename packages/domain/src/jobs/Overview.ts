/** The numbers of an account, which a service of ours counts in the background while somebody looks. (docs/decisions/overview.md) */
import { Schema } from "effect"
import { ContactStatus } from "../contacts/ContactRecord.ts"
import { WireDate } from "../values/WireDate.ts"
import { openLiterals, wireRecord } from "../values/WireRecord.ts"

/** How many contacts have a status. */
export const StatusCount = wireRecord({
  /** The status. */
  status: openLiterals(ContactStatus),
  /** How many contacts have it. */
  contacts: Schema.Int
}).annotate({ identifier: "StatusCount" })
export interface StatusCount extends Schema.Schema.Type<typeof StatusCount> {}

/** How many contacts that are there were added in a month. */
export const MonthCount = wireRecord({
  /** The month in UTC, such as `2026-11`. */
  month: Schema.String,
  /** How many contacts were added in it. */
  contacts: Schema.Int
}).annotate({ identifier: "MonthCount" })
export interface MonthCount extends Schema.Schema.Type<typeof MonthCount> {}

/** How many contacts are on a list. */
export const ListCount = wireRecord({
  /** The name of the list. */
  listName: Schema.String,
  /** How many contacts are on it. */
  contacts: Schema.Int
}).annotate({ identifier: "ListCount" })
export interface ListCount extends Schema.Schema.Type<typeof ListCount> {}

/** The numbers of an account as they were at a time. While others write, they are those of some moment on the way. */
export class AccountSummary extends Schema.Opaque<AccountSummary>()(
  wireRecord({
    /** When counting began. */
    counted: WireDate,
    /** The number of all contacts. */
    contacts: Schema.Int,
    /** By status, without those that nobody has. */
    statuses: Schema.Array(StatusCount),
    /** By the month in which contacts were added, the oldest first, without those in which nobody was. */
    months: Schema.Array(MonthCount),
    /** All lists, by name. */
    lists: Schema.Array(ListCount)
  }).annotate({ identifier: "AccountSummary" })
) {}

/** What the account is asked for its numbers comes to. */
export class AccountOverview extends Schema.Opaque<AccountOverview>()(
  wireRecord({
    /** The numbers, at most 60 seconds old; `null` while they are counted, so that they are asked for again in a second. */
    summary: Schema.NullOr(AccountSummary)
  }).annotate({ identifier: "AccountOverview" })
) {}

/** The age, in seconds, up to which the numbers of an account are told. Then they are counted again, if somebody asks. */
export const maximumOverviewAge = 60
