/**
 * Jobs on a thread of their own, so that requests do not wait for them: it has a connection of its own, and this side starts
 * it, wakes it, writes its log, and begins another one where it ended. (docs/decisions/jobs.md)
 */
import { loggedCause, TraceSubjects } from "@roster/domain"
import { Cause, Effect, Layer, type Option, References } from "effect"
import type { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { Worker } from "node:worker_threads"
import { freeJobs } from "../queue/JobQueue.ts"
import { makeLease } from "../queue/JobLease.ts"
import { JobRunner } from "./JobRunner.ts"
import type { JobWorkerData, JobWorkerEntry, JobWorkerRequest } from "./JobWorker.ts"
import type { LockContention } from "../../store/sqlite/LockContention.ts"
import { StorePolicy } from "../../store/StoreOptions.ts"

const ownEntry = new URL(import.meta.url.endsWith(".ts") ? "./workerEntry.ts" : "./workerEntry.js", import.meta.url)

/**
 * The file that a thread begins with, unless another is told: none where this code was bundled into one file, which the
 * thread would run from its start.
 */
export const defaultEntry = (): URL | undefined => (existsSync(ownEntry) ? ownEntry : undefined)

/** What a job makes is gone soon: a larger nursery would only hold more of it. */
const resourceLimits = { maxYoungGenerationSizeMb: 16 }

/** A thread has as much time to put a job down as a request has to be answered. */
const patience = "10 seconds"

// The rule knows the workers of browsers, whose messages have a target.
// oxlint-disable-next-line unicorn/require-post-message-target-origin
const say = (worker: Worker, request: JobWorkerRequest) => worker.postMessage(request)

export const layer = (options: {
  readonly entry: URL
  readonly filename: string
  readonly signals: LockContention
}): Layer.Layer<JobRunner, never, SqlClient.SqlClient | StorePolicy> =>
  Layer.effect(
    JobRunner,
    Effect.gen(function* () {
      const policy = yield* StorePolicy
      const logLevel = yield* References.MinimumLogLevel
      const traceSubjects = yield* TraceSubjects
      const runFork = Effect.runForkWith(yield* Effect.context<never>())
      let working: Worker | undefined

      const start = (lease: string) =>
        Effect.sync(() => {
          const { entry, filename, signals } = options
          const data: typeof JobWorkerData.Type = {
            ...policy,
            filename,
            lease,
            logLevel,
            traceSubjects,
            signals: signals.shared
          }
          const worker = new Worker(entry, { name: "roster jobs", workerData: data, resourceLimits })
          const ended = new Promise<unknown>((resolve) => {
            let cause: unknown
            worker.on("error", (error) => {
              cause = error
            })
            // A log shows the code of a defect and nothing else that it says.
            worker.on("exit", (code) =>
              resolve(cause ?? Object.assign(new Error("It ended."), { code: `EXIT_${code}` }))
            )
          })
          worker.on("message", ({ level, text }: JobWorkerEntry) => runFork(Effect.logWithLevel(level)(text)))
          working = worker
          return { worker, ended: Effect.promise(() => ended) }
        })

      const close = ({ ended, worker }: Effect.Success<ReturnType<typeof start>>) =>
        Effect.sync(() => say(worker, "close")).pipe(
          Effect.andThen(Effect.timeoutOption(ended, patience)),
          Effect.tap((inTime: Option.Option<unknown>) =>
            inTime._tag === "Some" ? Effect.void : Effect.promise(() => worker.terminate())
          )
        )

      const thread = Effect.suspend(() => {
        const lease = makeLease()
        return Effect.acquireUseRelease(
          start(lease),
          ({ ended }) =>
            Effect.flatMap(ended, (cause) =>
              Effect.flatMap(loggedCause(Cause.die(cause)), (cause) =>
                Effect.logError("the thread of the jobs ended, and another one goes on with them", cause)
              )
            ),
          close
        ).pipe(
          Effect.ensuring(Effect.ignore(freeJobs(lease))),
          // As where the system has no thread to give.
          Effect.catchDefect((cause) => Effect.logError("the thread of the jobs could not be started", cause))
        )
      })
      yield* thread.pipe(Effect.andThen(Effect.sleep("1 second")), Effect.forever, Effect.forkScoped)

      return JobRunner.of({
        wake: Effect.sync(() => {
          if (working !== undefined) say(working, "wake")
        })
      })
    })
  )
