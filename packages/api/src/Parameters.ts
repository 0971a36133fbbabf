/** The parameters and headers that endpoints share, by their wire names. */
import { contactOrders, EmailAddress } from "@roster/domain"
import { Schema, SchemaGetter } from "effect"

const count = Schema.String.check(
  Schema.isPattern(/^[0-9]{1,16}$/, { expected: "a whole number in ASCII digits, given once" })
).pipe(
  Schema.decodeTo(Schema.Int, {
    decode: SchemaGetter.transform((digits) => Number(digits)),
    encode: SchemaGetter.transform((number) => String(number))
  })
)

/** One contact, by address. */
export const byEmail = { email: Schema.String }

/** One credential, by name. */
export const byName = { name: Schema.String }

const address: Schema.Codec<string> = EmailAddress

/** The subaccount whose credentials are meant. */
export const bySubaccount = { subaccount: Schema.optional(address) }

/** A page of a list. (docs/decisions/paging.md) */
export const paging = { limit: Schema.optional(count), offset: Schema.optional(count) }

/** The order of a page of contacts, and the address behind which it begins. (docs/decisions/paging.md) */
export const sorted = {
  sort: Schema.optional(Schema.Literals(contactOrders)),
  afterContact: Schema.optional(Schema.String)
}

/** Yes or no. */
export const flag = Schema.Literals(["true", "false"]).pipe(
  Schema.decodeTo(Schema.Boolean, {
    decode: SchemaGetter.transform((text) => text === "true"),
    encode: SchemaGetter.transform((is) => (is ? "true" : "false"))
  })
)

/** Whether the contacts of an answer have their lists. */
export const withLists = { lists: Schema.optional(flag) }

/** A page of changes, by their numbers. */
export const byNumber = { after: Schema.optional(count), before: Schema.optional(count) }

const textsFrom = (split: (value: string) => ReadonlyArray<string>) =>
  Schema.Union([Schema.String, Schema.Array(Schema.String)]).pipe(
    Schema.decodeTo(Schema.Array(Schema.String), {
      decode: SchemaGetter.transform((value) => (typeof value === "string" ? split(value) : value)),
      encode: SchemaGetter.transform((values) => values)
    })
  )

/** Several texts: the parameter repeated, or given once. */
export const repeated = textsFrom((value) => [value])

/** Several e-mails: the parameter repeated, or one value with commas, which no valid address contains. */
export const emails = textsFrom((value) => value.split(",").map((email) => email.trim()))

/** The header with the idempotency key of a call, the same on all its attempts. (docs/decisions/retries.md) */
export const idempotencyKeyHeader = "Idempotency-Key"

/**
 * The header with the name of a call, the same on all its attempts: another caller that makes the same call with the same
 * idempotency key has another one. (docs/decisions/retries.md)
 */
export const callHeader = "Roster-Call"

/** The header, in lower case, by which a service states on every answer that it honours the key. */
export const idempotencyHonoured = { name: "roster-idempotency-key", value: "honoured" } as const

/**
 * The header that says which statuses an add or an import lifts: `deny` for none, `allow` for all but Abuse, or their names
 * with commas between them (default: an add writes each given status, an import lifts none). (docs/decisions/upsert.md)
 */
export const resubscribeHeader = "Roster-Resubscribe"

/**
 * The header, in lower case, by which a service states on every answer that it honours `resubscribeHeader` by the ladder of
 * statuses. One that says `honoured` is older: it only keeps Active, Engaged and Transactional from those who left.
 */
export const resubscribeHonoured = { name: resubscribeHeader.toLowerCase(), value: "ladder" } as const

/** The header, in lower case, by which a service states on every answer that it knows `contactsChangesPost`. */
export const changesHonoured = { name: "roster-changes", value: "honoured" } as const

/**
 * The header, in lower case, by which a service states on every answer that it takes a rule in a body, by `contactsSearchPost` and for an
 * export. (docs/decisions/reads.md)
 */
export const searchHonoured = { name: "roster-search", value: "honoured" } as const

/** The header, in lower case, by which a service states on every answer that it reads without pages. (docs/decisions/reads.md) */
export const readsHonoured = { name: "roster-reads", value: "honoured" } as const

/** The header that names the run which a write is a part of. (docs/decisions/runs.md) */
export const runHeader = "Roster-Run"

/** The header, in lower case, by which a service states on every answer that it keeps runs and honours `runHeader`. */
export const runsHonoured = { name: "roster-runs", value: "honoured" } as const

/**
 * The header, in lower case, by which a service states on every answer that it tells how many contacts a list has and the lists of
 * a contact, where it is asked, and that rules may ask who is on a list. The operations on lists are the interface's and need no word.
 */
export const listsHonoured = { name: "roster-lists", value: "honoured" } as const

/** The header, in lower case, by which a service states on every answer that it knows the operations of `AccountApi`. */
export const accountHonoured = { name: "roster-account", value: "honoured" } as const

/**
 * The header, in lower case, by which a service states on every answer that an add of it honours `only` and `defaultStatus`.
 * (docs/decisions/upsert.md)
 */
export const addModeHonoured = { name: "roster-add-mode", value: "honoured" } as const

/**
 * The header, in lower case, by which a service states on every answer that it lists contacts in the orders of `sorted`.
 * (docs/decisions/paging.md)
 */
export const sortHonoured = { name: "roster-sort", value: "honoured" } as const

/** The headers by which a service of ours announces itself on every answer. */
export const announcements = [
  idempotencyHonoured,
  resubscribeHonoured,
  changesHonoured,
  readsHonoured,
  runsHonoured,
  listsHonoured,
  accountHonoured,
  addModeHonoured,
  searchHonoured,
  sortHonoured
] as const

/**
 * The header, in lower case, with the id of the contacts of an account in a store of ours, which the service tells to every valid
 * key of that account. Backups keep it. (docs/decisions/backups.md)
 */
export const storeHeader = "roster-store"

/** The header, in lower case, with the version of a service of ours, which it tells to every valid key. */
export const versionHeader = "roster-version"

/** The headers of our own by which a call says what it means. Who passes calls on passes these on. */
export const callHeaders = [idempotencyKeyHeader, callHeader, resubscribeHeader, runHeader] as const

/** Whether an answer has a word by which a service of ours announces itself. */
export const announcesItself = (answer: { readonly headers: Readonly<Record<string, string>> }): boolean =>
  announcements.some(({ name, value }) => answer.headers[name] === value)
