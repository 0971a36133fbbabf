/**
 * The queue of jobs, which outlive their requests. A worker holds a lease, renews it with every step and commits only
 * while it holds it; the lease of a process that has ended is void. (docs/decisions/jobs.md)
 */
import { Effect, Schema } from "effect"
import { SqlClient } from "effect/sql"
import { isOrphaned } from "../../store/ProcessMark.ts"
import { nowSeconds } from "../../store/Timestamps.ts"

/** The file of an export, and one that is still being received, is kept for 24 hours. */
const fileSeconds = 24 * 60 * 60

export const leaseSeconds = 30

export interface JobRow {
  readonly number: number
  readonly id: string
  readonly account: string
  readonly kind: "Export" | "Import"
  /** An import is `Receiving` until its whole file is in the store. */
  readonly state: "Receiving" | "Loading" | "Ready" | "Error" | "Cancelled"
  readonly request: string
  readonly file_key: string | null
  readonly rows_done: number
  readonly accepted: number
  readonly rejected: number
  /** Accepted rows with the address of an earlier accepted row. */
  readonly duplicates: number
  /** The number of rejected rows that are kept with their cells. */
  readonly rejected_kept: number
  /** The header of an imported file as JSON, once a row has been rejected. */
  readonly header: string | null
  /** The number of rows to process, if known. */
  readonly rows_total: number | null
  readonly problem: string | null
  readonly lease: string | null
  readonly leased_until: number
  readonly created: number
  readonly ended: number | null
  readonly expires: number
}

/** A job whose lease this process holds. */
export interface HeldJob extends JobRow {
  readonly lease: string
}

export interface JobProgress {
  readonly rowsDone: number
  readonly accepted: number
  readonly rejected: number
  readonly duplicates?: number
  readonly rejectedKept?: number
  readonly header?: string | null
  readonly total?: number
}

/** Another worker holds the job now, or it was cancelled. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {}) {}

/** Writes a job and gives its number. Runs in the transaction of its caller. */
export const createJob = Effect.fnUntraced(function* (job: {
  readonly id: string
  readonly account: string
  readonly kind: JobRow["kind"]
  readonly state: "Receiving" | "Loading"
  readonly request: string
  readonly fileKey?: string
  /** The lease of the process that receives its file. */
  readonly lease?: string
}) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* nowSeconds
  const [row] = yield* sql<{ readonly number: number }>`
    INSERT INTO jobs ${sql.insert({
      id: job.id,
      account: job.account,
      kind: job.kind,
      state: job.state,
      request: job.request,
      file_key: job.fileKey ?? null,
      lease: job.lease ?? null,
      created: now,
      expires: now + fileSeconds
    })} RETURNING number`
  return row?.number ?? (yield* Effect.die(new Error("an insert gave no row")))
})

/** Releases the jobs of ended processes of this machine, and removes files that they were receiving. */
export const releaseOrphanedJobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const held = yield* sql<{ readonly lease: string }>`
    SELECT DISTINCT lease FROM jobs
    WHERE lease IS NOT NULL AND (state = 'Receiving' OR state = 'Loading' AND leased_until > ${yield* nowSeconds})`
  for (const { lease } of held) {
    if (!isOrphaned(lease)) continue
    yield* sql`DELETE FROM jobs WHERE lease = ${lease} AND state = 'Receiving'`
    yield* freeJobs(lease)
  }
})

/** Releases the jobs of a lease. Reads first, so that a process without jobs never waits for the write lock. */
export const freeJobs = Effect.fnUntraced(function* (lease: string) {
  const sql = yield* SqlClient.SqlClient
  const [held] = yield* sql`SELECT number FROM jobs WHERE lease = ${lease} AND state = 'Loading' LIMIT 1`
  if (held === undefined) return
  yield* sql`UPDATE jobs SET leased_until = 0 WHERE lease = ${lease} AND state = 'Loading'`
})

/** Takes the oldest job that no process holds, if any. */
export const claimJob = Effect.fnUntraced(function* (lease: string) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* nowSeconds
  const skipLocked = sql.literal(sql.onDialectOrElse({ pg: () => "FOR UPDATE SKIP LOCKED", orElse: () => "" }))
  const [row] = yield* sql<HeldJob>`
    UPDATE jobs SET lease = ${lease}, leased_until = ${now + leaseSeconds}
    WHERE number = (
      SELECT number FROM jobs WHERE state = 'Loading' AND leased_until <= ${now} ORDER BY number LIMIT 1 ${skipLocked}
    ) RETURNING *`
  return row
})

/** Writes the progress of a job in the transaction of its step, and renews the lease. */
export const advanceJob = Effect.fnUntraced(function* (job: HeldJob, progress: JobProgress) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* nowSeconds
  const { accepted, duplicates = 0, header = null, rejected, rejectedKept = 0, rowsDone, total = null } = progress
  const held = yield* sql`
    UPDATE jobs SET rows_done = ${rowsDone}, accepted = ${accepted}, rejected = ${rejected},
      duplicates = ${duplicates}, rejected_kept = ${rejectedKept}, header = ${header},
      rows_total = coalesce(${total}, rows_total), leased_until = ${now + leaseSeconds}
    WHERE number = ${job.number} AND lease = ${job.lease} AND state = 'Loading' RETURNING number`
  if (held.length === 0) return yield* new LeaseLost({})
})

/** Renews the lease of a job between its steps, which can take longer than it lasts. */
export const renewLease = Effect.fnUntraced(function* (job: HeldJob) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* nowSeconds
  yield* sql`
    UPDATE jobs SET leased_until = ${now + leaseSeconds}
    WHERE number = ${job.number} AND lease = ${job.lease} AND state = 'Loading'`
})

export const endJob = Effect.fnUntraced(function* (job: HeldJob, state: "Ready" | "Error", problem?: string) {
  const sql = yield* SqlClient.SqlClient
  const held = yield* sql`
    UPDATE jobs SET state = ${state}, problem = ${problem ?? null}, ended = ${yield* nowSeconds}, leased_until = 0
    WHERE number = ${job.number} AND lease = ${job.lease} AND state = 'Loading' RETURNING number`
  if (held.length === 0) return yield* new LeaseLost({})
})
