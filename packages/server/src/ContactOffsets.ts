/**
 * Pages at any offset. The contacts of an account are counted in blocks of their ids, so that a page is found by adding
 * up the counts before it and passing over less than one block, not over all contacts before it.
 * (docs/decisions/paging.md)
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { contactColumns, readContacts } from "./ContactRow.ts"
import { dialect } from "./SqlDialect.ts"

/** Blocks of 1024 ids. */
const blockBits = 10

/**
 * The index that has the contacts of an account in their order and, where the dialect counts, the counts of the contacts
 * that are there and the triggers that keep them, whoever writes.
 *
 * @internal
 */
export const createContactBlocks = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE INDEX contacts_in_order ON contacts (account, id)`
  if (!dialect(sql).countsBlocks) return
  const bits = sql.literal(String(blockBits))
  yield* sql`
    CREATE TABLE contact_blocks (
      account TEXT NOT NULL,
      block INTEGER NOT NULL,
      contacts INTEGER NOT NULL,
      PRIMARY KEY (account, block)
    ) WITHOUT ROWID`
  yield* sql`
    INSERT INTO contact_blocks SELECT account, id >> ${bits} AS block, count(*) FROM contacts GROUP BY account, block`
  yield* sql`
    CREATE TRIGGER contact_blocks_add AFTER INSERT ON contacts BEGIN
      INSERT INTO contact_blocks VALUES (NEW.account, NEW.id >> ${bits}, 1)
        ON CONFLICT (account, block) DO UPDATE SET contacts = contacts + 1;
    END`
  // Ids are never given twice, so an empty block stays empty.
  yield* sql`
    CREATE TRIGGER contact_blocks_remove AFTER DELETE ON contacts BEGIN
      UPDATE contact_blocks SET contacts = contacts - 1 WHERE account = OLD.account AND block = OLD.id >> ${bits};
      DELETE FROM contact_blocks WHERE account = OLD.account AND block = OLD.id >> ${bits} AND contacts = 0;
    END`
})

/**
 * The contacts of an account from an offset on, in one statement: the counts and the contacts are of one moment.
 *
 * @internal
 */
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
        SELECT block, contacts, sum(contacts) OVER (ORDER BY block) - contacts AS before
        FROM contact_blocks WHERE account = ${account}
      ), start AS (
        SELECT block, before FROM counted WHERE before + contacts > ${offset} ORDER BY block LIMIT 1
      )
      SELECT ${columns} FROM contacts INDEXED BY contacts_in_order
      WHERE account = ${account} AND id >= (SELECT block << ${blockBits} FROM start)
      ORDER BY id LIMIT ${limit} OFFSET coalesce(${offset} - (SELECT before FROM start), 0)`
    : sql`
      SELECT ${columns} FROM contacts WHERE account = ${account} ORDER BY id LIMIT ${limit} OFFSET ${offset}`
  return yield* readContacts(rows)
})
