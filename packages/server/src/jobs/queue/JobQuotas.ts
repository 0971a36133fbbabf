/** What the imports and exports of one account may take up, so that no account fills the disk. (docs/limits.md) */
import { RateLimited, ServiceError, TaggedError } from "@roster/domain"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { dialect } from "../../store/SqlDialect.ts"
import { storeClock } from "../../store/StoreClock.ts"
import { JobKind, type JobRow } from "./JobQueue.ts"

/** The imports and exports of an account that wait, run, or receive their file. */
const maximumOpenJobs = 100

/** In bytes: the files of the exports of an account, and those of its imports. A single file may be larger. */
const maximumFileBytes = 4 * 1024 * 1024 * 1024

/**
 * The Retry-After of a refusal, in seconds. It is longer than a client waits, so that the client fails at once with the
 * text.
 */
const retryAfter = 120

const fullTexts: Readonly<Record<JobKind, string>> = {
  Import:
    "the files of its imports hold 4 GiB. Wait until some are imported, or cancel them first (roster jobs cancel ID).",
  Export:
    "the files of its exports hold 4 GiB. Each is removed 24 hours after it was requested; request fewer " +
    "contacts, or a Zip file, or wait until the first is removed."
}

/** The files of the account leave no room for a further one. */
export class FilesFull extends TaggedError<FilesFull>()("FilesFull", {
  kind: JobKind
}) {
  override get message(): string {
    return fullTexts[this.kind]
  }
}

const limited = (operation: string, detail: string, seconds: number) =>
  new ServiceError({ operation, reason: new RateLimited({ detail, retryAfter: seconds }) })

/** The `ServiceError` of a request whose file has no room. */
export const filesFull = (operation: string, { message }: FilesFull, seconds = retryAfter) =>
  limited(operation, message, seconds)

/** What the files of one kind take up, and when the first of them expires. */
const kept = Effect.fnUntraced(function* (account: string, kind: JobKind) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<{ readonly bytes: number; readonly expires: number | null }>`
    SELECT coalesce(sum(bytes), 0) AS bytes, min(expires) AS expires FROM jobs
    WHERE account = ${account} AND kind = ${kind} AND bytes > 0`
  return { bytes: Number(row?.bytes ?? 0), expires: Number(row?.expires ?? 0) }
})

/** Refuses a further job of an account that has as many as it may. Runs in the transaction that creates the job. */
export const checkQuota = Effect.fnUntraced(function* (operation: string, account: string, kind: JobKind) {
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
  const { bytes, expires } = yield* kept(account, kind)
  if (bytes < maximumFileBytes) return
  const untilExpiry = kind === "Export" ? expires - (yield* storeClock(sql).seconds) : 0
  return yield* filesFull(operation, new FilesFull({ kind }), Math.max(retryAfter, untilExpiry))
})

/** Adds to the size of a file, in the transaction that writes it. A file beside others may not exceed the bound. */
export const addBytes = Effect.fnUntraced(function* (job: number, bytes: number) {
  const sql = yield* SqlClient.SqlClient
  const [row] = yield* sql<Pick<JobRow, "account" | "kind"> & { readonly bytes: number }>`
    UPDATE jobs SET bytes = bytes + ${bytes} WHERE number = ${job} RETURNING account, kind, bytes`
  if (row === undefined) return
  const { account, kind } = row
  const { bytes: total } = yield* kept(account, kind)
  if (total > maximumFileBytes && total > Number(row.bytes)) return yield* new FilesFull({ kind })
})
