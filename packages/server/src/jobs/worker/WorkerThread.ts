/**
 * Runs the jobs on their own thread, so that requests do not wait for them. `layer` starts, wakes and restarts the
 * thread; `work` runs the same `JobRunner` on it, with its own connection. (docs/decisions/jobs.md)
 */
import { Duration, Effect, Latch, Layer, Redacted, Schedule, Schema } from "effect"
import { Rpc, RpcGroup } from "effect/rpc"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { isMainThread } from "node:worker_threads"
import { leaseSeconds, releaseJobs, requeueJobs } from "../queue/JobQueue.ts"
import { makeLease } from "../../store/ProcessMark.ts"
import { hasWork } from "./JobCleanup.ts"
import * as JobRunner from "./JobRunner.ts"
import { idly } from "../../threads/Background.ts"
import * as RpcThread from "../../threads/RpcThread.ts"
import * as SqliteClient from "../../store/sqlite/SqliteClient.ts"
import * as LockContention from "../../store/sqlite/LockContention.ts"
import { type PostgresOptions, sharedWrites } from "../../store/postgres/PostgresOptions.ts"
import * as PostgresLoading from "../../store/postgres/PostgresLoading.ts"
import type { StoreError } from "../../store/sqlite/StoreError.ts"
import { StorePolicy } from "../../store/StoreOptions.ts"

/** The store of a thread: a file with what its writers share, or a PostgreSQL. */
const ThreadStore = Schema.Union([
  Schema.Struct({ filename: Schema.String, contention: Schema.instanceOf(SharedArrayBuffer) }),
  Schema.Struct({
    url: Schema.String,
    password: Schema.UndefinedOr(Schema.String),
    maxConnections: Schema.UndefinedOr(Schema.Finite),
    /** In milliseconds. */
    acquireTimeout: Schema.UndefinedOr(Schema.Finite),
    statementMillis: Schema.UndefinedOr(Schema.Finite)
  })
])
type ThreadStore = typeof ThreadStore.Type

const WorkerData = Schema.Struct({
  ...RpcThread.LogSettings.fields,
  store: ThreadStore,
  /** The lease of all jobs that the thread holds. */
  lease: Schema.String,
  allowedSenders: Schema.Array(Schema.String),
  allowFileUrl: Schema.Array(Schema.String)
})

/** `Work` runs the jobs of the store until none waits or runs. */
const Calls = RpcGroup.make(Rpc.make("Work"))

/** The time after which the thread ends, with the memory that its jobs left, if there is nothing to do. */
const idleTime = "10 seconds"

/** As long as the leases of a thread that died last, since the database may be away and come back. */
const whileAway = { schedule: Schedule.spaced("1 second"), times: leaseSeconds }

/** Twice what a job takes, so that V8 does not leave more as garbage. */
const maxOldGenerationSizeMb = 192

/** Half as much makes an import into a million contacts a tenth slower. The job gives it back at its end. */
const setCacheSize = "PRAGMA cache_size = -49152"

/** The default file of the thread; `undefined` if this code was bundled into one file, which the thread would run. */
export const defaultEntry = (): URL | undefined => {
  // A bundle of CommonJS does not know where it is.
  const self: string | undefined = import.meta.url
  const entry = URL.parse(self?.endsWith(".ts") ? "./workerEntry.ts" : "./workerEntry.js", self)
  return entry !== null && existsSync(entry) ? entry : undefined
}

/** Where the jobs of a thread are. */
export type StoreOfJobs =
  | { readonly filename: string; readonly contention: LockContention.LockContention }
  | { readonly postgres: PostgresOptions }

/** What a thread is told of its store. Within the process, so that a password stays in it. */
export const toThread = (store: StoreOfJobs): ThreadStore => {
  if ("filename" in store) return { filename: store.filename, contention: store.contention.shared }
  const { acquireTimeout, maxConnections, password, statementMillis, url } = store.postgres
  return {
    url: Redacted.value(url),
    password: password === undefined ? undefined : Redacted.value(password),
    maxConnections,
    acquireTimeout:
      acquireTimeout === undefined ? undefined : Math.min(Duration.toMillis(acquireTimeout), Number.MAX_SAFE_INTEGER),
    statementMillis
  }
}

