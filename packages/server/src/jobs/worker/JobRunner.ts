/** Runs the jobs of a store, some at once; those of another machine when their lease has expired. */
import { loggedCause, redactLayerSpans } from "@roster/domain/internal"
import { Cause, Context, Data, Duration, Effect, Latch, Layer, Schedule } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { monotonicMillis } from "../imports/ImportJob.ts"
import { idly } from "../../threads/Background.ts"
import { removeTemporaryFiles } from "../../store/TemporaryFiles.ts"
import {
  claimJob,
  endJob,
  requeueJob,
  requeueJobs,
  type HeldJob,
  othersWait,
  renewLease,
  leaseSeconds,
  maximumJobAttempts,
  releaseOrphanedJobs
} from "../queue/JobQueue.ts"
import { makeLease } from "../../store/ProcessMark.ts"
import { removeParts } from "../queue/JobBlobs.ts"
import { claimOverview, countOverview } from "../overview/Overviews.ts"
import { hasWork, removeExpired } from "./JobCleanup.ts"
import { jobKinds } from "./JobKinds.ts"
import { isDiskFull } from "../../store/StoreFailure.ts"
import { withoutRepeat } from "../../store/postgres/PostgresOptions.ts"
import type { StorePolicy } from "../../store/StoreOptions.ts"

/** Runs the jobs of a store. */
export class JobRunner extends Context.Service<
  JobRunner,
  {
    /** Announces a new job. */
    readonly wake: Effect.Effect<void>
    /** Waits until no job waits or runs, where `isAwaited` asks for that; elsewhere a job takes the time that it takes. */
    readonly settled: Effect.Effect<void>
    /** Whether no job runs, as of a store that is read alone (default: false). */
    readonly isAbsent?: boolean
  }
>()("@roster/server/JobRunner") {}

/** Jobs of other processes are not announced, so the queue is polled. */
export const pollInterval = "2 seconds"

/** No other process has jobs of a store in memory, so this is for what expires, and a test may let months pass. */
const memoryPollInterval = "1 hour"

/** The jobs that run at once, each of another account, so that a long one does not hold up the others. */
const maximumRunning = 2

/** How often a running job checks for its cancellation. */
const watchInterval = "500 millis"

/** How long a job runs before it gives its place to one of another account that waits. */
const turnDuration = "10 seconds"

/** Ends with the turn of a job. */
class TurnOver extends Data.TaggedError("TurnOver") {}

interface Turn {
  /** The least time for which a job runs, in milliseconds. */
  readonly millis: number
  /** Whether the job has to give its place to another one. */
  readonly isOver: Effect.Effect<boolean, SqlError.SqlError, SqlClient.SqlClient>
}

const temporaryFolderFull =
  "the temporary folder cannot hold the export; make room there, or name another by TMPDIR, and ask again"

/**
 * Renews the lease of a job until its turn is over. One that resumes reads its file again up to where it stopped, so its
 * turn lasts at least twice as long as that takes.
 */
const holdForTurn = Effect.fnUntraced(function* (job: HeldJob, { isOver, millis }: Turn) {
  const started = yield* monotonicMillis
  let working = jobKinds[job.kind].startsOver(job) ? started : undefined
  while (true) {
    yield* Effect.sleep(watchInterval)
    const rows = yield* Effect.catchTag(renewLease(job), "SqlError", () => Effect.succeed(0))
    const now = yield* monotonicMillis
    if (working === undefined && rows > job.rows_done) working = now
    if (working === undefined || now - started < millis || now - working < working - started) continue
    if (yield* Effect.catchTag(isOver, "SqlError", () => Effect.succeed(false))) return
  }
})

