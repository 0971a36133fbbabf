import { readContacts } from "@roster/domain"
import { planImport, RunLog } from "@roster/workflows"
import { Console, Data, Effect, type Stream } from "effect"

/** The file of this night would change more contacts than it may. Nothing was written. */
export class TooManyChanges extends Data.TaggedError("TooManyChanges")<{ readonly changed: number }> {}

/** Imports a file unless it changes more than `limit` contacts, and takes all of it back if the service stops it. */
export const nightly = Effect.fn("nightly")(function* <E>(file: Stream.Stream<Uint8Array, E>, limit: number) {
  const plan = yield* planImport(readContacts(file), { listNames: ["customers"] })
  if (plan.summary.changed > limit) return yield* new TooManyChanges({ changed: plan.summary.changed })
  const run = yield* plan.apply
  if (run.report.stoppedBy !== undefined) yield* run.undo
  return run.report
}, Effect.scoped)

/** Prints what the runs of this service or store did, the newest first. */
export const history = Effect.gen(function* () {
  const { list } = yield* RunLog
  for (const { counts, header } of yield* list) yield* Console.log(header.id, header.command, counts)
})
