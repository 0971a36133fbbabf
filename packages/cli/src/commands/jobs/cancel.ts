/**
 * `roster jobs cancel`
 */
import { Effect } from "effect"
import { Command } from "effect/cli"
import { confirm, yes } from "../shared/Confirm.ts"
import { dryRun, endDryRun } from "../../terminal/DryRun.ts"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import * as Results from "../../terminal/Results.ts"

export const command = Command.make(
  "cancel",
  { id: EmbeddedStore.jobId, yes, dryRun },
  Effect.fnUntraced(function* ({ dryRun, id, yes }) {
    const { Job, Jobs } = yield* EmbeddedStore.server
    const jobs = yield* Jobs.Jobs
    const { ended, kind } = yield* jobs.get(id)
    const left = kind === "Import" ? "; the contacts that it has imported so far stay" : ""
    if (dryRun && ended === null) {
      return yield* endDryRun("cancel", id, `Would cancel the ${kind.toLowerCase()}${left}`)
    }
    // What has ended is refused, and nobody need be asked.
    if (ended === null) yield* confirm(`cancel the ${kind.toLowerCase()} ${id}${left}`, { yes })
    yield* Results.record(Job, yield* jobs.cancel(id))
  })
).pipe(
  Command.withExamples([
    { command: "roster jobs cancel 3fa85f64-5717-4562-b3fc-2c963f66afa6" },
    { command: "roster jobs cancel 3fa85f64-5717-4562-b3fc-2c963f66afa6 --yes", description: "Without being asked" }
  ]),
  Command.provide(EmbeddedStore.layerJobs)
)
