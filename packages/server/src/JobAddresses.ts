/**
 * The addresses that an import has read so far, beside its job: how a row is known to repeat one, whatever became of the
 * contact in between, and however often the import was cut off.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dialect } from "./SqlDialect.ts"

/**
 * Notes the identities of some rows and gives how many of the rows repeat an earlier one. Runs in the transaction of the
 * batch.
 *
 * @internal
 */
export const noteAddresses = Effect.fnUntraced(function* (job: number, identities: ReadonlyArray<string>) {
  if (identities.length === 0) return 0
  const sql = yield* SqlClient.SqlClient
  const noted = yield* sql`
    INSERT INTO job_addresses (job, identity)
    SELECT ${job}, value FROM (${dialect(sql).textsOf(identities)}) AS texts WHERE 1 = 1
    ON CONFLICT (job, identity) DO NOTHING RETURNING job`
  return identities.length - noted.length
})
