/**
 * Runs the jobs on their own thread, so that requests do not wait for them. `layer` starts, wakes and restarts the
 * thread; `work` runs the same `JobRunner` on it, with its own connection. (docs/decisions/jobs.md)
 */
import { TraceSubjects } from "@roster/domain"
import { loggedCause } from "@roster/domain/internal"
import {
  Cause,
  type Context,
  Data,
  Deferred,
  Duration,
  Effect,
  Exit,
  Latch,
  Layer,
  Logger,
  LogLevel,
  RcRef,
  Redacted,
  References,
  Schedule,
  Schema
} from "effect"
import { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { isMainThread, MessageChannel, MessagePort, parentPort, Worker } from "node:worker_threads"
import { leaseSeconds, releaseJobs, requeueJobs } from "../queue/JobQueue.ts"
import { makeLease } from "../../store/ProcessMark.ts"
import { hasWork } from "./JobCleanup.ts"
import * as JobRunner from "./JobRunner.ts"
import { idly } from "../../threads/Background.ts"
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
  logLevel: Schema.Literals(LogLevel.values),
  traceSubjects: Schema.Boolean,
  /** Takes the entries of its log. */
  log: Schema.instanceOf(MessagePort),
  store: ThreadStore,
  /** The lease of all jobs that the thread holds. */
  lease: Schema.String,
  allowedSenders: Schema.Array(Schema.String),
  allowFileUrl: Schema.Array(Schema.String)
})

/** What the service tells the thread: to run the jobs of the store until none waits or runs, and to end. */
type Order = "wake" | "stop"

/** An entry of the log of a thread. */
interface LogEntry {
  readonly level: LogLevel.Severity
  readonly text: string
}

/** The time after which the thread ends, with the memory that its jobs left, if there is nothing to do. */
const idleTime = "10 seconds"

/** As long as the leases of a thread that died last, since the database may be away and come back. */
const whileAway = { schedule: Schedule.spaced("1 second"), times: leaseSeconds }

/** Twice what a job takes, so that V8 does not leave more as garbage. */
const maxOldGenerationSizeMb = 192

/** The time in which the jobs of a thread have to stop. Otherwise it is terminated. */
const stopTime = "5 seconds"

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

/** The thread could not be started, or has ended. */
class ThreadFailed extends Data.TaggedError("ThreadFailed")<{ readonly cause: unknown }> {}

/** Starts a thread, and gives what wakes it and waits until it is idle or has ended. */
const start = Effect.fnUntraced(function* (entry: URL, store: ThreadStore, onDeath: Effect.Effect<void>) {
  const sql = yield* SqlClient.SqlClient
  const lease = yield* makeLease
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const { port1, port2: log } = new MessageChannel()
  const settings = { logLevel: yield* References.MinimumLogLevel, traceSubjects: yield* TraceSubjects, log }
  const workerData: typeof WorkerData.Type = { ...settings, ...(yield* StorePolicy), store, lease }
  const worker = yield* Effect.try({
    try: () =>
      new Worker(entry, {
        name: "roster jobs",
        workerData,
        transferList: [log],
        resourceLimits: { maxOldGenerationSizeMb }
      }),
    catch: (cause) => new ThreadFailed({ cause })
  }).pipe(Effect.tapError(({ cause }) => Effect.logError("the thread of the jobs could not be started", cause)))
  // Only `logger` posts there.
  port1.on("message", ({ level, text }: LogEntry) => runFork(Effect.logWithLevel(level)(text)))
  port1.unref()
  const idle = yield* Latch.make(false)
  const ended = yield* Deferred.make<void>()
  let isStopped = false
  let hasDied = false
  const died = (cause: unknown) => {
    if (isStopped || hasDied) return
    hasDied = true
    const logged = Effect.flatMap(loggedCause(Cause.die(cause)), (cause) =>
      Effect.logError("the thread of the jobs ended and will be restarted", cause)
    )
    runFork(Effect.andThen(onDeath, logged))
  }
  worker.on("message", () => idle.openUnsafe())
  worker.on("error", died)
  worker.on("exit", (code) => {
    // A log shows only the code of a defect.
    died(Object.assign(new Error("It ended."), { code: `EXIT_${code}` }))
    Deferred.doneUnsafe(ended, Exit.void)
  })
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that of browsers has one
  const order = (order: Order) => Effect.sync(() => worker.postMessage(order))
  yield* Effect.addFinalizer(() =>
    Effect.gen(function* () {
      isStopped = true
      yield* order("stop")
      yield* Effect.timeoutOrElse(Deferred.await(ended), {
        duration: stopTime,
        orElse: () => Effect.promise(() => worker.terminate())
      })
      // Those of a thread that was closed before its jobs stopped; those that a thread died of count an attempt.
      const giveBack = hasDied ? Effect.retry(releaseJobs(lease), whileAway) : requeueJobs(lease)
      yield* Effect.ignore(Effect.provideService(giveBack, SqlClient.SqlClient, sql))
    })
  )
  const failed = Effect.andThen(Deferred.await(ended), new ThreadFailed({ cause: "it has ended" }))
  return { work: Effect.all([idle.close, order("wake"), Effect.raceFirst(idle.await, failed)], { discard: true }) }
})