/** The options of a PostgreSQL as a thread was told them. */
export const fromThread = ({
  password,
  url,
  ...others
}: Exclude<ThreadStore, { filename: string }>): PostgresOptions => ({
  ...others,
  url: Redacted.make(url),
  password: password === undefined ? undefined : Redacted.make(password)
})

/** A `JobRunner` whose jobs run on a thread that starts with the file `entry`. */
export const layer = (options: {
  readonly entry: URL
  readonly store: StoreOfJobs
}): Layer.Layer<JobRunner.JobRunner, never, SqlClient.SqlClient | StorePolicy> =>
  Layer.effect(
    JobRunner.JobRunner,
    Effect.gen(function* () {
      const { entry } = options
      const shared = { ...(yield* StorePolicy), store: toThread(options.store) }
      const sql = yield* SqlClient.SqlClient
      const giveBack = ({ lease }: { readonly lease: string }, hasDied: boolean) =>
        // Those of a thread that was closed before its jobs stopped; those that a thread died of count an attempt.
        (hasDied ? Effect.retry(releaseJobs(lease), whileAway) : requeueJobs(lease)).pipe(
          Effect.ignore,
          Effect.provideService(SqlClient.SqlClient, sql)
        )
      const use = yield* RpcThread.make(
        {
          entry,
          name: "jobs",
          calls: Calls,
          data: Effect.map(makeLease, (lease) => ({ ...shared, lease })),
          maxOldGenerationSizeMb,
          onEnd: giveBack
        },
        idleTime
      )
      const wakeUp = yield* Latch.make(false)
      const wake = Effect.asVoid(wakeUp.open)
      const work = use(({ client }) => client.Work())
      const look = Effect.gen(function* () {
        yield* wakeUp.close
        if (yield* hasWork) yield* Effect.raceFirst(work, wakeUp.await)
      }).pipe(
        // The thread logs why it ended.
        Effect.catchTag("RpcClientError", () => Effect.andThen(Effect.sleep("1 second"), wake)),
        Effect.catchCause(JobRunner.logUnreadable)
      )
      yield* JobRunner.removingTemporaryFiles
      yield* look.pipe(
        Effect.andThen(idly(Effect.timeoutOption(wakeUp.await, JobRunner.pollInterval))),
        Effect.forever,
        Effect.forkScoped
      )
      return JobRunner.JobRunner.of({ wake, settled: Effect.void })
    })
  )

const prepareConnection = (database: DatabaseSync): void => {
  database.exec(setCacheSize)
}

/** The tables of a store, which the service has migrated, and how its writers share them. */
const storeOf = (store: ThreadStore): Layer.Layer<SqlClient.SqlClient, StoreError> => {
  if ("filename" in store) {
    const contention = LockContention.make(store.contention)
    return Layer.merge(
      Layer.succeed(LockContention.WriteFairness, LockContention.fairnessOf(contention)),
      SqliteClient.layer({ filename: store.filename, prepare: prepareConnection, contention })
    )
  }
  return Layer.merge(sharedWrites, PostgresLoading.layer(fromThread(store)))
}

const handlers = Calls.toLayer(
  Effect.map(JobRunner.JobRunner, ({ settled, wake }) => ({ Work: () => Effect.andThen(wake, settled) }))
)

/** Does the work of a thread until the service closes it; a program bundled into one file calls it there. */
export const work = (workerData: unknown): void => {
  if (isMainThread) throw new TypeError("WorkerThread.work runs only on a thread of WorkerThread.layer")
  const data = Schema.decodeUnknownSync(WorkerData)(workerData)
  const { allowedSenders, allowFileUrl } = data
  const runner = JobRunner.layer({ lease: data.lease, isAwaited: true }).pipe(
    Layer.provide(Layer.succeed(StorePolicy, { allowedSenders, allowFileUrl })),
    Layer.provide(storeOf(data.store))
  )
  RpcThread.run(data, Calls, Layer.provide(handlers, runner))
}
