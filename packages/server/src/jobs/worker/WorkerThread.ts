/**
 * Runs the jobs on their own thread, so that requests do not wait for them. `layer` starts, wakes and restarts the
 * thread; `work` runs the same `JobRunner` on it, with its own connection. (docs/decisions/jobs.md)
 */
import { loggedCause } from "@roster/domain"
import { Cause, Effect, Layer, Redacted, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { existsSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { isMainThread } from "node:worker_threads"
import { releaseJobs, requeueJobs } from "../queue/JobQueue.ts"
import { makeLease } from "../../store/ProcessMark.ts"
import * as JobRunner from "./JobRunner.ts"
import * as RuleThread from "../../contacts/RuleThread.ts"
import * as Thread from "../../threads/Thread.ts"
import { dialect } from "../../store/SqlDialect.ts"
import * as SqliteClient from "../../store/sqlite/SqliteClient.ts"
import { registerFunctions } from "../../store/sqlite/SqliteFunctions.ts"
import * as LockContention from "../../store/sqlite/LockContention.ts"
import { jobConnections, type PostgresOptions, sharedWrites } from "../../store/postgres/PostgresOptions.ts"
import type { StoreError } from "../../store/sqlite/StoreError.ts"
import { StorePolicy } from "../../store/StoreOptions.ts"

/** The store of a thread: a file with what its writers share, or a PostgreSQL. */
const ThreadStore = Schema.Union([
  Schema.Struct({ filename: Schema.String, contention: Schema.instanceOf(SharedArrayBuffer) }),
  Schema.Struct({
    url: Schema.String,
    password: Schema.UndefinedOr(Schema.String),
    statementMillis: Schema.UndefinedOr(Schema.Finite)
  })
])
type ThreadStore = typeof ThreadStore.Type

const WorkerData = Schema.Struct({
  ...Thread.LogSettings.fields,
  store: ThreadStore,
  /** The lease of all jobs that the thread holds. */
  lease: Schema.String,
  allowedSenders: Schema.Array(Schema.String),
  allowFileUrl: Schema.Array(Schema.String)
})

/** Twice what a job takes, so that V8 does not leave more as garbage. */
const maxOldGenerationSizeMb = 192

/** Half as much makes an import into a million contacts a tenth slower. The job gives it back at its end. */
const setCacheSize = "PRAGMA cache_size = -49152"

const ownEntry = new URL(import.meta.url.endsWith(".ts") ? "./workerEntry.ts" : "./workerEntry.js", import.meta.url)

/** The default file of the thread; `undefined` if this code was bundled into one file, which the thread would run. */
export const defaultEntry = (): URL | undefined => (existsSync(ownEntry) ? ownEntry : undefined)

/** Where the jobs of a thread are. */
export type StoreOfJobs =
  | { readonly filename: string; readonly contention: LockContention.LockContention }
  | { readonly postgres: PostgresOptions }

/** What a thread is told of its store. Within the process, so that a password stays in it. */
const toThread = (store: StoreOfJobs): ThreadStore => {
  if ("filename" in store) return { filename: store.filename, contention: store.contention.shared }
  const { password, statementMillis, url } = store.postgres
  return {
    url: Redacted.value(url),
    password: password === undefined ? undefined : Redacted.value(password),
    statementMillis
  }
}

/** A `JobRunner` whose jobs run on a thread that starts with the file `entry`. */
export const layer = (options: {
  readonly entry: URL
  readonly store: StoreOfJobs
}): Layer.Layer<JobRunner.JobRunner, never, SqlClient.SqlClient | StorePolicy> =>
  Layer.effect(
    JobRunner.JobRunner,
    Effect.gen(function* () {
      const { entry } = options
      const store = toThread(options.store)
      const policy = yield* StorePolicy
      const log = yield* Thread.logSettings
      let current: Thread.Thread | undefined

      const start = Effect.fnUntraced(function* (lease: string) {
        const workerData: typeof WorkerData.Type = { ...policy, ...log, store, lease }
        current = yield* Thread.start({ entry, name: "roster jobs", workerData, limits: { maxOldGenerationSizeMb } })
        return current
      })

      const thread = Effect.suspend(() => {
        const lease = makeLease()
        const logEnd = (cause: unknown) =>
          Effect.flatMap(loggedCause(Cause.die(cause)), (cause) =>
            Effect.logError("the thread of the jobs ended and will be restarted", cause)
          )
        const died = (cause: unknown) => Effect.andThen(logEnd(cause), Effect.ignore(releaseJobs(lease)))
        return Effect.acquireUseRelease(
          start(lease),
          ({ ended }) => Effect.flatMap(ended, died),
          ({ close }) => close
        ).pipe(
          // Those of a thread that was closed before its jobs stopped.
          Effect.ensuring(Effect.ignore(requeueJobs(lease))),
          // The system may have no thread to give.
          Effect.catchDefect((cause) => Effect.logError("the thread of the jobs could not be started", cause))
        )
      })
      yield* thread.pipe(Effect.andThen(Effect.sleep("1 second")), Effect.forever, Effect.forkScoped)

      return JobRunner.JobRunner.of({
        wake: Effect.sync(() => current?.post("wake")),
        settled: Effect.void
      })
    })
  )

const prepareConnection = (database: DatabaseSync): void => {
  registerFunctions(database)
  database.exec(setCacheSize)
}

/** The tables of a store, which the service has migrated, and how its writers share them. */
const storeOf = (store: ThreadStore): Layer.Layer<SqlClient.SqlClient, SqlError.SqlError | StoreError> => {
  if ("filename" in store) {
    const contention = LockContention.make(store.contention)
    return Layer.merge(
      Layer.succeed(LockContention.WriteFairness, LockContention.fairnessOf(contention)),
      SqliteClient.layer({ filename: store.filename, prepare: prepareConnection, contention })
    )
  }
  const { password, statementMillis, url } = store
  const options: PostgresOptions = {
    url: Redacted.make(url),
    password: password === undefined ? undefined : Redacted.make(password),
    statementMillis,
    maxConnections: jobConnections
  }
  // Threads on files do not load it.
  const client = Effect.map(
    Effect.promise(() => import("../../store/postgres/PostgresClient.ts")),
    ({ layer }) => layer(options)
  )
  return Layer.merge(sharedWrites, Layer.unwrap(client))
}

/** Frees the memory that a job leaves: pages of the store, and garbage. */
const makeFree = (): Effect.Effect<void, never, SqlClient.SqlClient> => {
  const collect = Thread.makeCollect()
  return SqlClient.SqlClient.pipe(
    Effect.flatMap((sql) => dialect(sql).freeCache),
    Effect.ignore,
    Effect.andThen(Effect.sync(collect))
  )
}

/** Does the work of a thread until the service closes it; a program bundled into one file calls it there. */
export const work = (workerData: unknown): void => {
  if (isMainThread) throw new TypeError("WorkerThread.work runs only on a thread of WorkerThread.layer")
  if (RuleThread.isRuleData(workerData)) return RuleThread.work(workerData)
  const data = Schema.decodeUnknownSync(WorkerData)(workerData)
  const { allowedSenders, allowFileUrl } = data
  const runner = JobRunner.layer({ lease: data.lease, afterJob: makeFree() }).pipe(
    Layer.provide(Layer.succeed(StorePolicy, { allowedSenders, allowFileUrl })),
    Layer.provide(storeOf(data.store))
  )
  Thread.run(
    data,
    Effect.map(
      JobRunner.JobRunner,
      ({ wake }) =>
        () =>
          wake
    ),
    runner
  )
}
