/**
 * Works on the jobs of a store, one after another, as long as its layer lives: those of this process at once, and so those
 * of a process of this machine that has ended; those of another machine when their lease has run out.
 */
import { Cause, Clock, Context, Effect, Latch, Layer, Schedule } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync, rmSync, statSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { runExport } from "./ExportJob.ts"
import { runImport } from "./ImportJob.ts"
import { answerKeptSeconds } from "./IdempotentAnswer.ts"
import {
  claimJob,
  endJob,
  freeJobs,
  freeJobsOfTheDead,
  type JobRow,
  leaseSeconds,
  makeLease,
  nowSeconds
} from "./Job.ts"
import { removeParts } from "./JobParts.ts"
import type { StorePolicy } from "./StoreOptions.ts"

/**
 * @internal
 */
export class JobRunner extends Context.Service<
  JobRunner,
  {
    /** Says that there is a new job. */
    readonly wake: Effect.Effect<void>
  }
>()("@roster/server/JobRunner") {}

/** Jobs of other processes announce themselves to nobody: this often somebody looks. */
const lookEvery = "2 seconds"

/** Keeps the lease of a job whose single steps may take longer than it lasts. */
const renewLease = Effect.fnUntraced(function* (job: JobRow) {
  const sql = yield* SqlClient.SqlClient
  const now = yield* nowSeconds
  yield* sql`UPDATE jobs SET leased_until = ${now + leaseSeconds} WHERE number = ${job.number} AND lease = ${job.lease}`
})

type JobError = Effect.Error<ReturnType<typeof runExport> | ReturnType<typeof runImport>>

const run = (job: JobRow): Effect.Effect<void, JobError, SqlClient.SqlClient | StorePolicy> =>
  job.kind === "Export" ? runExport(job) : runImport(job)

const workOn = (job: JobRow) =>
  run(job).pipe(
    Effect.raceFirst(renewLease(job).pipe(Effect.ignore, Effect.delay(`${leaseSeconds / 3} seconds`), Effect.forever)),
    Effect.catchTags({
      // Whoever holds it now goes on with it.
      LeaseLost: () => Effect.void,
      // Another process held the lock for too long, say: what was promised is done later.
      SqlError: (error) =>
        error.isRetryable
          ? Effect.andThen(Effect.logWarning(`job ${job.id} goes on later`, error), Effect.ignore(freeJobs(job.lease)))
          : Effect.fail(error),
      UnreadableFile: (error) => fail(job, error.message),
      ImportRefused: (error) => fail(job, error.message),
      InvalidRule: (error) => fail(job, error.problem)
    }),
    // A job that is interrupted, as at the end of the process, goes on later.
    Effect.catchCauseIf(
      (cause) => !Cause.hasInterrupts(cause),
      (cause) =>
        Effect.logError(`job ${job.id} failed`, cause).pipe(
          Effect.andThen(fail(job, "an internal error, which the log of the service tells"))
        )
    )
  )

const fail = (job: JobRow, problem: string) =>
  SqlClient.SqlClient.pipe(
    Effect.flatMap((sql) =>
      sql.withTransaction(Effect.andThen(endJob(job, "Error", problem), removeParts(job.number)))
    ),
    Effect.catchTags({
      LeaseLost: () => Effect.void,
      SqlError: (error) => Effect.logError(`job ${job.id}: its end could not be written`, error)
    })
  )

const removeExpired = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const now = yield* nowSeconds
  // Not of a job that is still to be done, as after a long time without a process.
  yield* sql`DELETE FROM job_parts WHERE job IN (SELECT number FROM jobs WHERE expires <= ${now} AND state <> 'Loading')`
  yield* sql`DELETE FROM jobs WHERE expires <= ${now} AND state = 'Receiving'`
  yield* sql`DELETE FROM idempotent_answers WHERE created <= ${now - answerKeptSeconds}`
})

/** Far longer than any upload takes: a server of Node gives each request five minutes to arrive. */
const uploadMillis = 60 * 60 * 1000

/** Removes the uploads that processes which were killed left in the temporary folder, as far as they are our own. */
const removeUploads = Effect.map(Clock.currentTimeMillis, (now) => {
  for (const entry of readdirSync(tmpdir(), { withFileTypes: true })) {
    if (!entry.isDirectory() || !entry.name.startsWith("roster-import-")) continue
    const folder = join(tmpdir(), entry.name)
    try {
      const latest = [folder, ...readdirSync(folder).map((name) => join(folder, name))].map((path) => statSync(path))
      const isOurs = latest.every(({ uid }) => uid === process.getuid?.())
      if (isOurs && latest.every(({ mtimeMs }) => mtimeMs < now - uploadMillis)) rmSync(folder, { recursive: true })
    } catch {
      // Somebody else's, or gone in the meantime.
    }
  }
}).pipe(Effect.ignoreCause)

/**
 * @internal
 */
export const layer: Layer.Layer<JobRunner, never, SqlClient.SqlClient | StorePolicy> = Layer.effect(
  JobRunner,
  Effect.gen(function* () {
    const news = yield* Latch.make(false)
    const lease = makeLease()
    // Runs after the work was interrupted, and before the store is closed.
    yield* Effect.addFinalizer(() => Effect.ignore(freeJobs(lease)))
    const workOff = Effect.gen(function* () {
      yield* news.close
      yield* removeExpired
      yield* freeJobsOfTheDead
      let job = yield* claimJob(lease)
      while (job !== undefined) {
        yield* workOn(job)
        job = yield* claimJob(lease)
      }
    }).pipe(Effect.catchTag("SqlError", (error) => Effect.logError("the jobs of the store cannot be read", error)))
    yield* removeUploads.pipe(Effect.delay(0), Effect.repeat(Schedule.spaced("1 hour")), Effect.forkScoped)
    yield* workOff.pipe(Effect.andThen(Effect.timeoutOption(news.await, lookEvery)), Effect.forever, Effect.forkScoped)
    return JobRunner.of({ wake: Effect.asVoid(news.open) })
  })
)
