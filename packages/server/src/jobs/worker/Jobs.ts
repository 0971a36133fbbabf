/** Reads and cancels the imports and exports of a store. (docs/decisions/jobs.md) */
import { FileHeader, type Job, JobEnded, JobNotFound, type JobsPage, type RowsPage } from "@roster/domain"
import { Effect, Option, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { checkCaller } from "../../credentials/CallerCheck.ts"
import type { JobRow } from "../queue/JobQueue.ts"
import { removeParts } from "../queue/JobBlobs.ts"
import { jobKinds, kindsWithFile } from "./JobKinds.ts"
import { readKeptStatuses, readRejections } from "../imports/KeptRows.ts"
import { isOrphaned } from "../../store/ProcessMark.ts"
import { defaultPage } from "../../store/Rows.ts"
import { fromSeconds, storeClock } from "../../store/StoreClock.ts"

const decodeHeader = Schema.decodeSync(Schema.fromJsonString(FileHeader))

const isRunning = ({ lease, leased_until, state }: JobRow, now: number): boolean =>
  lease !== null && !isOrphaned(lease) && (state === "Receiving" || (state === "Loading" && leased_until > now))

/** The record of a row at a time, in seconds. */
const toJob = (row: JobRow, now: number): Job => {
  const { hasFile, request } = jobKinds[row.kind]
  return {
    id: row.id,
    kind: row.kind,
    state: hasFile && row.state === "Ready" && row.expires <= now ? "Expired" : row.state,
    running: isRunning(row, now),
    created: fromSeconds(row.created),
    ended: row.ended === null ? null : fromSeconds(row.ended),
    expires: hasFile ? fromSeconds(row.expires) : null,
    rowsDone: row.rows_done,
    rowsTotal: row.state === "Ready" ? row.rows_done : row.rows_total,
    accepted: row.accepted,
    rejected: row.rejected,
    rejectedKept: row.rejected_kept,
    duplicates: row.duplicates,
    statusesKept: row.statuses_kept,
    problem: row.problem,
    request: Option.getOrElse(request(row.request), () => ({}))
  }
}

const findRow = Effect.fnUntraced(function* (account: string, id: string) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<JobRow>`SELECT * FROM jobs WHERE id = ${id.toLowerCase()} AND account = ${account}`
  return row ?? (yield* new JobNotFound({ id }))
})

const now = Effect.flatMap(SqlClient.SqlClient, (sql) => storeClock(sql).seconds)

/** A page of the jobs of an account, the newest first. */
export const readJobs = Effect.fnUntraced(function* (account: string, { before, limit = defaultPage }: JobsPage) {
  const sql = yield* SqlClient.SqlClient
  const older = before === undefined ? sql`1 = 1` : sql`number < ${(yield* findRow(account, before)).number}`
  const rows = yield* sql<JobRow>`
    SELECT * FROM jobs WHERE account = ${account} AND ${older} ORDER BY number DESC LIMIT ${limit}`
  const time = yield* now
  return rows.map((row) => toJob(row, time))
})

/** A job of an account by its id. */
export const readJob = Effect.fnUntraced(function* (account: string, id: string) {
  return toJob(yield* findRow(account, id), yield* now)
})

/** Cancels a job, in the transaction of the caller, which needs Export for an export. */
export const cancelJob = Effect.fnUntraced(function* (operation: string, account: string, id: string) {
  const sql = yield* SqlClient.SqlClient
  const { kind } = yield* findRow(account, id)
  if (kind === "Export") yield* checkCaller(sql, operation, "Export")
  const time = yield* now
  // The worker commits a step only while the job is `Loading`.
  const [row] = yield* sql<JobRow>`
    UPDATE jobs SET state = 'Cancelled', ended = ${time}, leased_until = 0
    WHERE id = ${id.toLowerCase()} AND account = ${account}
      AND (state IN ('Receiving', 'Loading') OR ${sql.in("kind", kindsWithFile)} AND state = 'Ready' AND expires > ${time}) RETURNING *`
  if (row !== undefined) return yield* removeParts(row.number)
  const { state } = toJob(yield* findRow(account, id), time)
  return yield* new JobEnded({ id, state })
})

/** A page of the rows that an import rejected. */
export const readRejected = Effect.fnUntraced(function* (account: string, id: string, page: RowsPage) {
  const { header, number } = yield* findRow(account, id)
  return {
    header: header === null ? null : decodeHeader(header),
    rows: yield* readRejections(number, page)
  }
})

/** The kept rows of an import whose contacts kept their status. */
export const readKept = Effect.fnUntraced(function* (account: string, id: string) {
  return yield* readKeptStatuses((yield* findRow(account, id)).number)
})