const runJob = (job: HeldJob, turn: Turn) =>
  // A worker begins again from what the last step stored.
  withoutRepeat(jobKinds[job.kind].run(job)).pipe(
    Effect.raceFirst(Effect.andThen(holdForTurn(job, turn), new TurnOver())),
    Effect.catchTags({
      // Another worker has it now, or it was cancelled.
      LeaseLost: () => Effect.void,
      // The next look at the queue gives it back where this fails.
      TurnOver: () => Effect.ignore(requeueJob(job, 0)),
      // Such as a lock that another process held for too long, or a database that restarts: the job is retried.
      SqlError: (error) =>
        isDiskFull(error)
          ? diskFull(job)
          : error.isRetryable
            ? Effect.logWarning(`job ${job.id} will be retried`, error)
            : Effect.fail(error),
      TemporaryFileFailed: (error) =>
        Effect.andThen(
          Effect.logError(`job ${job.id}: the temporary folder failed`, error),
          fail(job, temporaryFolderFull)
        ),
      InvalidRule: (error) => fail(job, error.problem),
      // What it has written is in the record, and the rest would not be.
      RunRefused: (error) => fail(job, error.message),
      FilesFull: () => fail(job, jobKinds[job.kind].quotaText)
    }),
    Effect.catchTag(["UnreadableFile", "ImportRefused", "TooManyColumns", "PartMissing"], ({ message }) =>
      fail(job, message)
    ),
    // An interrupted job, as at the end of the process, is resumed later.
    Effect.catchCauseIf(
      (cause) => !Cause.hasInterrupts(cause),
      (cause) =>
        loggedCause(cause).pipe(
          Effect.flatMap((cause) => Effect.logError(`job ${job.id} failed`, cause)),
          Effect.andThen(fail(job, "an internal error; see the log of the service"))
        )
    )
  )

const diskFull = (job: HeldJob) =>
  jobKinds[job.kind].onDiskFull === "end"
    ? fail(job, "the disk is full")
    : Effect.andThen(
        Effect.logError(`job ${job.id} waits for room: the disk is full`),
        // The disk of the queue may be full, too. Then it waits here, and the next look gives it back.
        Effect.catchTag(requeueJob(job, leaseSeconds), "SqlError", () => Effect.sleep(`${leaseSeconds} seconds`))
      )

const givenUp =
  `it was taken up ${maximumJobAttempts} times, and each time its worker died before it got further; the log ` +
  "of the service may tell why. Try it with fewer contacts"

/** Runs a job, unless its worker died too often without progress. */
const runOrGiveUp = (job: HeldJob, turn: Turn) =>
  job.attempts > maximumJobAttempts ? fail(job, givenUp) : runJob(job, turn)

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

/** Logs why the queue could not be looked at; the next look may do better. */
export const logUnreadable = (cause: Cause.Cause<unknown>) =>
  Effect.flatMap(loggedCause(cause), (cause) => Effect.logError("the jobs of the store cannot be read", cause))

/** Logs why numbers could not be counted; who still asks for them gets them by another try. */
const logUncounted = (cause: Cause.Cause<unknown>) =>
  Effect.flatMap(loggedCause(cause), (cause) =>
    Effect.logWarning("the numbers of an account could not be counted", cause)
  )

/** Removes what killed processes left in the temporary folder, at the start and every hour. */
export const removingTemporaryFiles = removeTemporaryFiles.pipe(
  Effect.delay(0),
  Effect.repeat(Schedule.spaced("1 hour")),
  idly,
  Effect.forkScoped
)

