/** Lists and cancels the imports and exports of a store, for its owner. (docs/decisions/jobs.md) */
import {
  FileHeader,
  fnRedacted,
  type KeptStatusRow,
  redactStreamSpans,
  rejectedFile,
  type ServiceError
} from "@roster/domain"
import { Context, Effect, Layer, Option, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { Caller } from "../../credentials/Caller.ts"
import type { JobRow } from "../queue/JobQueue.ts"
import { removeParts } from "../queue/JobBlobs.ts"
import { jobKinds, kindsWithFile } from "./JobKinds.ts"
import { type Job, JobEnded, JobNotFound } from "./JobRecord.ts"
import { readKeptStatuses, readRejections } from "../imports/KeptRows.ts"
import { isOrphaned } from "../../store/ProcessMark.ts"
import { lastOfFullPage } from "../../store/SqlDialect.ts"
import { orStoreFailure } from "../../store/StoreFailure.ts"
import { fromSeconds, storeClock } from "../../store/StoreClock.ts"

/** The jobs of a store. */
export class Jobs extends Context.Service<
  Jobs,
  {
    /** The jobs of the account, newest first. */
    readonly list: (options?: { readonly limit?: number | undefined }) => Stream.Stream<Job, ServiceError>
    /** One job by its id. */
    readonly get: (id: string) => Effect.Effect<Job, JobNotFound | ServiceError>
    /**
     * Cancels an unfinished job at its next step, or ends the link of a ready export. Imported contacts stay; the file of an
     * export is removed.
     */
    readonly cancel: (id: string) => Effect.Effect<Job, JobNotFound | JobEnded | ServiceError>
    /** The rows that an import rejected, as CSV with reasons in the column `_error`, to correct and import again. */
    readonly rejectedRows: (id: string) => Stream.Stream<Uint8Array, JobNotFound | ServiceError>
    /** The first 1000 rows of an import whose contacts kept their status, in the order of the file. */
    readonly keptStatuses: (id: string) => Effect.Effect<ReadonlyArray<KeptStatusRow>, JobNotFound | ServiceError>
  }
>()("@roster/server/Jobs") {}

/** Rows are read in pages, since an open stream holds back the checkpoints of the store. */
const pageSize = 500

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

const make = Effect.map(SqlClient.SqlClient, (sql) => {
  const { seconds } = storeClock(sql)
  const find = Effect.fnUntraced(function* (id: string) {
    const { account } = yield* Caller
    const [row] = yield* sql<JobRow>`SELECT * FROM jobs WHERE id = ${id.toLowerCase()} AND account = ${account}`
    return row ?? (yield* new JobNotFound({ id }))
  })

  const page = fnRedacted("Jobs.list")(function* (account: string, below: number | undefined, size: number) {
    const now = yield* seconds
    const rows = yield* sql<JobRow>`
      SELECT * FROM jobs WHERE account = ${account} AND ${below === undefined ? sql`1 = 1` : sql`number < ${below}`}
      ORDER BY number DESC LIMIT ${size}`
    return [rows.map((row) => toJob(row, now)), Option.map(lastOfFullPage(rows, size), ({ number }) => number)] as const
  }, orStoreFailure("jobsList"))

  const list: Jobs["Service"]["list"] = ({ limit = Number.POSITIVE_INFINITY } = {}) =>
    Stream.unwrap(
      Effect.map(Caller, ({ account }) =>
        Stream.paginate(undefined, (below: number | undefined) => page(account, below, Math.min(pageSize, limit)))
      )
    ).pipe(Stream.take(limit))

  const get = fnRedacted("Jobs.get")(function* (id: string) {
    return toJob(yield* find(id), yield* seconds)
  }, orStoreFailure("jobsGet"))

  const cancel = fnRedacted("Jobs.cancel")(function* (id: string) {
    const { account } = yield* Caller
    const now = yield* seconds
    // The worker commits a step only while the job is `Loading`.
    const cancelled = Effect.gen(function* () {
      const [row] = yield* sql<JobRow>`
        UPDATE jobs SET state = 'Cancelled', ended = ${now}, leased_until = 0
        WHERE id = ${id.toLowerCase()} AND account = ${account}
          AND (state IN ('Receiving', 'Loading') OR ${sql.in("kind", kindsWithFile)} AND state = 'Ready' AND expires > ${now}) RETURNING *`
      if (row !== undefined) yield* removeParts(row.number)
      return row
    })
    const row = yield* Effect.provideService(sql.withTransaction(cancelled), SqlClient.SqlClient, sql)
    if (row !== undefined) return toJob(row, now)
    const { state } = toJob(yield* find(id), now)
    return yield* new JobEnded({ id, state })
  }, orStoreFailure("jobsCancel"))

  const rejectedRows: Jobs["Service"]["rejectedRows"] = (id) =>
    find(id).pipe(
      Effect.map(({ header, number }) =>
        header === null ? Stream.empty : rejectedFile(decodeHeader(header), readRejections(sql, number))
      ),
      Stream.unwrap,
      Stream.catchTag("SqlError", (error) => Stream.fromEffect(orStoreFailure("jobsRejectedRows")(Effect.fail(error)))),
      redactStreamSpans
    )

  const keptStatuses = fnRedacted("Jobs.keptStatuses")(function* (id: string) {
    return yield* readKeptStatuses(sql, (yield* find(id)).number)
  }, orStoreFailure("jobsKeptStatuses"))

  return Jobs.of({ list, get, cancel, rejectedRows, keptStatuses })
})

/** Provides the jobs of a store. */
export const layer: Layer.Layer<Jobs, never, SqlClient.SqlClient> = Layer.effect(Jobs, make)
