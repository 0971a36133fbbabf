/**
 * Runs the jobs on their own thread, so that requests do not wait for them. `layer` starts, wakes and restarts the
 * thread; `work` runs the same `JobRunner` on it, with its own connection. (docs/decisions/jobs.md)
 */
import { loggedCause, TraceSubjects } from "@roster/domain"
import { Cause, Effect, Exit, Layer, Logger, LogLevel, type Option, References, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { isMainThread, parentPort, Worker } from "node:worker_threads"
import { freeJobs, giveBackJobs } from "../queue/JobQueue.ts"
import { makeLease } from "../../store/ProcessMark.ts"
import * as JobRunner from "./JobRunner.ts"
import * as SqliteClient from "../../store/sqlite/SqliteClient.ts"
import { registerFunctions } from "../../store/sqlite/SqliteFunctions.ts"
import * as LockContention from "../../store/sqlite/LockContention.ts"
import { StorePolicy } from "../../store/StoreOptions.ts"

const WorkerData = Schema.Struct({
  filename: Schema.String,
  /** Of all jobs that the thread holds. */
  lease: Schema.String,
  allowedSenders: Schema.Array(Schema.String),
  allowFileUrl: Schema.Array(Schema.String),
  contention: Schema.instanceOf(SharedArrayBuffer),
  logLevel: Schema.Literals(LogLevel.values),
  traceSubjects: Schema.Boolean
})

/** A message to the thread. */
type Command = "wake" | "close"

/** A message of the thread: an entry of its log. */
interface LogEntry {
  readonly level: LogLevel.Severity
  readonly text: string
}

const ownEntry = new URL(import.meta.url.endsWith(".ts") ? "./workerEntry.ts" : "./workerEntry.js", import.meta.url)

/** The default file of the thread; `undefined` if this code was bundled into one file, which the thread would run. */
export const defaultEntry = (): URL | undefined => (existsSync(ownEntry) ? ownEntry : undefined)

/** Objects of a job are short-lived: a larger young generation would only hold more of them. */
const resourceLimits = { maxYoungGenerationSizeMb: 16 }

/** Timeout for a thread to stop its job, as for requests in progress. */
const closeTimeout = "10 seconds"

// The rule knows the workers of browsers, whose messages have a target.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const post = (worker: Worker, command: Command) => worker.postMessage(command)

/** A `JobRunner` whose jobs run on a thread that starts with the file `entry`. */
export const layer = (options: {
  readonly entry: URL
  readonly filename: string
  readonly contention: LockContention.LockContention
}): Layer.Layer<JobRunner.JobRunner, never, SqlClient.SqlClient | StorePolicy> =>
  Layer.effect(
    JobRunner.JobRunner,
    Effect.gen(function* () {
      const { contention, entry, filename } = options
      const policy = yield* StorePolicy
      const logLevel = yield* References.MinimumLogLevel
      const traceSubjects = yield* TraceSubjects
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      let current: Worker | undefined

      const start = (lease: string) =>
        Effect.sync(() => {
          const shared = { filename, lease, logLevel, traceSubjects, contention: contention.shared }
          const workerData: typeof WorkerData.Type = { ...policy, ...shared }
          const worker = new Worker(entry, { name: "roster jobs", workerData, resourceLimits })
          const ended = new Promise<unknown>((resolve) => {
            let cause: unknown
            worker.on("error", (error) => {
              cause = error
            })
            // A log shows only the code of a defect.
            worker.on("exit", (code) =>
              resolve(cause ?? Object.assign(new Error("It ended."), { code: `EXIT_${code}` }))
            )
          })
          worker.on("message", ({ level, text }: LogEntry) => runFork(Effect.logWithLevel(level)(text)))
          current = worker
          return { worker, ended: Effect.promise(() => ended) }
        })

      const close = ({ ended, worker }: Effect.Success<ReturnType<typeof start>>) =>
        Effect.sync(() => post(worker, "close")).pipe(
          Effect.andThen(Effect.timeoutOption(ended, closeTimeout)),
          Effect.tap((inTime: Option.Option<unknown>) =>
            inTime._tag === "Some" ? Effect.void : Effect.promise(() => worker.terminate())
          )
        )

      const thread = Effect.suspend(() => {
        const lease = makeLease()
        const logEnd = (cause: unknown) =>
          Effect.flatMap(loggedCause(Cause.die(cause)), (cause) =>
            Effect.logError("the thread of the jobs ended and will be restarted", cause)
          )
        const died = (cause: unknown) => Effect.andThen(logEnd(cause), Effect.ignore(freeJobs(lease)))
        return Effect.acquireUseRelease(start(lease), ({ ended }) => Effect.flatMap(ended, died), close).pipe(
          // Those of a thread that was closed before its jobs stopped.
          Effect.ensuring(Effect.ignore(giveBackJobs(lease))),
          // The system may have no thread to give.
          Effect.catchDefect((cause) => Effect.logError("the thread of the jobs could not be started", cause))
        )
      })
      yield* thread.pipe(Effect.andThen(Effect.sleep("1 second")), Effect.forever, Effect.forkScoped)

      return JobRunner.JobRunner.of({
        wake: Effect.sync(() => {
          if (current !== undefined) post(current, "wake")
        })
      })
    })
  )

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : Cause.pretty(Cause.isCause(value) ? value : Cause.fail(value))

const port = parentPort

/** Sends each entry of the log to the service. */
const logger = Logger.make(({ cause, logLevel, message }) => {
  const parts = [message, ...(cause.reasons.length === 0 ? [] : [cause])].flat()
  // `All` and `None` are bounds, not levels.
  const level = logLevel === "All" || logLevel === "None" ? "Info" : logLevel
  port?.postMessage({ level, text: parts.map(textOf).join("\n") } satisfies LogEntry)
})

/** Runs jobs on a worker thread until the service closes it; a program bundled into one file calls it there. */
export const work = (workerData: unknown): void => {
  if (isMainThread || port === null)
    throw new TypeError("WorkerThread.work runs only on a thread of WorkerThread.layer")
  const data = Schema.decodeUnknownSync(WorkerData)(workerData)
  const { allowedSenders, allowFileUrl } = data
  const contention = LockContention.make(data.contention)
  const runner = JobRunner.layer(data.lease).pipe(
    Layer.provide(Layer.succeed(LockContention.WriteFairness, LockContention.fairnessOf(contention))),
    Layer.provide(Layer.succeed(StorePolicy, { allowedSenders, allowFileUrl })),
    Layer.provide(SqliteClient.layer({ filename: data.filename, prepare: registerFunctions, contention })),
    Layer.provide(Logger.layer([logger])),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, data.logLevel)),
    Layer.provide(Layer.succeed(TraceSubjects, data.traceSubjects))
  )
  const program = Effect.gen(function* () {
    const jobs = yield* JobRunner.JobRunner
    const runFork = Effect.runForkWith(yield* Effect.context<never>())
    yield* Effect.callback<void>((resume) => {
      port.on("message", (command: Command) => {
        if (command === "close") resume(Effect.void)
        else runFork(jobs.wake)
      })
    })
  })
  Effect.runFork(Effect.provide(program, runner)).addObserver((exit) => {
    // Messages still in the queue go out before the thread ends.
    port.close()
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  })
}
