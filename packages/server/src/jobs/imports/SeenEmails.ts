/**
 * The addresses that an import has read so far, beside its job, so that a repeated address is counted whatever became of the
 * contact in between, and after a restart too.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dialect } from "../../store/SqlDialect.ts"

/**
 * Records the addresses of accepted rows and gives the number of them that an earlier row has. Runs in the transaction of
 * the rows. Sorted, the addresses of one transaction share pages of the index.
 */
export const countRepeats = Effect.fnUntraced(function* (job: number, identities: ReadonlyArray<string>) {
  const sql = yield* SqlClient.SqlClient
  const added = yield* sql`
    INSERT INTO job_emails
    SELECT ${job}, value FROM (${dialect(sql).textsOf(identities)}) AS seen WHERE 1 = 1 ORDER BY value
    ON CONFLICT DO NOTHING RETURNING 1`.values
  return identities.length - added.length
})
