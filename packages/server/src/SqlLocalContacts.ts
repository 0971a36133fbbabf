/**
 * Whole contacts of a store in this process, with their lists, for commands that bring back what was. Its layer is part of
 * `EmbeddedHttpClient` alone, which is on a file: the lists of ids are JSON of SQLite, and a store on PostgreSQL is reached
 * by its service.
 */
import { canonicalEmail, LocalContacts, type StoredContact } from "@roster/domain"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Caller } from "./credentials/Caller.ts"
import { dialect, numbersOf } from "./store/SqlDialect.ts"
import { inAtomicTransaction } from "./store/sqlite/GroupCommit.ts"
import { isSqlError, orStoreFailure, storeFailure } from "./store/StoreFailure.ts"
import { countRestoredContacts } from "./contacts/ContactPagination.ts"
import { addContacts, toWritten, type WrittenContact } from "./contacts/ContactRepository.ts"
import { contactColumns, toColumns } from "./contacts/ContactRow.generated.ts"
import { addToLists, ensureLists } from "./contacts/ContactUpsert.ts"

/** The contacts with their lists. */
const withLists = Effect.fnUntraced(function* (contacts: ReadonlyArray<WrittenContact>) {
  const sql = yield* SqlClient.SqlClient
  const ids = contacts.map(({ id }) => id)
  const members = yield* sql<{ readonly contact: number; readonly name: string }>`
    SELECT contact_id AS contact, name FROM list_members JOIN lists ON lists.id = list_id
    WHERE contact_id IN (${numbersOf(sql, ids)}) ORDER BY name`
  const lists = Map.groupBy(members, ({ contact }) => contact)
  return contacts.map(({ contact, id }): StoredContact => ({
    id,
    contact,
    lists: lists.get(id)?.map(({ name }) => name) ?? []
  }))
})

const read = Effect.fnUntraced(function* (emails: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const { account } = yield* Caller
  const identities = emails.map(canonicalEmail)
  const rows = yield* sql`
    SELECT ${sql.literal(contactColumns.join(", "))}, identity FROM contacts
    WHERE account = ${account} AND ${dialect(sql).isOneOf("identity", identities)}`.values
  const stored = yield* withLists(rows.map(toWritten))
  const found = new Map(rows.map((row, index) => [row[contactColumns.length], stored[index]]))
  return identities.map((identity) => found.get(identity))
})

const write = Effect.fnUntraced(function* (contacts: ReadonlyArray<StoredContact>) {
  const sql = yield* SqlClient.SqlClient
  const { account } = yield* Caller
  const rows = contacts.map(({ contact, id }) => ({
    id,
    account,
    identity: canonicalEmail(contact.email),
    ...toColumns(contact)
  }))
  const [first] = rows
  if (first === undefined) return
  const ids = rows.map(({ id }) => id)
  const present = yield* sql<{ readonly id: number }>`SELECT id FROM contacts WHERE id IN (${numbersOf(sql, ids)})`
  const known = new Set(present.map(({ id }) => id))
  const given = contactColumns.slice(1).map((name) => `${name} = excluded.${name}`)
  const [statement] = sql`
    INSERT INTO contacts ${sql.insert(first)}
    ON CONFLICT (account, identity) DO UPDATE SET ${sql.literal(given.join(", "))}`.compile()
  yield* dialect(sql).runEach(
    statement,
    rows.map((row) => Object.values(row)),
    () => undefined
  )
  yield* countRestoredContacts(
    account,
    ids.filter((id) => !known.has(id))
  )
  yield* sql`DELETE FROM list_members WHERE contact_id IN (${numbersOf(sql, ids)})`
  for (const [name, members] of Map.groupBy(
    contacts.flatMap(({ id, lists }) => lists.map((name) => ({ id, name }))),
    ({ name }) => name
  )) {
    const list = yield* ensureLists(account, [name])
    yield* addToLists(
      list,
      members.map(({ id }) => id)
    )
  }
})

const make = Effect.map(SqlClient.SqlClient, (sql): LocalContacts => {
  const inStore = Effect.provideService(SqlClient.SqlClient, sql)
  return {
    read: (emails) => read(emails).pipe(inStore, orStoreFailure("contactsGet")),
    add: (contacts, options) =>
      addContacts(contacts, options, toWritten, withLists).pipe(inStore, orStoreFailure("contactsPost")),
    write: (contacts) => inAtomicTransaction(sql, write(contacts)).pipe(inStore, orStoreFailure("contactsPost")),
    atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) =>
      Effect.catchIf(inAtomicTransaction(sql, effect), isSqlError<E>, (error) => storeFailure("contactsPost", error))
  }
})

/** Provides `LocalContacts` on the database of a store. */
export const layer: Layer.Layer<never, never, SqlClient.SqlClient> = Layer.effect(LocalContacts, make)
