/** `roster jobs list`, `get` and `cancel` */
import { AccountService, allJobs, Job, KeptStatusRow, rejectedRowsFile } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { confirm, yes } from "../shared/Confirm.ts"
import * as TargetLayer from "../../target/TargetLayer.ts"
import { delivery, deliveryFlags } from "../shared/ExportDelivery.ts"
import { text, toggle } from "../../settings/FlagForms.ts"
import { count, refuseFlags, withExamples } from "../shared/CommonFlags.ts"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"

const id = Argument.String("id").pipe(Argument.withDescription("Id of the job, as shown by: roster jobs list"))

const columns = ["id", "kind", "state", "running", "created", "rowsDone", "accepted", "rejected", "duplicates"]

export const list = Command.make(
  "list",
  { limit: count("limit", "Maximum number of entries to show (default: all)", 1) },
  Effect.fnUntraced(function* ({ limit }) {
    yield* Results.records(Job, columns, allJobs({ limit }))
  })
).pipe(
  withExamples({
    "roster jobs list --limit 10": "",
    "roster jobs list -o json | jq '.[] | select(.running)'": "List the jobs that are running now"
  }),
  Command.provide(TargetLayer.layerForReads)
)

export const get = Command.make(
  "get",
  {
    id,
    rejected: text(
      "rejected",
      "Write the rejected rows to FILE (- for stdout), to correct and import them again",
      "FILE|-"
    ),
    kept: toggle("kept", "List the rows whose contacts kept their status, since the row would have resubscribed them"),
    force: deliveryFlags.force
  },
  Effect.fnUntraced(function* ({ force, id, kept, rejected }) {
    const account = yield* AccountService
    const job = yield* account.job(id)
    const output = yield* Output
    if (kept) {
      const rows = yield* account.keptStatuses(job.id)
      yield* Results.records(KeptStatusRow, ["line", "status"], Stream.fromIterable(rows))
      const { statusesKept } = job
      return rows.length < statusesKept
        ? yield* output.note(`Only the first ${rows.length} of ${statusesKept} such rows were kept.`)
        : undefined
    }
    if (rejected === undefined) return yield* Results.record(Job, job)
    if (job.rejectedKept === 0) return yield* output.note(`The job ${job.id} has no rejected rows.`)
    const deliver = yield* delivery({ out: rejected === "-" ? undefined : rejected, force })
    yield* deliver(rejectedRowsFile(job.id))
    if (job.rejectedKept < job.rejected) {
      yield* output.note(`Only the first ${job.rejectedKept} of ${job.rejected} rejected rows were kept.`)
    }
  }, Effect.scoped)
).pipe(
  Command.validate(({ force, kept, rejected }) =>
    refuseFlags(
      [force && (rejected === undefined || rejected === "-"), "--force needs --rejected FILE."],
      [kept && rejected !== undefined, "--kept and --rejected cannot be used together."]
    )
  ),
  withExamples({
    "roster jobs get 3fa85f64-5717-4562-b3fc-2c963f66afa6": "",
    "roster jobs get 3fa85f64-5717-4562-b3fc-2c963f66afa6 --rejected rejected.csv":
      "Save the rejected rows, with the reason in the column _error",
    "roster jobs get 3fa85f64-5717-4562-b3fc-2c963f66afa6 --kept -o json": "List who kept their status, by line"
  }),
  Command.provide(TargetLayer.layerForReads)
)

export const cancel = Command.make(
  "cancel",
  { id, yes },
  Effect.fnUntraced(function* ({ id, yes }) {
    const account = yield* AccountService
    const { ended, kind, state } = yield* account.job(id)
    const isReadyExport = kind === "Export" && state === "Ready"
    const left =
      kind === "Import" ? "; contacts that were already imported stay" : isReadyExport ? "; its link ends" : ""
    // Any other job that has ended is refused by the service, so there is nothing to confirm.
    if (ended === null || isReadyExport) {
      yield* confirm(`cancel the ${kind.toLowerCase()} ${id}${left}`, { yes })
    }
    yield* account.cancelJob(id)
    yield* Results.record(Job, yield* account.job(id))
  })
).pipe(
  withExamples({
    "roster jobs cancel 3fa85f64-5717-4562-b3fc-2c963f66afa6": "",
    "roster jobs cancel 3fa85f64-5717-4562-b3fc-2c963f66afa6 --yes": "Without a confirmation prompt"
  }),
  Command.provide(TargetLayer.layer)
)
