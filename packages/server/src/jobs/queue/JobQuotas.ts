/** What the imports and exports of one account may take up, so that no account fills the disk. (docs/limits.md) */
import { type JobKind, RateLimited, ServiceError, TaggedError } from "@roster/domain"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dialect } from "../../store/SqlDialect.ts"
import { storeClock } from "../../store/StoreClock.ts"
import type { JobRow } from "./JobQueue.ts"

/** The imports and exports of an account that wait, run, or receive their file. */
const maximumOpenJobs = 100

/** In bytes: the files of the exports of an account, and those of its imports. A single file may be larger. */
const maximumFileBytes = 4 * 1024 * 1024 * 1024

/**
 * The Retry-After of a refusal, in seconds. It is longer than a client waits, so that the client fails at once with the
 * text.
 */
const retryAfter = 120

/** What the quotas of an account know of a kind of job. */
export interface QuotaOfKind {
  readonly kind: JobKind
  /** Whether a job leaves a file to download, which expires. */
  readonly hasFile: boolean
  /** What to do where the files of the kind leave no room. */
  readonly quotaText: string
}

/** The files of the account leave no room for a further one; the `quotaText` of their kind says what to do. */
export class FilesFull extends TaggedError<FilesFull>()("FilesFull", {}) {}

const limited = (operation: string, detail: string, seconds: number) =>
  new ServiceError({ operation, reason: new RateLimited({ detail, retryAfter: seconds }) })

/** The `ServiceError` of a request whose file has no room. */
export const filesFull = (operation: string, { quotaText }: QuotaOfKind, seconds = retryAfter) =>
  limited(operation, quotaText, seconds)

/** What the files of one kind take up, and when the first of them expires. */
const keptFiles = Effect.fnUntraced(function* (account: string, kind: JobKind) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly bytes: number; readonly expires: number | null }>`
    SELECT coalesce(sum(bytes), 0) AS bytes, min(expires) AS expires FROM jobs
    WHERE account = ${account} AND kind = ${kind} AND bytes > 0`
  return { bytes: Number(row?.bytes ?? 0), expires: Number(row?.expires ?? 0) }
})

/** Refuses a further job of an account that has as many as it may. Runs in the transaction that creates the job. */
export const checkQuota = Effect.fnUntraced(function* (operation: string, account: string, kind: QuotaOfKind) {
  const sql = yield* SqlClient.SqlClient
  yield* dialect(sql).lockAccounts([account])
  const [open] = yield* sql<{ readonly jobs: number }>`
    SELECT count(*) AS jobs FROM jobs WHERE account = ${account} AND ended IS NULL`
  if (Number(open?.jobs ?? 0) >= maximumOpenJobs) {
    const detail =
      `${maximumOpenJobs} of its imports and exports wait or run. Wait until some have ended, or cancel them ` +
      "first (roster jobs cancel ID)."
    return yield* limited(operation, detail, retryAfter)
  }
  const { bytes, expires } = yield* keptFiles(account, kind.kind)
  if (bytes < maximumFileBytes) return
  const untilExpiry = kind.hasFile ? expires - (yield* storeClock(sql).seconds) : 0
  return yield* filesFull(operation, kind, Math.max(retryAfter, untilExpiry))
})

/** Adds to the size of a file, in the transaction that writes it. A file beside others may not exceed the bound. */
export const addBytes = Effect.fnUntraced(function* (job: number, bytes: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Pick<JobRow, "account" | "kind"> & { readonly bytes: number }>`
    UPDATE jobs SET bytes = bytes + ${bytes} WHERE number = ${job} RETURNING account, kind, bytes`
  if (row === undefined) return
  const { bytes: total } = yield* keptFiles(row.account, row.kind)
  if (total > maximumFileBytes && total > Number(row.bytes)) return yield* new FilesFull({})
})