const make = Effect.fnUntraced(function* ({
  inMemory = false,
  isAwaited = inMemory,
  lease: given,
  turn = turnDuration
}: JobRunnerOptions) {
  const lease = given ?? (yield* makeLease)
  const wakeUp = yield* Latch.make(false)
  const idle = yield* Latch.make(false)
  /** Counts what a look at the queue may have missed: new jobs, and the ends of others. */
  let changes = 0
  const wake = Effect.suspend(() => {
    changes++
    return Effect.andThen(idle.close, wakeUp.open)
  })
  let isHolding = false
  // Runs after the work is interrupted and before the store is closed.
  yield* Effect.addFinalizer(() => (isHolding ? Effect.ignore(requeueJobs(lease)) : Effect.void))
  const scope = yield* Effect.scope
  const running = new Set<number>()
  /** Whether the running job is one whose worker died, beside which no other job starts. */
  let isAlone = false
  /** A running job that would start over: it keeps its place until it ends. Only one at a time does. */
  let staying: number | undefined
  const start = (job: HeldJob) => {
    running.add(job.number)
    isAlone = job.attempts > 1
    const isOver = Effect.suspend(() => {
      if (jobKinds[job.kind].startsOver(job)) staying ??= job.number
      return staying === job.number ? Effect.succeed(false) : othersWait([...running])
    })
    const end = Effect.suspend(() => {
      running.delete(job.number)
      if (staying === job.number) staying = undefined
      isAlone = false
      return wake
    })
    return Effect.forkIn(Effect.ensuring(runOrGiveUp(job, { isOver, millis: Duration.toMillis(turn) }), end), scope, {
      startImmediately: true
    })
  }
  let isCounting = false
  /** Counts the numbers of an account that are asked for, beside the jobs, since it may take long. */
  const count = Effect.gen(function* () {
    if (isCounting) return
    const claimed = yield* claimOverview
    // To look again for nothing would be to look for as long as a job runs.
    if (claimed === undefined) return
    isCounting = true
    const end = Effect.suspend(() => {
      isCounting = false
      return wake
    })
    const counted = Effect.catchCauseIf(countOverview(claimed), (cause) => !Cause.hasInterrupts(cause), logUncounted)
    yield* Effect.forkIn(Effect.ensuring(counted, end), scope, { startImmediately: true })
  })
  const runQueue = Effect.gen(function* () {
    yield* wakeUp.close
    if (!(yield* hasWork)) return
    isHolding = true
    // The worker can hold a job that it does not run: the answer to its claim, or the write of its end, was lost.
    yield* requeueJobs(lease, [...running])
    yield* releaseOrphanedJobs
    yield* removeExpired
    yield* count
    for (let free = isAlone ? 0 : maximumRunning - running.size; free > 0; free--) {
      const job = yield* claimJob(lease, [...running])
      if (job === undefined) return
      yield* start(job)
      if (isAlone) return
    }
  }).pipe(Effect.catchCause(logUnreadable))
  const look = Effect.suspend(() => {
    const before = changes
    const isIdle = () => running.size === 0 && !isCounting && changes === before
    return Effect.andThen(
      runQueue,
      Effect.suspend(() => (isIdle() ? idle.open : Effect.void))
    )
  })
  yield* removingTemporaryFiles
  yield* look.pipe(
    Effect.andThen(idly(Effect.timeoutOption(wakeUp.await, inMemory ? memoryPollInterval : pollInterval))),
    Effect.forever,
    Effect.forkScoped
  )
  return JobRunner.of({ wake: Effect.asVoid(wake), settled: isAwaited ? idle.await : Effect.void })
})

/** How `layer` runs jobs. */
export interface JobRunnerOptions {
  /** The lease (default: a new one). */
  readonly lease?: string | undefined
  /**
   * Whether jobs take no time of the clock: nobody sees one that runs, and under a `TestClock` none has to be waited
   * for.
   */
  readonly inMemory?: boolean | undefined
  /** Whether `settled` waits for the jobs (default: as `inMemory`). */
  readonly isAwaited?: boolean | undefined
  /** The time after which a job gives its place to one of another account that waits (default: 10 seconds). */
  readonly turn?: Duration.Input | undefined
}

/** Runs the jobs on the thread that builds the layer. */
export const layer = (
  options: JobRunnerOptions = {}
): Layer.Layer<JobRunner, never, SqlClient.SqlClient | StorePolicy> =>
  redactLayerSpans(
    Layer.effect(
      JobRunner,
      Effect.suspend(() => make(options))
    )
  )

/** Runs none: a store that is read alone takes no note of them. */
export const layerIdle = Layer.succeed(JobRunner, { wake: Effect.void, settled: Effect.void, isAbsent: true })
