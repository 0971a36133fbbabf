/**
 * Adding contacts: the one statement behind `contactsPost` and the import, and the lists that go with it.
 * (docs/decisions/upsert.md)
 */
import { type ContactPayload, type ContactSource, canonicalEmail } from "@roster/domain"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { countAdded } from "./ContactPagination.ts"
import type { ContactRow, ContactValues } from "./ContactRow.ts"
import { dialect } from "../store/SqlDialect.ts"
import { toSeconds } from "../store/Timestamps.ts"

interface ContactsToWrite {
  readonly account: string
  readonly source: ContactSource
  /** Seconds. */
  readonly now: number
}

/** What a contact may give or leave alone. A column that none of an add gives takes no part in its statement. */
const optionalColumns: ReadonlyArray<{
  readonly name: keyof ContactRow
  readonly read: (contact: ContactPayload) => string | number | undefined
}> = [
  { name: "first_name", read: ({ firstName }) => firstName },
  { name: "last_name", read: ({ lastName }) => lastName },
  { name: "consent_ip", read: ({ consent }) => consent?.ip },
  { name: "consent_date", read: ({ consent }) => (consent?.date == null ? undefined : toSeconds(consent.date)) },
  { name: "consent_tracking", read: ({ consent }) => consent?.tracking }
]

/**
 * Inserts contacts, one after another, or merges each into the one that is there: profile fields that are given win,
 * custom fields are merged key by key, the status changes only where one is given; spelling, source and date of adding
 * stay. Gives the values of the columns that are asked for, of each contact as it was right after its turn. In a transaction.
 */
export const upsertContacts = Effect.fnUntraced(function* <const Columns extends ReadonlyArray<keyof ContactRow>>(
  options: ContactsToWrite & {
    readonly contacts: ReadonlyArray<ContactPayload>
    /** Of each contact, where the caller has them. */
    readonly identities?: ReadonlyArray<string>
    readonly returning: Columns
  }
) {
  const sql = yield* SqlClient.SqlClient
  const { account, contacts, identities = [], now, returning, source } = options
  if (contacts.length === 0) return []
  const { mergeFields, runEach } = dialect(sql)
  const given = optionalColumns.filter(({ read }) => contacts.some((contact) => read(contact) !== undefined))
  const givesStatus = contacts.some(({ status }) => status !== undefined)
  const merged = given.map(({ name }) => `${name} = coalesce(excluded.${name}, contacts.${name}),`)
  // `excluded` has the status that a new contact would get, whether or not one was given.
  const mergedStatus = sql`
    status = coalesce(${null}, contacts.status),
    status_change_date = CASE WHEN ${null} <> contacts.status
      THEN excluded.date_added ELSE contacts.status_change_date END,`
  const row = { account, identity: "", email: "", custom_fields: "", source, date_added: now, status: "" }
  const [statement] = sql`
    INSERT INTO contacts ${sql.insert({ ...row, ...Object.fromEntries(given.map(({ name }) => [name, null])) })}
    ON CONFLICT (account, identity) DO UPDATE SET
      ${sql.literal(merged.join(" "))}
      ${givesStatus ? mergedStatus : sql.literal("")}
      custom_fields = ${mergeFields(sql`contacts.custom_fields`, sql`excluded.custom_fields`)},
      date_updated = excluded.date_added
    ${sql.literal(returning.length === 0 ? "" : `RETURNING ${returning.join(", ")}`)}`.compile()
  const parametersOf = (contact: ContactPayload, index: number): ReadonlyArray<unknown> => {
    const { customFields = {}, email, status } = contact
    const identity = identities[index] ?? canonicalEmail(email)
    const parameters: Array<unknown> = [account, identity, email.trim(), JSON.stringify(customFields)]
    parameters.push(source, now, status ?? "Active")
    for (const { read } of given) parameters.push(read(contact))
    if (givesStatus) parameters.push(status, status)
    return parameters
  }
  const rows = yield* runEach(statement, contacts.map(parametersOf))
  yield* countAdded(account)
  // As with every statement, what its rows hold is for who wrote it to say.
  return rows as ReadonlyArray<ContactValues<Columns>>
})

/** The ids of lists by name, which come into being where they are not there. */
export const ensureLists = Effect.fnUntraced(function* (account: string, names: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const ids: Array<number> = []
  for (const name of new Set(names)) {
    yield* sql`INSERT INTO lists ${sql.insert({ account, name })} ON CONFLICT (account, name) DO NOTHING`
    const found = yield* findList(account, name)
    if (found !== undefined) ids.push(found)
  }
  return ids
})

export const findList = Effect.fnUntraced(function* (account: string, name: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly id: number }>`SELECT id FROM lists WHERE account = ${account} AND name = ${name}`
  return row?.id
})

/** Puts contacts on lists, where they may be already. In a transaction. */
export const addToLists = Effect.fnUntraced(function* (
  lists: ReadonlyArray<number>,
  contacts: ReadonlyArray<Pick<ContactRow, "id">>
) {
  const sql = yield* SqlClient.SqlClient
  const members = lists.flatMap((list) => contacts.map(({ id }) => [list, id]))
  const [statement] = sql`
    INSERT INTO list_members ${sql.insert({ list_id: 0, contact_id: 0 })}
    ON CONFLICT (list_id, contact_id) DO NOTHING`.compile()
  yield* dialect(sql).runEach(statement, members)
})
