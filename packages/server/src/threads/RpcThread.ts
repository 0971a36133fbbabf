/** A worker thread of a store that answers calls of Effect's RPC: how it starts, logs and ends. */
import * as NodeWorker from "@effect/platform-node/NodeWorker"
import * as NodeWorkerRunner from "@effect/platform-node/NodeWorkerRunner"
import { loggedCause, TraceSubjects } from "@roster/domain"
import { Cause, type Duration, Effect, Exit, Layer, Logger, LogLevel, RcRef, References, Schema } from "effect"
import { type Rpc, RpcClient, RpcClientError, type RpcGroup, RpcServer } from "effect/rpc"
import { Transferable, WorkerError } from "effect/workers"
import { MessageChannel, MessagePort, parentPort, Worker } from "node:worker_threads"

/** What every thread is told of its log. */
export const LogSettings = Schema.Struct({
  logLevel: Schema.Literals(LogLevel.values),
  traceSubjects: Schema.Boolean,
  log: Schema.instanceOf(MessagePort)
})

/** An entry of the log of a thread. */
interface LogEntry {
  readonly level: LogLevel.Severity
  readonly text: string
}

/** A value that goes to another thread as it is. What `moved` names of it is moved there, and not copied. */
export const plain = <A>(moved: (value: A) => Iterable<ArrayBuffer> = () => []) =>
  // Nobody but the two ends of a call sends it.
  Transferable.schema(
    Schema.declare((value): value is A => value !== undefined),
    moved
  )

interface ThreadOptions<Rpcs extends Rpc.Any, Data extends object> {
  /** The file that the thread starts with. */
  readonly entry: URL
  /** As the log names it. */
  readonly name: string
  readonly calls: RpcGroup.RpcGroup<Rpcs>
  /** What each thread is told as its `workerData`. */
  readonly data: Effect.Effect<Data>
  readonly maxOldGenerationSizeMb: number
  /** Runs after a thread has ended. */
  readonly onEnd?: (data: Data, hasDied: boolean) => Effect.Effect<void>
}

/** Objects of a job are short-lived: a larger young generation would only hold more of them. */
const maxYoungGenerationSizeMb = 16

/** More than there ever are at one time, since the thread itself decides how many it works on. */
const maximumCalls = 2 ** 20

const notStarted = (cause: unknown) =>
  new RpcClientError.RpcClientError({
    reason: new WorkerError.WorkerSpawnError({ message: "the system has no thread to give", cause })
  })

const start = Effect.fnUntraced(function* <Rpcs extends Rpc.Any, Data extends object>(
  options: ThreadOptions<Rpcs, Data>,
  forget: Effect.Effect<void>
) {
  const { calls, entry, maxOldGenerationSizeMb, name, onEnd = () => Effect.void } = options
  const data = yield* options.data
  const runFork = Effect.runForkWith(yield* Effect.context<never>())
  const { port1, port2: log } = new MessageChannel()
  const settings = { logLevel: yield* References.MinimumLogLevel, traceSubjects: yield* TraceSubjects, log }
  const worker = yield* Effect.try({
    try: () =>
      new Worker(entry, {
        name: `roster ${name}`,
        workerData: { ...data, ...settings },
        transferList: [log],
        resourceLimits: { maxYoungGenerationSizeMb, maxOldGenerationSizeMb }
      }),
    catch: notStarted
  }).pipe(
    Effect.tapError(({ reason }) => Effect.logError(`the thread of the ${name} could not be started`, reason.cause))
  )
  // Only `logger` posts there.
  port1.on("message", ({ level, text }: LogEntry) => runFork(Effect.logWithLevel(level)(text)))
  port1.unref()
  let isClosed = false
  let hasDied = false
  const died = (cause: unknown) => {
    if (isClosed || hasDied) return
    hasDied = true
    const logged = Effect.flatMap(loggedCause(Cause.die(cause)), (cause) =>
      Effect.logError(`the thread of the ${name} ended and will be restarted`, cause)
    )
    runFork(Effect.andThen(forget, logged))
  }
  worker.on("error", died)
  // A log shows only the code of a defect.
  worker.on("exit", (code) => died(Object.assign(new Error("It ended."), { code: `EXIT_${code}` })))
  yield* Effect.addFinalizer(() => onEnd(data, hasDied))
  const protocol = yield* RpcClient.makeProtocolWorker({ size: 1, concurrency: maximumCalls }).pipe(
    Effect.provide(NodeWorker.layer(() => worker)),
    Effect.mapError(notStarted)
  )
  const client = yield* RpcClient.make(calls, { disableTracing: true }).pipe(
    Effect.provideService(RpcClient.Protocol, protocol)
  )
  yield* Effect.addFinalizer(() => Effect.sync(() => (isClosed = true)))
  return { client, terminate: Effect.promise(() => worker.terminate()) }
})

/** A thread that starts for a call. It ends when it had none for some time, or lets its work stop when the scope closes. */
export const make = <Rpcs extends Rpc.Any, Data extends object>(
  options: ThreadOptions<Rpcs, Data>,
  idleTimeToLive: Duration.Input
) => {
  type Started = Effect.Success<ReturnType<typeof start<Rpcs, Data>>>
  return Effect.gen(function* () {
    const ref: RcRef.RcRef<Started, RpcClientError.RpcClientError> = yield* RcRef.make({
      acquire: start(
        options,
        Effect.suspend(() => RcRef.invalidate(ref))
      ),
      idleTimeToLive
    })
    return <A, E, R>(call: (thread: Started) => Effect.Effect<A, E, R>) =>
      Effect.scoped(Effect.flatMap(RcRef.get(ref), call))
  })
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

/** Answers calls on a thread until the service closes it. */
export const run = <Rpcs extends Rpc.Any, E>(
  { log, logLevel, traceSubjects }: typeof LogSettings.Type,
  calls: RpcGroup.RpcGroup<Rpcs>,
  handlers: Layer.Layer<Rpc.ToHandler<Rpcs> | Rpc.Middleware<Rpcs> | Rpc.ServicesServer<Rpcs>, E>
): void => {
  // The port of a thread of Deno has no `close`.
  if (parentPort !== null && !Reflect.has(parentPort, "close")) {
    Object.assign(parentPort, { close: () => parentPort?.unref() })
  }
  const program = Effect.gen(function* () {
    const protocol = yield* RpcServer.makeProtocolWorkerRunner
    const server = RpcServer.make(calls, { disableTracing: true, disableFatalDefects: true })
    return yield* Effect.provideService(server, RpcServer.Protocol, protocol)
  }).pipe(Effect.scoped, Effect.provide(NodeWorkerRunner.layer))
  const withLog = handlers.pipe(
    Layer.provide(Logger.layer([logger(log)])),
    Layer.provide(Layer.succeed(References.MinimumLogLevel, logLevel)),
    Layer.provide(Layer.succeed(TraceSubjects, traceSubjects))
  )
  Effect.runFork(Effect.provide(program, withLog)).addObserver((exit) => {
    if (Exit.isFailure(exit) && !Cause.hasInterruptsOnly(exit.cause)) throw Cause.squash(exit.cause)
  })
}
