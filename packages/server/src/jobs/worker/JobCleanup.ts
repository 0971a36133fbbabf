/** Removes what has expired, so that the tables do not grow without limit. */
import { Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { hasOldEntries, removeOldEntries } from "../../credentials/AuditRetention.ts"
import { storeClock } from "../../store/StoreClock.ts"
import { forgetOverviews, hasOverviews } from "../overview/Overviews.ts"
import { kindsWithFile } from "./JobKinds.ts"

/** The response to a call with an Idempotency-Key is kept for 1 hour, longer than any client retries. */
const answerSeconds = 60 * 60

/** A job that has ended is kept for 30 days, with the rows that it rejected. */
const jobSeconds = 30 * 24 * 60 * 60

/** Few enough rows to delete without delaying other writers. */
const batchRows = 10_000

/** The number of parts of files, or of rows of changes, to delete at once; each has up to 256 KiB. */
const batchParts = 64

/** Jobs whose file nobody needs: it has expired, or its job has ended and leaves none to download. */
const hasUnneededFile = (
  sql: SqlClient.SqlClient,
  now: Statement.Fragment | number
) => sql`bytes > 0 AND state <> 'Loading' AND
  (expires <= ${now} OR state IN ('Cancelled', 'Error') OR state = 'Ready' AND NOT (${sql.in("kind", kindsWithFile)}))`

/** Whether there is anything to run or remove. Only reads, so that an idle process never waits for the write lock. */
export const hasWork = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* storeClock(sql).inSql
  const [row] = yield* sql<{ readonly due: number | boolean }>`
    SELECT EXISTS (SELECT 1 FROM jobs WHERE state IN ('Receiving', 'Loading') OR ended <= ${now} - ${jobSeconds})
      OR EXISTS (SELECT 1 FROM jobs WHERE ${hasUnneededFile(sql, now)})
      OR ${hasOldEntries(sql)}
      OR EXISTS (SELECT 1 FROM runs WHERE goes <= ${now})
      OR ${hasOverviews(sql, now)}
      OR EXISTS (SELECT 1 FROM idempotent_answers WHERE created <= ${now} - ${answerSeconds}) AS due`
  return Boolean(row?.due)
})

/** Deletes batch by batch, so that others write in between. */
const inBatches = <E, R>(deleteBatch: Effect.Effect<ReadonlyArray<unknown>, E, R>, size: number) =>
  Effect.andThen(Effect.yieldNow, deleteBatch).pipe(Effect.repeat({ until: ({ length }) => length < size }))

export const removeExpired = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // One time for all of it: what expires meanwhile is for the next look.
  const now = yield* storeClock(sql).seconds
  // A job may be older than a day and not done, if no process ran.
  yield* inBatches(
    sql`
    DELETE FROM job_parts WHERE (job, part) IN (
      SELECT job, part FROM job_parts WHERE job IN (SELECT number FROM jobs WHERE ${hasUnneededFile(sql, now)}) LIMIT ${batchParts}
    ) RETURNING job`,
    batchParts
  )
  yield* sql`UPDATE jobs SET bytes = 0 WHERE ${hasUnneededFile(sql, now)}`
  yield* sql`DELETE FROM jobs WHERE expires <= ${now} AND state = 'Receiving'`
  for (const rows of ["job_rejections", "job_kept_statuses"]) {
    yield* inBatches(
      sql`
      DELETE FROM ${sql(rows)} WHERE (job, line) IN (
        SELECT job, line FROM ${sql(rows)}
        WHERE job IN (SELECT number FROM jobs WHERE ended <= ${now - jobSeconds}) LIMIT ${batchRows}
      ) RETURNING job`,
      batchRows
    )
  }
  yield* sql`DELETE FROM jobs WHERE ended <= ${now - jobSeconds}`
  yield* inBatches(
    sql`
    DELETE FROM run_changes WHERE (run, number) IN (
      SELECT run, number FROM run_changes WHERE run IN (SELECT number FROM runs WHERE goes <= ${now}) LIMIT ${batchParts}
    ) RETURNING run`,
    batchParts
  )
  yield* sql`DELETE FROM runs WHERE goes <= ${now}`
  yield* forgetOverviews(sql, now)
  yield* sql`DELETE FROM idempotent_answers WHERE created <= ${now - answerSeconds}`
  yield* inBatches(removeOldEntries(sql, batchRows), batchRows)
})
