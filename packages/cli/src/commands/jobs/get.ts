/**
 * `roster jobs get`
 */
import { Effect } from "effect"
import { CliError, Command } from "effect/cli"
import * as EmbeddedStore from "../../target/EmbeddedStore.ts"
import { delivery, deliveryFlags } from "../shared/ExportDelivery.ts"
import { text } from "../shared/CommonFlags.ts"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"

export const command = Command.make(
  "get",
  {
    id: EmbeddedStore.jobId,
    rejected: text(
      "rejected",
      "Write the rows that the import rejected, to correct them and import them again",
      "FILE|-"
    ),
    force: deliveryFlags.force
  },
  Effect.fnUntraced(function* ({ force, id, rejected }) {
    const { Job, Jobs } = yield* EmbeddedStore.server
    const jobs = yield* Jobs.Jobs
    const job = yield* jobs.get(id)
    if (rejected === undefined) return yield* Results.record(Job, job)
    const output = yield* Output
    if (job.rejectedKept === 0) return yield* output.note(`The job ${job.id} keeps no rejected rows.`)
    const deliver = yield* delivery({ out: rejected === "-" ? undefined : rejected, force })
    yield* deliver(jobs.rejectedRows(job.id))
    if (job.rejectedKept < job.rejected) {
      yield* output.note(`Of ${job.rejected} rejected rows these are the first ${job.rejectedKept}: no more are kept.`)
    }
  }, Effect.scoped)
).pipe(
  Command.validate(({ force, rejected }) =>
    force && (rejected === undefined || rejected === "-")
      ? Effect.fail(new CliError.ValidationError({ message: "--force replaces a file: name it with --rejected FILE." }))
      : Effect.void
  ),
  Command.withExamples([
    { command: "roster jobs get 3fa85f64-5717-4562-b3fc-2c963f66afa6" },
    {
      command: "roster jobs get 3fa85f64-5717-4562-b3fc-2c963f66afa6 --rejected rejected.csv",
      description: "The rows that were rejected, each with its reason in the column _error"
    }
  ]),
  Command.provide(EmbeddedStore.layerJobs)
)
