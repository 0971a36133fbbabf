/** The rows of an import whose contacts kept their status, since the row would have resubscribed them. */
import type { KeptStatusRow } from "@roster/domain"
import { Array as Arr, Effect } from "effect"
import { SqlClient } from "effect/sql"

/** The rows of one import that are kept, the first ones. Further rows are counted and not kept. */
export const maximumKeptStatuses = 1000

/** A statement has a limited number of parameters. */
const rowsAtOnce = 500

/** Keeps rows of a job that has counted some before. */
export const keepStatuses = Effect.fnUntraced(function* (
  job: number,
  rows: ReadonlyArray<KeptStatusRow>,
  counted: number
) {
  const sql = yield* SqlClient.SqlClient
  const kept: ReadonlyArray<Record<string, unknown>> = rows
    .slice(0, Math.max(0, maximumKeptStatuses - counted))
    .map(({ line, status }) => ({ job, line, status }))
  for (const some of Arr.chunksOf(kept, rowsAtOnce)) {
    if (Arr.isReadonlyArrayNonEmpty(some)) yield* sql`INSERT INTO job_kept_statuses ${sql.insert(some)}`
  }
})

/** The kept rows in the order of the file. */
export const readKeptStatuses = (sql: SqlClient.SqlClient, job: number) =>
  Effect.map(
    sql<KeptStatusRow>`SELECT line, status FROM job_kept_statuses WHERE job = ${job} ORDER BY line`,
    // Other drivers read large integers as text.
    (rows) => rows.map(({ line, status }): KeptStatusRow => ({ line: Number(line), status }))
  )
