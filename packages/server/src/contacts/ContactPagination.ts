/**
 * Pages at any offset. The contacts of an account are counted in blocks of their ids, so that a page is found by adding
 * up the counts before it and passing over less than one block, not over all contacts before it. What is not counted stands
 * behind what is, since ids ascend: whoever adds without counting makes pages slower and no less exact.
 * (docs/decisions/paging.md)
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { contactColumns, readContacts } from "./ContactRow.ts"
import { dialect } from "../store/SqlDialect.ts"

/** Blocks of 1024 ids. */
const blockBits = 10

/** Counts the contacts of an account that are not counted yet. In the transaction that added them. */
export const countAdded = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  if (!dialect(sql).countsBlocks) return
  yield* sql`
    INSERT INTO contact_blocks
    SELECT account, id >> ${blockBits} AS block, count(*), max(id) FROM contacts INDEXED BY contacts_in_order
    WHERE account = ${account} AND id > coalesce(
      (SELECT last FROM contact_blocks WHERE account = ${account} ORDER BY block DESC LIMIT 1), 0)
    GROUP BY account, block
    ON CONFLICT (account, block) DO UPDATE SET contacts = contacts + excluded.contacts, last = excluded.last`
})

/** The contacts of an account from an offset on, in one statement: the counts and the contacts are of one moment. */
export const pageOfAll = Effect.fnUntraced(function* (
  account: string,
  page: { readonly limit: number; readonly offset: number }
) {
  const sql = yield* SqlClient.SqlClient
  const { limit, offset } = page
  const columns = sql.literal(contactColumns.join(", "))
  const rows = dialect(sql).countsBlocks
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
    : sql`
      SELECT ${columns} FROM contacts WHERE account = ${account} ORDER BY id LIMIT ${limit} OFFSET ${offset}`
  return yield* readContacts(rows.values)
})
