/** Removes entries of the audit trail whose time is over. The database keeps all others. (docs/decisions/access.md) */
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { storeClock } from "../store/StoreClock.ts"

// The triggers of the table hold the same numbers.
const day = 24 * 60 * 60
const changeSeconds = 400 * day
const refusalSeconds = 90 * day

/** Refusals go earlier if there are more newer entries, but not within a day. */
const newerEntries = 100_000
const shortestSeconds = day

const oldOf = (outcome: "Done" | "Wrote") => (sql: SqlClient.SqlClient, limit: number) =>
  sql`
  SELECT number FROM audit_entries
  WHERE outcome = ${sql.literal(`'${outcome}'`)} AND time <= ${storeClock(sql).ofTriggers} - ${changeSeconds} ORDER BY time LIMIT ${limit}`

const oldChanges = oldOf("Done")
const oldWrites = oldOf("Wrote")

/** Asks only the oldest, since numbers grow with time. */
const oldRefusals = (sql: SqlClient.SqlClient, limit: number) => {
  const { ofTriggers: now } = storeClock(sql)
  return sql`
    SELECT number FROM (
      SELECT number, time FROM audit_entries WHERE outcome NOT IN ('Done', 'Wrote') ORDER BY time LIMIT ${limit}
    ) AS oldest
    WHERE time <= ${now} - ${refusalSeconds}
      OR (time <= ${now} - ${shortestSeconds} AND number <= (SELECT max(number) FROM audit_entries) - ${newerEntries})`
}

/** Whether the time of an entry is over. */
export const hasOldEntries = (sql: SqlClient.SqlClient) =>
  sql`EXISTS (${oldRefusals(sql, 1)}) OR EXISTS (${oldChanges(sql, 1)}) OR EXISTS (${oldWrites(sql, 1)})`

/** Removes up to so many entries of either kind, and gives them. */
export const removeOldEntries = (sql: SqlClient.SqlClient, limit: number) =>
  Effect.map(
    Effect.forEach(
      [oldRefusals(sql, limit), oldChanges(sql, limit), oldWrites(sql, limit)],
      (old) => sql`DELETE FROM audit_entries WHERE number IN (${old}) RETURNING number`
    ),
    (removed) => removed.flat()
  )
