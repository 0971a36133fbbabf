/** Carries out a plan, whose changes are recorded, and says what became of its rows. */
import type { ImportPlan, RunReport } from "@roster/workflows"
import { Effect } from "effect"
import { PartlyDone } from "../../../errors/UsageError.ts"
import { Output } from "../../../terminal/Output.ts"
import { printable } from "../../../terminal/Printable.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { resumeCommand, ResumeHint } from "../../../terminal/ResumeHint.ts"
import * as Results from "../../../terminal/Results.ts"
import { countLines } from "./ImportReport.ts"

/** The counts of a report that a plan has. The rows are those of the plan. */
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

/** `again` says what to do about rows that are outdated. */
export const carryOut = Effect.fnUntraced(function* <E>(
  plan: ImportPlan<E>,
  { again, command, doing }: { readonly command: string; readonly doing: string; readonly again: string }
) {
  const output = yield* Output
  const hint = yield* ResumeHint
  const total = plan.summary.new + plan.summary.changed
  hint.command = yield* resumeCommand()
  const { report } = yield* withProgress(
    {
      doing,
      unit: "rows",
      total,
      interrupted: (done) => `${done} of ${total} rows are done.`
    },
    (onProgress) => plan.applyWith({ command, onProgress })
  )
  const { done, notSent, outdated, read, rejected, stoppedBy, unknown } = report
  if (notSent + unknown === 0) hint.command = undefined
  yield* Results.summary(summaryOf(report), words(report))
  if (stoppedBy !== undefined && done === 0) return yield* stoppedBy
  if (notSent + outdated + rejected + unknown === 0) return
  const why = stoppedBy === undefined ? "" : ` ${stoppedBy.message}`
  if (unknown === 0) yield* output.note("The rows that were not applied are as they were.")
  return yield* new PartlyDone({
    message:
      `${done} of ${read} rows were applied, ${outdated} are outdated, ${rejected} refused, ${notSent} not ` +
      `sent, ${unknown} have no answer.${why}`,
    hint: `Run the same command again for rows that were not sent; ${again}.`
  })
})
