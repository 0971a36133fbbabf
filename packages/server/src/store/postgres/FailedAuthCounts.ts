/**
 * The wrong keys of each network, which all processes of a PostgreSQL count together. The table is no part of a store: it
 * holds a minute, is in no backup, and is empty after a crash of the server. (docs/decisions/access.md)
 */
import { Effect } from "effect"
import type { SqlClient, Statement } from "effect/sql"

/** The count of a network starts again after this long without a wrong key. */
export const forgottenAfterSeconds = 60

/** The forgotten counts that one wrong key removes, more than it adds. */
const removedAtOnce = 16

/** Creates the table, where that is allowed. Processes that start at the same time take turns. */
export const createTable = Effect.fnUntraced(
  function* (sql: SqlClient.SqlClient) {
    const [missing] = yield* sql`SELECT 1 AS missing WHERE to_regclass('wrong_keys') IS NULL`
    if (missing === undefined) return
    yield* sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`LOCK TABLE migrations IN SHARE ROW EXCLUSIVE MODE`
        yield* sql`
          CREATE UNLOGGED TABLE IF NOT EXISTS wrong_keys (
            network TEXT PRIMARY KEY, count BIGINT NOT NULL, last BIGINT NOT NULL
          )`
        yield* sql`CREATE INDEX IF NOT EXISTS wrong_keys_by_age ON wrong_keys (last)`
      })
    )
  },
  Effect.catchTag("SqlError", () =>
    Effect.logWarning("each process counts wrong keys alone: there is no table for them")
  )
)

/** Counts a wrong key at a time in seconds, and gives how many its network has had in a row. */
export const countFailedAuth = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  network: string,
  now: Statement.Fragment
) {
  const [row] = yield* sql<{ readonly count: number }>`
    WITH forgotten AS (
      DELETE FROM wrong_keys WHERE network IN (
        SELECT network FROM wrong_keys WHERE last <= ${now} - ${forgottenAfterSeconds}::int AND network <> ${network}
        ORDER BY last LIMIT ${removedAtOnce}::int FOR UPDATE SKIP LOCKED
      )
    )
    INSERT INTO wrong_keys (network, count, last) VALUES (${network}, 1, ${now})
    ON CONFLICT (network) DO UPDATE SET last = excluded.last, count = CASE
      WHEN wrong_keys.last > excluded.last - ${forgottenAfterSeconds}::int THEN wrong_keys.count + 1 ELSE 1 END
    RETURNING count`
  return row?.count ?? 0
})
