/**
 * The inside of the thread of jobs: a connection of its own on the file of the store, and the very `JobRunner` that works on
 * the thread of a program elsewhere. `JobThread` is the outside.
 */
import { TraceSubjects } from "@roster/domain"
import { Cause, Effect, Exit, Layer, Logger, LogLevel, References, Schema } from "effect"
import { isMainThread, parentPort } from "node:worker_threads"
import * as JobRunner from "./JobRunner.ts"
import * as SqliteClient from "../../store/sqlite/SqliteClient.ts"
import { registerFunctions } from "../../store/sqlite/SqliteFunctions.ts"
import * as LockContention from "../../store/sqlite/LockContention.ts"
import { StorePolicy } from "../../store/StoreOptions.ts"
import { fromSignals, WriteFairness } from "../../store/WriteFairness.ts"

/** What a thread is given when it begins. */
export const JobWorkerData = Schema.Struct({
  filename: Schema.String,
  /** By which it holds its jobs. */
  lease: Schema.String,
  allowedSenders: Schema.Array(Schema.String),
  allowFileUrl: Schema.Array(Schema.String),
  signals: Schema.instanceOf(SharedArrayBuffer),
  logLevel: Schema.Literals(LogLevel.values),
  traceSubjects: Schema.Boolean
})

/** What a thread is told. */
export type JobWorkerRequest = "wake" | "close"

/** What a thread tells: an entry of the log, which its program writes. */
export interface JobWorkerEntry {
  readonly level: LogLevel.Severity
  readonly text: string
}

const decode = Schema.decodeUnknownSync(JobWorkerData)

const port = parentPort

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : Cause.pretty(Cause.isCause(value) ? value : Cause.fail(value))

const logger = Logger.make(({ cause, logLevel, message }) => {
  const parts = [message, ...(cause.reasons.length === 0 ? [] : [cause])].flat()
  // `All` and `None` are bounds and no levels of an entry.
  const level = logLevel === "All" || logLevel === "None" ? "Info" : logLevel
  port?.postMessage({ level, text: parts.map(textOf).join("\n") } satisfies JobWorkerEntry)
})

/**
 * Works on the jobs of the store that the thread was given, until it is told to close. A program that is bundled into one
 * file calls it with its `workerData` when it runs on another thread than the main one.
 */
export const work = (workerData: unknown): void => {
  if (isMainThread || port === null) throw new TypeError("jobs are worked on by a thread that JobThread began")
  const { allowedSenders, allowFileUrl, filename, lease, logLevel, signals, traceSubjects } = decode(workerData)
  const requests = port
  const shared = LockContention.make(signals)
  const layer = JobRunner.layer(lease).pipe(
    Layer.provide(Layer.succeed(WriteFairness, fromSignals(shared))),
    Layer.provide(Layer.succeed(StorePolicy, { allowedSenders, allowFileUrl })),
    Layer.provide(SqliteClient.layer({ filename, prepare: registerFunctions, signals: shared })),
    Layer.provide(Logger.layer([logger])),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, logLevel)),
    Layer.provide(Layer.succeed(TraceSubjects, traceSubjects))
  )
  const program = Effect.gen(function* () {
    const jobs = yield* JobRunner.JobRunner
    const runFork = Effect.runForkWith(yield* Effect.context<never>())
    yield* Effect.callback<void>((resume) => {
      requests.on("message", (request: JobWorkerRequest) => {
        if (request === "close") resume(Effect.void)
        else runFork(jobs.wake)
      })
    })
  })
  Effect.runFork(Effect.provide(program, layer)).addObserver((exit) => {
    // What is left of the queue of messages goes out before the thread ends.
    requests.close()
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  })
}
