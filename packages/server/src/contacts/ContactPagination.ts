/**
 * Offset pagination over counted blocks of ids: a page skips less than one block instead of every contact before it.
 * Contacts that are not counted yet have higher ids, so they cost time but not correctness. (docs/decisions/paging.md)
 */
import { ContactFields } from "@roster/domain"
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { contactColumns, toContact } from "./ContactRow.generated.ts"
import { byEngine, numbersOf } from "../store/SqlDialect.ts"

/** Blocks of 1024 ids. */
const blockBits = 10

/** On PostgreSQL all writers would wait for the newest block. */
const countsBlocks = (sql: SqlClient.SqlClient): boolean => byEngine(sql, { sqlite: () => true, postgres: () => false })

/** Adds the new contacts of an account to the block counts, in the transaction that inserted them. */
export const countNewContacts = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  if (!countsBlocks(sql)) return
  yield* sql`
    INSERT INTO contact_blocks
    SELECT account, id >> ${blockBits} AS block, count(*), max(id) FROM contacts INDEXED BY contacts_in_order
    WHERE account = ${account} AND id > coalesce(
      (SELECT last FROM contact_blocks WHERE account = ${account} ORDER BY block DESC LIMIT 1), 0)
    GROUP BY account, block
    ON CONFLICT (account, block) DO UPDATE SET contacts = contacts + excluded.contacts, last = excluded.last`
})

/** Adds contacts that came back with their old ids to the block counts, in the transaction that inserted them. */
export const countRestoredContacts = Effect.fnUntraced(function* (account: string, ids: ReadonlyArray<number>) {
  const sql = yield* SqlClient.SqlClient
  if (!countsBlocks(sql)) return
  // Those behind the last counted one are new to the counts like any others.
  yield* sql`
    INSERT INTO contact_blocks
    SELECT account, id >> ${blockBits} AS block, count(*), max(id) FROM contacts
    WHERE id IN (${numbersOf(sql, ids)}) AND id <= coalesce(
      (SELECT last FROM contact_blocks WHERE account = ${account} ORDER BY block DESC LIMIT 1), 0)
    GROUP BY account, block
    ON CONFLICT (account, block) DO UPDATE SET contacts = contacts + excluded.contacts, last = max(last, excluded.last)`
  yield* countNewContacts(account)
})

/** A page in one statement, so that the counts and the contacts are of the same moment. */
const pageOf = (
  sql: SqlClient.SqlClient,
  columns: Statement.Fragment,
  account: string,
  { limit, offset }: { readonly limit: number; readonly offset: number }
): Statement.Statement<{ readonly bytes: number }> =>
  countsBlocks(sql)
    ? sql`
      WITH counted AS (
        SELECT block, last, contacts, sum(contacts) OVER (ORDER BY block) AS until
        FROM contact_blocks WHERE account = ${account}
      ), start AS (
        SELECT block << ${blockBits} AS first, until - contacts AS before
        FROM counted WHERE until > ${offset} ORDER BY block LIMIT 1
      ), rest AS (
        SELECT max(last) + 1 AS first, max(until) AS before FROM counted
      )
      SELECT ${columns} FROM contacts INDEXED BY contacts_in_order
      WHERE account = ${account} AND id >= coalesce((SELECT first FROM start), (SELECT first FROM rest), 0)
      ORDER BY id LIMIT ${limit}
      OFFSET ${offset} - coalesce((SELECT before FROM start), (SELECT before FROM rest), 0)`
    : // What is skipped is skipped in the index alone, as far as PostgreSQL has vacuumed.
      sql`
      SELECT ${columns} FROM contacts WHERE account = ${account} AND id >= (
        SELECT id FROM contacts WHERE account = ${account} ORDER BY id LIMIT 1 OFFSET ${offset}
      ) ORDER BY id LIMIT ${limit}`

/** Reads a page of contacts. */
export const pageByOffset = Effect.fnUntraced(function* (
  account: string,
  page: { readonly limit: number; readonly offset: number }
) {
  const sql = yield* SqlClient.SqlClient
  return (yield* pageOf(sql, sql.literal(contactColumns.join(", ")), account, page).values).map(toContact)
})

/** The bytes of the texts of a contact, by the lengths that SQLite has beside its row. */
const textBytes = (sql: SqlClient.SqlClient) =>
  sql.literal(
    ["custom_fields", ...ContactFields.textFields.map(({ column }) => column)]
      .map((column) => `coalesce(octet_length(${column}), 0)`)
      .join(" + ")
  )

/** The bytes of the texts of a page without a bound of its own. */
export const pageBytes = Effect.fnUntraced(function* (
  account: string,
  page: { readonly limit: number; readonly offset: number }
) {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* pageOf(sql, sql`${textBytes(sql)} AS bytes`, account, page)
  return rows.reduce((sum, row) => sum + Number(row.bytes), 0)
})

/** The bytes of the texts of some contacts, in SQLite. */
export const bytesOfIds = Effect.fnUntraced(function* (ids: Float64Array) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly bytes: number }>`
    SELECT coalesce(sum(${textBytes(sql)}), 0) AS bytes FROM contacts
    WHERE id IN (${numbersOf(sql, ids)})`
  return Number(row?.bytes ?? 0)
})
