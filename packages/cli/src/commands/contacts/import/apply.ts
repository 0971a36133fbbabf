/** `roster contacts apply` */
import { loadPlan, type RunReport } from "@roster/workflows"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { PartlyDone } from "../../../errors/UsageError.ts"
import { readBytes, refuseStream } from "../../../settings/InputFile.ts"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { Output } from "../../../terminal/Output.ts"
import { printable } from "../../../terminal/Printable.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { resumeCommand, ResumeHint } from "../../../terminal/ResumeHint.ts"
import * as Results from "../../../terminal/Results.ts"
import { toggle } from "../../../settings/FlagForms.ts"
import { withExamples } from "../../shared/CommonFlags.ts"
import { tellUndo } from "../runs/RecordedRun.ts"
import { countLines } from "./ImportReport.ts"

/** The counts of a report that an apply has. The rows are those of the plan. */
const countsOf = ({ alreadySo, changed, new: added, notSent, outdated, read, rejected, unknown }: RunReport) => ({
  rows: read,
  new: added,
  changed,
  alreadySo,
  outdated,
  rejected,
  notSent,
  unknown
})

const words = (report: RunReport): string =>
  [
    ...countLines(countsOf(report), 12),
    ...report.outdatedContacts.map(({ email, line = 0 }) =>
      printable(`line ${line}: ${email} changed since the plan was made`)
    ),
    ...report.rejectedRows.map(({ line, reason }) => printable(`line ${line}: ${reason}`))
  ].join("\n")

const summaryOf = (report: RunReport) => {
  const { outdatedContacts, rejectedRows, run } = report
  return { ...countsOf(report), outdatedContacts, rejectedRows, ...(run === undefined ? {} : { run }) }
}

export const command = Command.make(
  "apply",
  {
    plan: Argument.String("plan").pipe(
      Argument.withDescription("The plan that roster contacts import FILE --plan wrote")
    ),
    skipChanged: toggle(
      "skip-changed",
      "Apply the rows whose contacts are as the plan saw them, and report the others (default: refuse all)"
    ),
    dryRun
  },
  Effect.fnUntraced(function* ({ dryRun, plan: file, skipChanged }) {
    const output = yield* Output
    yield* refuseStream(file, "A plan")
    const plan = yield* loadPlan(yield* readBytes(file))
    const { header, summary } = plan
    const total = summary.new + summary.changed
    // Either way every row is read before anything is sent.
    yield* skipChanged ? Stream.runDrain(plan.rows) : plan.verify
    if (dryRun) {
      return yield* Results.summary(
        { dryRun: true, new: summary.new, changed: summary.changed, lists: header.listNames },
        `Would add ${summary.new} contacts and change ${summary.changed}.\nNothing was sent.`
      )
    }
    const hint = yield* ResumeHint
    hint.command = yield* resumeCommand()
    const { report } = yield* withProgress(
      {
        doing: "Applying",
        unit: "rows",
        total,
        interrupted: (done) => `${done} of ${total} rows are done. Run the same command again to resume.`
      },
      (onProgress) => plan.applyWith({ onProgress })
    )
    const { done, notSent, outdated, read, rejected, stoppedBy, unknown } = report
    if (notSent + unknown === 0) hint.command = undefined
    yield* Results.summary(summaryOf(report), words(report))
    if (report.run !== undefined && report.new + report.changed > 0) yield* tellUndo(report.run, false)
    if (stoppedBy !== undefined && done === 0) return yield* stoppedBy
    if (notSent + outdated + rejected + unknown === 0) return
    const why = stoppedBy === undefined ? "" : ` ${stoppedBy.message}`
    if (unknown === 0) yield* output.note("The rows that were not applied are as they were.")
    return yield* new PartlyDone({
      message:
        `${done} of ${read} rows were applied, ${outdated} are outdated, ${rejected} refused, ${notSent} not ` +
        `sent, ${unknown} have no answer.${why}`,
      hint: "Run the same command again for rows that were not sent; plan the import again for those that are outdated."
    })
  })
).pipe(
  withExamples({
    "roster contacts apply plan.json": "",
    "roster contacts apply plan.json --skip-changed": "Leave out contacts that changed since the plan was made"
  }),
  Command.provide(({ dryRun }) => RunLogLayer.layerForWrites({ dryRun }))
)
