/**
 * Runs the jobs on their own thread, so that requests do not wait for them. `layer` starts, wakes and restarts the
 * thread; `work` runs the same `JobRunner` on it, with its own connection. (docs/decisions/jobs.md)
 */
import { loggedCause } from "@roster/domain"
import { Cause, Effect, Layer, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { existsSync } from "node:fs"
import { isMainThread } from "node:worker_threads"
import { freeJobs, giveBackJobs } from "../queue/JobQueue.ts"
import { makeLease } from "../../store/ProcessMark.ts"
import * as JobRunner from "./JobRunner.ts"
import * as RuleThread from "./RuleThread.ts"
import * as Thread from "./Thread.ts"
import * as SqliteClient from "../../store/sqlite/SqliteClient.ts"
import { registerFunctions } from "../../store/sqlite/SqliteFunctions.ts"
import * as LockContention from "../../store/sqlite/LockContention.ts"
import { StorePolicy } from "../../store/StoreOptions.ts"

const WorkerData = Schema.Struct({
  ...Thread.LogSettings.fields,
  filename: Schema.String,
  /** Of all jobs that the thread holds. */
  lease: Schema.String,
  allowedSenders: Schema.Array(Schema.String),
  allowFileUrl: Schema.Array(Schema.String),
  contention: Schema.instanceOf(SharedArrayBuffer)
})

/** Twice what a job takes, so that V8 does not leave more as garbage. */
const maxOldGenerationSizeMb = 192

const ownEntry = new URL(import.meta.url.endsWith(".ts") ? "./workerEntry.ts" : "./workerEntry.js", import.meta.url)

/** The default file of the thread; `undefined` if this code was bundled into one file, which the thread would run. */
export const defaultEntry = (): URL | undefined => (existsSync(ownEntry) ? ownEntry : undefined)

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
      const log = yield* Thread.logSettings
      let current: Thread.Thread | undefined

      const start = Effect.fnUntraced(function* (lease: string) {
        const workerData: typeof WorkerData.Type = { ...policy, ...log, filename, lease, contention: contention.shared }
        current = yield* Thread.start({ entry, name: "roster jobs", workerData, limits: { maxOldGenerationSizeMb } })
        return current
      })

      const thread = Effect.suspend(() => {
        const lease = makeLease()
        const logEnd = (cause: unknown) =>
          Effect.flatMap(loggedCause(Cause.die(cause)), (cause) =>
            Effect.logError("the thread of the jobs ended and will be restarted", cause)
          )
        const died = (cause: unknown) => Effect.andThen(logEnd(cause), Effect.ignore(freeJobs(lease)))
        return Effect.acquireUseRelease(
          start(lease),
          ({ ended }) => Effect.flatMap(ended, died),
          ({ close }) => close
        ).pipe(
          // Those of a thread that was closed before its jobs stopped.
          Effect.ensuring(Effect.ignore(giveBackJobs(lease))),
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

/** Does the work of a thread until the service closes it; a program bundled into one file calls it there. */
export const work = (workerData: unknown): void => {
  if (isMainThread) throw new TypeError("WorkerThread.work runs only on a thread of WorkerThread.layer")
  if (RuleThread.isRuleData(workerData)) return RuleThread.work(workerData)
  const data = Schema.decodeUnknownSync(WorkerData)(workerData)
  const { allowedSenders, allowFileUrl } = data
  const contention = LockContention.make(data.contention)
  const runner = JobRunner.layer({ lease: data.lease, afterJob: Effect.sync(Thread.makeCollect()) }).pipe(
    Layer.provide(Layer.succeed(LockContention.WriteFairness, LockContention.fairnessOf(contention))),
    Layer.provide(Layer.succeed(StorePolicy, { allowedSenders, allowFileUrl })),
    Layer.provide(SqliteClient.layer({ filename: data.filename, prepare: registerFunctions, contention }))
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
