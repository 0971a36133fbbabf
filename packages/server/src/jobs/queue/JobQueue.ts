/**
 * The queue of jobs, which outlive their requests. A worker holds a lease, renews it with every step and commits only
 * while it holds it; the lease of a process that has ended is void. (docs/decisions/jobs.md)
 */
import type { JobKind } from "@roster/domain"
import { Effect, Schema, Struct } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { isOrphaned } from "../../store/ProcessMark.ts"
import { dialect } from "../../store/SqlDialect.ts"
import { storeClock } from "../../store/StoreClock.ts"

/** The file of an export, and one that is still being received, is kept for 24 hours. */
const fileSeconds = 24 * 60 * 60

export const leaseSeconds = 30

/** The jobs of an account that are kept, the newest, up to 30 days after their end. */
const maximumKeptJobs = 10_000

/** A job that was taken up so often without getting further than ever before is given up. */
export const maximumJobAttempts = 3

export interface JobRow {
  readonly number: number
  readonly id: string
  readonly account: string
  readonly kind: JobKind
  /** An import is `Receiving` until its whole file is in the store. */
  readonly state: "Receiving" | "Loading" | "Ready" | "Error" | "Cancelled"
  readonly request: string
  /** That of the secret in the link of an export; `null` if it has none. */
  readonly link_digest: Uint8Array | null
  /** The id of the key that asked for it; `null` for the owner of the store. */
  readonly creator: number | null
  /** The number of the run that an import writes for; `null` for none. */
  readonly run: number | null
  readonly rows_done: number
  readonly accepted: number
  readonly rejected: number
  /** Accepted rows with the address of an earlier accepted row. */
  readonly duplicates: number
  /** The number of rejected rows that are kept with their cells. */
  readonly rejected_kept: number
  /** Their size, in characters. */
  readonly rejected_size: number
  /** The number of accepted rows whose contacts kept their status. */
  readonly statuses_kept: number
  /** The header of an imported file as JSON, once a row has been rejected. */
  readonly header: string | null
  /** The number of rows to process, if known. */
  readonly rows_total: number | null
  /** Why it failed; of one that is `Ready` what it warns of. */
  readonly problem: string | null
  readonly lease: string | null
  readonly leased_until: number
  /** How often it was taken up since it got further than ever before, this time included. */
  readonly attempts: number
  readonly created: number
  readonly ended: number | null
  readonly expires: number
}

/** A job whose lease this process holds. */
export interface HeldJob extends JobRow {
  readonly lease: string
}

/** How far a job has come. */
export const progressOf = (job: JobRow) =>
  Struct.pick(job, [
    "rows_done",
    "accepted",
    "rejected",
    "duplicates",
    "rejected_kept",
    "rejected_size",
    "statuses_kept",
    "header",
    "rows_total"
  ])
export type JobProgress = ReturnType<typeof progressOf>

/** That of a job at its beginning. */
export const noProgress = { rows_done: 0, accepted: 0, rejected: 0 }

/** Another worker holds the job now, or it was cancelled. */
export class LeaseLost extends Schema.TaggedError<LeaseLost>()("LeaseLost", {}) {}

/** Writes a job and gives its number. Runs in the transaction of its caller. */
export const createJob = Effect.fnUntraced(function* (
  // The lease is that of the process that receives its file.
  job: Pick<JobRow, "id" | "account" | "kind" | "state" | "request"> &
    Partial<Pick<JobRow, "creator" | "lease" | "link_digest" | "run">>
) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* storeClock(sql).seconds
  const [row] = yield* sql<{ readonly number: number }>`
    INSERT INTO jobs ${sql.insert({ ...job, created: now, expires: now + fileSeconds })} RETURNING number`
  return row?.number ?? (yield* Effect.die(new Error("an insert gave no row")))
})

/** Releases the jobs of ended processes of this machine; those whose files they were receiving expire. */
export const releaseOrphanedJobs = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const leases = yield* sql<{ readonly lease: string }>`
    SELECT DISTINCT lease FROM jobs
    WHERE lease IS NOT NULL AND (state = 'Receiving' OR state = 'Loading' AND leased_until > ${yield* storeClock(sql).inSql})`
  for (const { lease } of leases) {
    if (!isOrphaned(lease)) continue
    yield* sql`UPDATE jobs SET expires = 0 WHERE lease = ${lease} AND state = 'Receiving'`
    yield* releaseJobs(lease)
  }
})

