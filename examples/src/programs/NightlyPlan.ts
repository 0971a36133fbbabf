import { readContacts } from "@roster/domain"
import { planImport, RunLog, undoRun } from "@roster/workflows"
import { Console, Data, Effect, Schedule, type Stream } from "effect"

/** The file of this night would change more contacts than it may. Nothing was written. */
export class TooManyChanges extends Data.TaggedError("TooManyChanges")<{ readonly changed: number }> {}

/**
 * Imports a file unless it changes more than `limit` contacts. What stops the service for a moment is waited for, since to apply a
 * plan again does nothing twice; what stops it for good is taken back.
 */
export const nightly = Effect.fn("nightly")(function* <E>(file: Stream.Stream<Uint8Array, E>, limit: number) {
  const plan = yield* planImport(readContacts(file), { listNames: ["customers"] })
  if (plan.summary.changed > limit) return yield* new TooManyChanges({ changed: plan.summary.changed })
  const { report } = yield* plan.apply.pipe(
    Effect.retry({
      // A service that could not be told that the run stopped gives it back within a minute.
      while: (error) => error._tag === "RunTaken" || (error._tag === "Stopped" && error.isRetryable),
      schedule: Schedule.spaced("1 minute"),
      times: 5
    }),
    Effect.tapErrorTag("Stopped", ({ report: { run } }) => (run === undefined ? Effect.void : undoRun(run)))
  )
  return report
}, Effect.scoped)

/** Prints what the runs of this service or store did, the newest first. */
export const history = Effect.gen(function* () {
  const { list } = yield* RunLog
  for (const { counts, header } of yield* list) yield* Console.log(header.id, header.command, counts)
})
