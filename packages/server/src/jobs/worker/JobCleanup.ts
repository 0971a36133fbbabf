/**
 * What goes with time: files after a day, and the rest of what is known of a job a month after its end, so that the tables
 * do not grow for ever.
 */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { answerSeconds, jobSeconds } from "../../store/Retention.ts"
import { nowSeconds } from "../queue/JobQueue.ts"

/** As many rows as nobody has to wait for. */
const atOnce = 10_000

/** Of lists, each of thousands of addresses. */
const listsAtOnce = 20

/**
 * Whether there are jobs under way or anything to remove. It only reads: a process that does nothing but look at a store
 * waits for none that writes to it.
 */
export const hasExpired = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* nowSeconds
  const [row] = yield* sql<{ readonly due: number | boolean }>`
    SELECT EXISTS (SELECT 1 FROM jobs WHERE state IN ('Receiving', 'Loading') OR ended <= ${now - jobSeconds})
      OR EXISTS (SELECT 1 FROM job_parts WHERE job IN (SELECT number FROM jobs WHERE expires <= ${now}))
      OR EXISTS (SELECT 1 FROM job_address_lists)
      OR EXISTS (SELECT 1 FROM idempotent_answers WHERE created <= ${now - answerSeconds}) AS due`
  return Boolean(row?.due)
})

/** Deletes some rows after the other: others write in between. */
const inTurns = <E, R>(deleteSome: Effect.Effect<ReadonlyArray<unknown>, E, R>, most: number) =>
  Effect.andThen(Effect.yieldNow, deleteSome).pipe(Effect.repeat({ until: (deleted) => deleted.length < most }))

export const removeExpired = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* nowSeconds
  // Not of a job that is still to be done, as after a long time without a process.
  yield* sql`DELETE FROM job_parts WHERE job IN (SELECT number FROM jobs WHERE expires <= ${now} AND state <> 'Loading')`
  yield* sql`DELETE FROM jobs WHERE expires <= ${now} AND state = 'Receiving'`
  // Only the import that is under way needs its addresses.
  yield* inTurns(
    sql`
    DELETE FROM job_address_lists WHERE number IN (
      SELECT number FROM job_address_lists
      WHERE job NOT IN (SELECT number FROM jobs WHERE state = 'Loading') LIMIT ${listsAtOnce}
    ) RETURNING job`,
    listsAtOnce
  )
  yield* inTurns(
    sql`
    DELETE FROM job_rejections WHERE (job, line) IN (
      SELECT job, line FROM job_rejections
      WHERE job IN (SELECT number FROM jobs WHERE ended <= ${now - jobSeconds}) LIMIT ${atOnce}
    ) RETURNING job`,
    atOnce
  )
  yield* sql`DELETE FROM jobs WHERE ended <= ${now - jobSeconds}`
  yield* sql`DELETE FROM idempotent_answers WHERE created <= ${now - answerSeconds}`
})