/** The jobs that a worker holds by its lease, but some. */
const jobsOf = (sql: SqlClient.SqlClient, lease: string, except: ReadonlyArray<number> = []) => {
  const others = except.length === 0 ? sql`1 = 1` : sql`NOT (${sql.in("number", except)})`
  return sql`lease = ${lease} AND state = 'Loading' AND leased_until > 0 AND ${others}`
}

/** Whether any job is held. A read, so that a process without jobs never waits for the write lock. */
const isAny = Effect.fnUntraced(function* (jobs: Statement.Fragment) {
  const sql = yield* SqlClient.SqlClient
  return (yield* sql`SELECT number FROM jobs WHERE ${jobs} LIMIT 1`).length > 0
})

/** Releases the jobs of a worker that died. */
export const releaseJobs = Effect.fnUntraced(function* (lease: string) {
  const sql = yield* SqlClient.SqlClient
  const jobs = jobsOf(sql, lease)
  if (yield* isAny(jobs)) yield* sql`UPDATE jobs SET leased_until = 0 WHERE ${jobs}`
})

const uncounted = "attempts = CASE WHEN attempts > 0 THEN attempts - 1 ELSE 0 END"

/** Gives back the jobs of a worker that stops in good order, but those that still run, which counts no attempt. */
export const requeueJobs = Effect.fnUntraced(function* (lease: string, running: ReadonlyArray<number> = []) {
  const sql = yield* SqlClient.SqlClient
  const jobs = jobsOf(sql, lease, running)
  if (yield* isAny(jobs)) {
    yield* sql`UPDATE jobs SET lease = NULL, leased_until = 0, ${sql.literal(uncounted)} WHERE ${jobs}`
  }
})

