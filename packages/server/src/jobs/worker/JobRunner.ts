/** Runs the jobs of a store one after another; those of another machine when their lease has expired. */
import { loggedCause, redactLayerSpans } from "@roster/domain"
import { Cause, Context, Effect, Latch, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { runExport } from "../exports/ExportJob.ts"
import { runImport } from "../imports/ImportJob.ts"
import { removeTemporaryFiles } from "../../store/TemporaryFiles.ts"
import {
  claimJob,
  endJob,
  freeJobs,
  releaseOrphanedJobs,
  type HeldJob,
  leaseSeconds,
  renewLease
} from "../queue/JobQueue.ts"
import { makeLease } from "../../store/ProcessMark.ts"
import { removeParts } from "../queue/JobBlobs.ts"
import { hasExpired, removeExpired } from "./JobCleanup.ts"
import { isDiskFull } from "../../store/sqlite/SqliteError.ts"
import type { StorePolicy } from "../../store/StoreOptions.ts"

/** Runs the jobs of a store. */
export class JobRunner extends Context.Service<
  JobRunner,
  {
    /** Announces a new job. */
    readonly wake: Effect.Effect<void>
  }
>()("@roster/server/JobRunner") {}

/** Jobs of other processes are not announced, so the queue is polled. */
const pollInterval = "2 seconds"

type JobError = Effect.Error<ReturnType<typeof runExport> | ReturnType<typeof runImport>>

const run = (job: HeldJob): Effect.Effect<void, JobError, SqlClient.SqlClient | StorePolicy> =>
  job.kind === "Export" ? runExport(job) : runImport(job)

const noTemporaryRoom =
  "the temporary folder cannot hold the export; make room there, or name another by TMPDIR, and ask again"

const runJob = (job: HeldJob) =>
  run(job).pipe(
    Effect.raceFirst(renewLease(job).pipe(Effect.ignore, Effect.delay(`${leaseSeconds / 3} seconds`), Effect.forever)),
    Effect.catchTags({
      // Another worker has it now.
      LeaseLost: () => Effect.void,
      // Such as a lock that another process held for too long: the job is retried.
      SqlError: (error) =>
        isDiskFull(error)
          ? diskFull(job)
          : error.isRetryable
            ? Effect.andThen(
                Effect.logWarning(`job ${job.id} will be retried`, error),
                Effect.ignore(freeJobs(job.lease))
              )
            : Effect.fail(error),
      UnreadableFile: (error) => fail(job, error.message),
      TemporaryFileFailed: (error) =>
        Effect.andThen(
          Effect.logError(`job ${job.id}: the temporary folder failed`, error),
          fail(job, noTemporaryRoom)
        ),
      ImportRefused: (error) => fail(job, error.message),
      InvalidRule: (error) => fail(job, error.problem)
    }),
    // An interrupted job, as at the end of the process, is resumed later.
    Effect.catchCauseIf(
      (cause) => !Cause.hasInterrupts(cause),
      (cause) =>
        loggedCause(cause).pipe(
          Effect.flatMap((cause) => Effect.logError(`job ${job.id} failed`, cause)),
          Effect.andThen(fail(job, "an internal error, which the log of the service tells"))
        )
    )
  )

/** An export can be requested again; an import holds the only copy of its file, so it is retried. */
const diskFull = (job: HeldJob) =>
  job.kind === "Export"
    ? fail(job, "the disk is full")
    : Effect.logError(`job ${job.id} waits for room: the disk is full`)

const fail = (job: HeldJob, problem: string) =>
  SqlClient.SqlClient.pipe(
    Effect.flatMap((sql) =>
      sql.withTransaction(Effect.andThen(endJob(job, "Error", problem), removeParts(job.number)))
    ),
    Effect.catchTags({
      LeaseLost: () => Effect.void,
      SqlError: (error) => Effect.logError(`job ${job.id}: its end could not be written`, error)
    })
  )

const make = Effect.fnUntraced(function* (lease: string) {
  const wakeUp = yield* Latch.make(false)
  let isHolding = false
  // Runs after the work is interrupted and before the store is closed.
  yield* Effect.addFinalizer(() => (isHolding ? Effect.ignore(freeJobs(lease)) : Effect.void))
  const runQueue = Effect.gen(function* () {
    yield* wakeUp.close
    if (!(yield* hasExpired)) return
    isHolding = true
    yield* removeExpired
    yield* releaseOrphanedJobs
    let job = yield* claimJob(lease)
    while (job !== undefined) {
      yield* runJob(job)
      job = yield* claimJob(lease)
    }
  }).pipe(Effect.catchTag("SqlError", (error) => Effect.logError("the jobs of the store cannot be read", error)))
  yield* removeTemporaryFiles.pipe(Effect.delay(0), Effect.repeat(Schedule.spaced("1 hour")), Effect.forkScoped)
  yield* runQueue.pipe(
    Effect.andThen(Effect.timeoutOption(wakeUp.await, pollInterval)),
    Effect.forever,
    Effect.forkScoped
  )
  return JobRunner.of({ wake: Effect.asVoid(wakeUp.open) })
})

/** Runs the jobs on the thread that builds the layer (default lease: a new one). */
export const layer = (lease?: string): Layer.Layer<JobRunner, never, SqlClient.SqlClient | StorePolicy> =>
  redactLayerSpans(
    Layer.effect(
      JobRunner,
      Effect.suspend(() => make(lease ?? makeLease()))
    )
  )