/** A `JobRunner` whose jobs run on a thread that starts with the file `entry`. */
export const layer = (options: {
  readonly entry: URL
  readonly store: StoreOfJobs
}): Layer.Layer<JobRunner.JobRunner, never, SqlClient.SqlClient | StorePolicy> =>
  Layer.effect(
    JobRunner.JobRunner,
    Effect.gen(function* () {
      const { entry, store } = options
      type Thread = Effect.Success<ReturnType<typeof start>>
      const thread: RcRef.RcRef<Thread, ThreadFailed> = yield* RcRef.make({
        acquire: start(
          entry,
          toThread(store),
          Effect.suspend(() => RcRef.invalidate(thread))
        ),
        idleTimeToLive: idleTime
      })
      const wakeUp = yield* Latch.make(false)
      const wake = Effect.asVoid(wakeUp.open)
      // The thread logs why it ended.
      const work = Effect.scoped(Effect.flatMap(RcRef.get(thread), ({ work }) => work)).pipe(
        Effect.catch(() => Effect.andThen(Effect.sleep("1 second"), wake))
      )
      const look = Effect.gen(function* () {
        yield* wakeUp.close
        if (yield* hasWork) yield* Effect.raceFirst(work, wakeUp.await)
      }).pipe(Effect.catchCause(JobRunner.logUnreadable))
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

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : Cause.pretty(Cause.isCause(value) ? value : Cause.fail(value))

/** Sends each entry of the log of a thread to its service. */
const logger = (log: MessagePort) =>
  Logger.make(({ cause, logLevel, message }) => {
    const parts = [message, ...(cause.reasons.length === 0 ? [] : [cause])].flat()
    // `All` and `None` are bounds, not levels.
    const level = logLevel === "All" || logLevel === "None" ? "Info" : logLevel
    const entry: LogEntry = { level, text: parts.map(textOf).join("\n") }
    // The rule knows the workers of browsers, whose messages have a target.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    log.postMessage(entry)
  })

/** Does the work of a thread until the service stops it; a program bundled into one file calls it there. */
export const work = (workerData: unknown): void => {
  if (isMainThread || parentPort === null)
    throw new TypeError("WorkerThread.work runs only on a thread of WorkerThread.layer")
  const port = parentPort
  const data = Schema.decodeUnknownSync(WorkerData)(workerData)
  const { allowedSenders, allowFileUrl, logLevel, traceSubjects } = data
  const runner = JobRunner.layer({ lease: data.lease, isAwaited: true }).pipe(
    Layer.provide(Layer.succeed(StorePolicy, { allowedSenders, allowFileUrl })),
    Layer.provide(storeOf(data.store)),
    Layer.provide(Logger.layer([logger(data.log)])),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, logLevel)),
    Layer.provide(Layer.succeed(TraceSubjects, traceSubjects))
  )
  const program = Effect.flatMap(JobRunner.JobRunner, ({ settled, wake }) => {
    const run = Effect.andThen(
      Effect.andThen(wake, settled),
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      Effect.sync(() => port.postMessage("idle"))
    )
    return Effect.contextWith((context: Context.Context<never>) =>
      Effect.callback<void>((resume) => {
        const runFork = Effect.runForkWith(context)
        port.on("message", (order: Order) => (order === "stop" ? resume(Effect.void) : runFork(run)))
      })
    )
  })
  Effect.runFork(Effect.provide(program, runner)).addObserver((exit) => {
    // The port of a thread of Deno has no `close`.
    if (Reflect.has(port, "close")) port.close()
    else port.unref()
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  })
}