/** Gives back a job, to be taken up again after so many seconds, which counts no attempt. */
export const requeueJob = Effect.fnUntraced(function* (job: HeldJob, seconds: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    UPDATE jobs SET lease = NULL, leased_until = ${yield* storeClock(sql).inSql} + ${seconds}, ${sql.literal(uncounted)}
    WHERE number = ${job.number} AND ${jobsOf(sql, job.lease)}`
})

/**
 * Whether a lease is valid. None is longer than `leaseSeconds`: one that ends later is of a clock that was set back, and
 * nobody waits for it.
 */
const isLeased = (sql: SqlClient.SqlClient, now: Statement.Fragment) =>
  sql`leased_until > ${now} AND leased_until <= ${now} + ${leaseSeconds}`

/** Whether a job waits for a worker. */
const isWaiting = (sql: SqlClient.SqlClient, now: Statement.Fragment) =>
  sql`state = 'Loading' AND NOT (${isLeased(sql, now)})`

/** How often a worker looks for another account where others took the jobs that it was about to take. */
const maximumClaims = 10

/** The job that a worker with these running jobs would take next, of an account of which no job runs. */
const nextWaiting = (
  sql: SqlClient.SqlClient,
  now: Statement.Fragment,
  running: ReadonlyArray<number>,
  columns: Statement.Fragment,
  of = sql`1 = 1`
) => {
  const isOwn = running.length === 0 ? sql`1 = 0` : sql.in("number", running)
  return sql`
    SELECT ${columns} FROM jobs AS waiting
    WHERE ${isWaiting(sql, now)} AND ${of}
      AND account NOT IN (SELECT account FROM jobs WHERE state = 'Loading' AND (${isLeased(sql, now)} OR ${isOwn}))
    ORDER BY (SELECT max(turn) FROM jobs WHERE account = waiting.account), number LIMIT 1`
}

/**
 * Takes a waiting job, if there is one:
 * - of the account that has waited longest since its last start, and of its jobs the oldest;
 * - of no account of which a job runs. The worker names the jobs that it runs: a clock that was set ahead voids their leases;
 * - one whose worker died only if this worker runs nothing else: were it to die too, only that job counts it.
 */
export const claimJob = Effect.fnUntraced(function* (lease: string, running: ReadonlyArray<number> = []) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* storeClock(sql).inSql
  // Another worker may have started a job of the account before the lock was taken, so the update looks again.
  const claim = Effect.gen(function* () {
    const [next] = yield* nextWaiting(sql, now, running, sql`account, attempts`)
    if (next === undefined || (running.length > 0 && Number(next["attempts"]) > 0)) return "None"
    const account = String(next["account"])
    yield* dialect(sql).lockAccounts([account])
    const [row] = yield* sql<HeldJob>`
      UPDATE jobs SET lease = ${lease}, leased_until = ${now} + ${leaseSeconds},
        attempts = attempts + CASE WHEN lease = ${lease} AND attempts > 0 THEN 0 ELSE 1 END,
        turn = (SELECT coalesce(max(turn), 0) + 1 FROM jobs)
      WHERE number = (${nextWaiting(sql, now, running, sql`number`, sql`account = ${account}`)}) AND ${isWaiting(sql, now)}
        ${sql.literal(running.length > 0 ? "AND attempts = 0" : "")} RETURNING *`
    return row ?? "Taken"
  })
  for (let claims = 0; claims < maximumClaims; claims++) {
    const claimed = yield* sql.withTransaction(claim)
    if (claimed !== "Taken") return claimed === "None" ? undefined : claimed
  }
  return undefined
})

/** Whether a job of another account waits, which a worker with these jobs could take if it had room. */
export const othersWait = Effect.fnUntraced(function* (running: ReadonlyArray<number>) {
  const sql = yield* SqlClient.SqlClient
  return (yield* nextWaiting(sql, yield* storeClock(sql).inSql, running, sql`number`)).length > 0
})

/**
 * Writes the progress of a job in the transaction of its step, and renews the lease. An export starts over when it is
 * taken up again, so only what was never reached before is progress.
 */
export const advanceJob = Effect.fnUntraced(function* (
  job: HeldJob,
  progress: Partial<JobProgress> & Pick<JobProgress, "rows_done" | "accepted">
) {
  const sql = yield* SqlClient.SqlClient
  const reached = progress.rows_done + progress.accepted
  const updated = yield* sql`
    UPDATE jobs SET attempts = CASE WHEN furthest < ${reached} THEN 0 ELSE attempts END,
      furthest = CASE WHEN furthest < ${reached} THEN ${reached} ELSE furthest END,
      ${sql.update(progress)}, leased_until = ${yield* storeClock(sql).inSql} + ${leaseSeconds}
    WHERE number = ${job.number} AND lease = ${job.lease} AND state = 'Loading' RETURNING number`
  if (updated.length === 0) return yield* new LeaseLost({})
})

/**
 * Renews the lease of a job, whose steps can take longer than it lasts, and gives its `rows_done`. Fails once the job was
 * cancelled or lost.
 */
export const renewLease = Effect.fnUntraced(function* (job: HeldJob) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* storeClock(sql).inSql
  const own = sql`number = ${job.number} AND lease = ${job.lease} AND state = 'Loading'`
  const [row] = yield* sql<{ readonly left: number; readonly rows_done: number }>`
    SELECT leased_until - ${now} AS left, rows_done FROM jobs WHERE ${own}`
  if (row === undefined) return yield* new LeaseLost({})
  if (row.left < leaseSeconds / 2 || row.left > leaseSeconds) {
    yield* sql`UPDATE jobs SET leased_until = ${now} + ${leaseSeconds} WHERE ${own}`
  }
  return row.rows_done
})

/** Lets the oldest ended jobs of an account expire, beyond those that are kept. */
const forgetOldest = Effect.fnUntraced(function* (account: string) {
  const sql = yield* SqlClient.SqlClient
  const [oldest] = yield* sql<{ readonly number: number }>`
    SELECT number FROM jobs WHERE account = ${account} ORDER BY number DESC LIMIT 1 OFFSET ${maximumKeptJobs}`
  if (oldest === undefined) return
  yield* sql`
    UPDATE jobs SET ended = 0, expires = 0 WHERE account = ${account} AND number <= ${oldest.number} AND ended > 0`
})

export const endJob = Effect.fnUntraced(function* (job: HeldJob, state: "Ready" | "Error", problem?: string) {
  const sql = yield* SqlClient.SqlClient
  const updated = yield* sql`
    UPDATE jobs SET state = ${state}, problem = ${problem ?? null}, ended = ${yield* storeClock(sql).inSql}, leased_until = 0
    WHERE number = ${job.number} AND lease = ${job.lease} AND state = 'Loading' RETURNING number`
  if (updated.length === 0) return yield* new LeaseLost({})
  yield* forgetOldest(job.account)
})
