/** A worker thread of a store: how it starts, logs and ends. */
import { TraceSubjects } from "@roster/domain"
import { Cause, Effect, Exit, Layer, Logger, LogLevel, Option, Predicate, References, Schema } from "effect"
import { setFlagsFromString } from "node:v8"
import { runInNewContext } from "node:vm"
import { parentPort, type ResourceLimits, Worker } from "node:worker_threads"

/** What every thread is told about its log. */
export const LogSettings = Schema.Struct({ logLevel: Schema.Literals(LogLevel.values), traceSubjects: Schema.Boolean })

/** The settings of the log of this fiber. */
export const logSettings: Effect.Effect<typeof LogSettings.Type> = Effect.gen(function* () {
  return { logLevel: yield* References.MinimumLogLevel, traceSubjects: yield* TraceSubjects }
})

/** A message of a thread: an entry of its log. */
interface LogEntry {
  readonly level: LogLevel.Severity
  readonly text: string
}

// Only the threads of this package post messages here, and only the log has a level.
const isLogEntry = (message: unknown): message is LogEntry => Predicate.hasProperty(message, "level")

/** The last message to a thread. */
const closeCommand = "close"

/** Objects of a job are short-lived: a larger young generation would only hold more of them. */
const resourceLimits = { maxYoungGenerationSizeMb: 16 }

/** Timeout for a thread to stop its work, as for requests in progress. */
const closeTimeout = "10 seconds"

/** A thread that runs. */
export interface Thread {
  readonly post: (message: unknown, moved?: Array<ArrayBuffer>) => void
  /** Waits for its end, and tells why it ended. */
  readonly ended: Effect.Effect<unknown>
  readonly terminate: Effect.Effect<void>
  /** Lets it stop its work first. */
  readonly close: Effect.Effect<void>
}

/** Starts a thread with a file; a defect if the system has none to give. */
export const start = Effect.fnUntraced(function* (options: {
  readonly entry: URL
  readonly name: string
  readonly workerData: unknown
  readonly onMessage?: (message: unknown) => void
  readonly limits?: ResourceLimits
}) {
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const { entry, limits, name, onMessage, workerData } = options
  const worker = new Worker(entry, { name, workerData, resourceLimits: { ...resourceLimits, ...limits } })
  const end = new Promise<unknown>((resolve) => {
    let cause: unknown
    worker.on("error", (error) => {
      cause = error
    })
    // A log shows only the code of a defect.
    worker.on("exit", (code) => resolve(cause ?? Object.assign(new Error("It ended."), { code: `EXIT_${code}` })))
  })
  worker.on("message", (message: unknown) => {
    if (isLogEntry(message)) runFork(Effect.logWithLevel(message.level)(message.text))
    else onMessage?.(message)
  })
  const ended = Effect.promise(() => end)
  const terminate = Effect.promise(() => worker.terminate())
  // The rule knows the workers of browsers, whose messages have a target.
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  const post: Thread["post"] = (message, moved = []) => worker.postMessage(message, moved)
  const thread: Thread = {
    post,
    ended,
    terminate,
    close: Effect.sync(() => post(closeCommand)).pipe(
      Effect.andThen(Effect.timeoutOption(ended, closeTimeout)),
      Effect.flatMap((inTime) => (Option.isSome(inTime) ? Effect.void : terminate))
    )
  }
  return thread
})

const textOf = (value: unknown): string =>
  typeof value === "string" ? value : Cause.pretty(Cause.isCause(value) ? value : Cause.fail(value))

const port = parentPort

/** Posts a message from a thread to its service, with what moves along. */
export const post = (message: unknown, moved: Array<ArrayBuffer> = []): void =>
  // oxlint-disable-next-line unicorn/require-post-message-target-origin
  port?.postMessage(message, moved)

/** Gives the pages that it empties back to the system, which V8 would pool for 8 seconds. */
const lastResort = { type: "major", execution: "sync", flavor: "last-resort" }

/**
 * The garbage collection of this thread. V8 would leave some 100 MiB of garbage to an idle thread. Bun, which has no V8,
 * knows no such flag.
 */
export const makeCollect = (): (() => void) => {
  setFlagsFromString("--expose-gc")
  const collect: unknown = runInNewContext("globalThis.gc")
  return () => void (Predicate.isFunction(collect) && collect(lastResort))
}

/** Lets the thread end. The port of a thread of Deno has no `close`. */
const closePort = (): void => {
  if (port === null) return
  if (Reflect.has(port, "close")) port.close()
  else port.unref()
}

/** Sends each entry of the log to the service. */
const logger = Logger.make(({ cause, logLevel, message }) => {
  const parts = [message, ...(cause.reasons.length === 0 ? [] : [cause])].flat()
  // `All` and `None` are bounds, not levels.
  const level = logLevel === "All" || logLevel === "None" ? "Info" : logLevel
  post({ level, text: parts.map(textOf).join("\n") } satisfies LogEntry)
})

/** Runs on a thread until the service closes it, with a handler of messages. */
export const run = <R, E>(
  { logLevel, traceSubjects }: typeof LogSettings.Type,
  handler: Effect.Effect<(message: unknown) => Effect.Effect<void>, E, R>,
  services: Layer.Layer<R, E>
): void => {
  const program = Effect.gen(function* () {
    const handle = yield* handler
    const scope = yield* Effect.scope
    const runFork = Effect.runForkWith(yield* Effect.context<never>())
    yield* Effect.callback<void>((resume) => {
      port?.on("message", (message: unknown) => {
        if (message === closeCommand) resume(Effect.void)
        else runFork(Effect.forkIn(handle(message), scope))
      })
    })
  }).pipe(Effect.scoped)
  const withLog = services.pipe(
    Layer.provide(Logger.layer([logger])),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, logLevel)),
    Layer.provide(Layer.succeed(TraceSubjects, traceSubjects))
  )
  Effect.runFork(Effect.provide(program, withLog)).addObserver((exit) => {
    // Messages still in the queue go out before the thread ends.
    closePort()
    if (Exit.isFailure(exit)) throw Cause.squash(exit.cause)
  })
}
