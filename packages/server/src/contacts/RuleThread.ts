/**
 * Scans for rules on their own thread, with a connection that only reads, so that requests do not wait for them. `layer`
 * starts the thread for the first scan and replaces one that died; `work` scans on it. (docs/decisions/rules.md)
 */
import { loggedCause } from "@roster/domain"
import { Cause, type Duration, Effect, Exit, Fiber, Layer, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import type { DatabaseSync } from "node:sqlite"
import { makeScan, type Scan, type ScanRequest } from "./RuleScan.ts"
import * as RuleScans from "./RuleScans.ts"
import * as SqliteClient from "../store/sqlite/SqliteClient.ts"
import { errorCode, messageOf, toSqlError } from "../store/sqlite/SqliteError.ts"
import * as Thread from "../threads/Thread.ts"

const RuleData = Schema.Struct({ ...Thread.LogSettings.fields, rulesOf: Schema.String })
type RuleData = typeof RuleData.Type

/** Whether a thread was started for rules. */
export const isRuleData = Schema.is(RuleData)

/** A message to the thread. */
type Command = { readonly scan: number; readonly request: ScanRequest } | { readonly stop: number }

/** The end of a scan; of one that was stopped, only its number. */
interface Answer {
  readonly scan: number
  readonly ids?: Float64Array<ArrayBuffer>
  readonly failure?: { readonly message: string; readonly code: number | undefined }
  readonly defect?: string
}

/** The time, in milliseconds, in which a scan has to stop. Otherwise its thread is terminated. */
const stopMillis = 3000

/** More than all scans at one time hold, so that V8 leaves less as garbage. */
const maxOldGenerationSizeMb = 256

/** A scan that sees as many threads die is given up: it may be the cause. */
const maximumThreads = 2

interface OpenScan {
  readonly request: ScanRequest
  readonly resume: (result: ReturnType<Scan>) => void
  threads: number
}

const resultOf = ({ defect, failure, ids }: Answer): ReturnType<Scan> =>
  ids !== undefined
    ? Effect.succeed(ids)
    : failure !== undefined
      ? Effect.fail(toSqlError(Object.assign(new Error(failure.message), { errcode: failure.code }), "look for a rule"))
      : defect !== undefined
        ? Effect.die(new Error(defect))
        : Effect.interrupt

/** Scans on a thread that starts with the file `entry`. */
export const layer = (options: {
  readonly entry: URL
  readonly filename: string
  readonly deadline?: Duration.Input | undefined
}): Layer.Layer<RuleScans.RuleScans> =>
  Layer.effect(
    RuleScans.RuleScans,
    Effect.gen(function* () {
      const { deadline, entry, filename } = options
      const workerData: RuleData = { ...(yield* Thread.logSettings), rulesOf: filename }
      const scope = yield* Effect.scope
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      const open = new Map<number, OpenScan>()
      const stopping = new Map<number, ReturnType<typeof setTimeout>>()
      let count = 0
      let isRunning = false
      let current: Thread.Thread | undefined

      const settle = (scan: number, result: ReturnType<Scan>) => {
        clearTimeout(stopping.get(scan))
        stopping.delete(scan)
        open.get(scan)?.resume(result)
        open.delete(scan)
      }
      const post = (thread: Thread.Thread | undefined, command: Command) => thread?.post(command)

      const start = Effect.gen(function* () {
        const thread = yield* Thread.start({
          entry,
          name: "roster rules",
          workerData,
          limits: { maxOldGenerationSizeMb },
          // Only `work` posts them.
          onMessage: (message) => settle((message as Answer).scan, resultOf(message as Answer))
        })
        current = thread
        for (const [scan, { request }] of open) post(thread, { scan, request })
        return thread
      })

      const died = Effect.fnUntraced(function* (cause: unknown) {
        current = undefined
        yield* Effect.logError(
          "the thread of the rules ended and will be restarted",
          yield* loggedCause(Cause.die(cause))
        )
        for (const scan of stopping.keys()) settle(scan, Effect.interrupt)
        for (const [scan, seen] of open) {
          seen.threads++
          if (seen.threads < maximumThreads) continue
          settle(scan, Effect.fail(new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause }) })))
        }
      })

      const thread: Effect.Effect<void> = Effect.acquireUseRelease(
        start,
        ({ ended }) => Effect.flatMap(ended, died),
        ({ close }) => close
      ).pipe(
        // The system may have no thread to give.
        Effect.catchDefect(died),
        Effect.andThen(
          Effect.suspend(() => {
            isRunning = open.size > 0
            return isRunning ? thread : Effect.void
          })
        )
      )

      const stop = (scan: number) => {
        open.delete(scan)
        const stopped = current
        if (stopped === undefined) return
        post(stopped, { stop: scan })
        const terminate = () => runFork(stopped.terminate)
        stopping.set(scan, setTimeout(terminate, stopMillis))
      }

      const scan: Scan = (request) =>
        Effect.callback((resume) => {
          const scan = ++count
          open.set(scan, { request, resume, threads: 0 })
          if (isRunning) post(current, { scan, request })
          else {
            isRunning = true
            runFork(Effect.forkIn(thread, scope))
          }
          return Effect.sync(() => stop(scan))
        })

      yield* Effect.addFinalizer(() =>
        Effect.sync(() => {
          for (const scan of [...open.keys(), ...stopping.keys()]) settle(scan, Effect.interrupt)
        })
      )
      return RuleScans.make(scan, deadline)
    })
  )

const answerOf = (scan: number, exit: Exit.Exit<Float64Array<ArrayBuffer>, SqlError.SqlError>): Answer => {
  if (Exit.isSuccess(exit)) return { scan, ids: exit.value }
  if (Cause.hasInterruptsOnly(exit.cause)) return { scan }
  const error = Cause.squash(exit.cause)
  if (!SqlError.isSqlError(error)) return { scan, defect: messageOf(error) }
  const { cause } = error.reason
  return { scan, failure: { message: messageOf(cause), code: errorCode(cause) } }
}

const scanner = Effect.map(SqlClient.SqlClient, (sql) => {
  const scan = makeScan(sql)
  const running = new Map<number, Fiber.Fiber<unknown, unknown>>()
  return (message: unknown): Effect.Effect<void> => {
    // Only `layer` posts them.
    const command = message as Command
    if ("stop" in command) {
      const stopped = running.get(command.stop)
      return stopped === undefined ? Effect.void : Fiber.interrupt(stopped)
    }
    return Effect.withFiber((fiber) => {
      running.set(command.scan, fiber)
      return scan(command.request).pipe(
        Effect.onExit((exit) =>
          Effect.sync(() => {
            running.delete(command.scan)
            const answer = answerOf(command.scan, exit)
            Thread.post(answer, answer.ids === undefined ? [] : [answer.ids.buffer])
          })
        ),
        Effect.ignoreCause
      )
    })
  }
})

// The scan reads every contact once, so a large cache would only hold memory.
const withSmallCache = (database: DatabaseSync) => database.exec("PRAGMA cache_size = -4096")

/** Scans on a worker thread until the service closes it. */
export const work = (data: RuleData): void =>
  Thread.run(data, scanner, SqliteClient.layer({ filename: data.rulesOf, readonly: true, prepare: withSmallCache }))
