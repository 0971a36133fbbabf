/** Carries out a plan, whose changes are recorded, and says what became of its rows. */
import type { Plan, RunReport } from "@roster/workflows"
import { Effect } from "effect"
import { PartlyDone } from "../../../errors/UsageError.ts"
import { Output } from "../../../terminal/Output.ts"
import { printable } from "../../../terminal/Printable.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { resumeCommand, ResumeHint } from "../../../terminal/ResumeHint.ts"
import * as Results from "../../../terminal/Results.ts"
import { contactsFile } from "../runs/ContactsFile.ts"
import { runLines, runSummary } from "../runs/RunSummary.ts"

const words = (report: RunReport): string =>
  [
    ...runLines(report),
    ...report.outdatedContacts.map(({ email, line = 0 }) =>
      printable(`line ${line}: ${email} changed since the plan was made`)
    ),
    ...report.rejectedRows.map(({ line, reason }) => printable(`line ${line}: ${reason}`))
  ].join("\n")

/** `again` says what to do about rows that are outdated; `facts` are told with the report. */
export const carryOut = Effect.fnUntraced(function* <E>(
  plan: Plan<E>,
  {
    again,
    command,
    doing,
    facts = {},
    input
  }: {
    readonly command: string
    readonly doing: string
    readonly again: string
    readonly input?: string | undefined
    readonly facts?: Readonly<Record<string, number>>
  }
) {
  const output = yield* Output
  const hint = yield* ResumeHint
  const { changed, deleted = 0, new: added } = plan.summary
  const total = added + changed + deleted
  // A plan that is made again may have another number.
  hint.command = yield* resumeCommand([], [], "--confirm")
  const { report } = yield* withProgress(
    {
      doing,
      unit: "rows",
      total,
      interrupted: (done) => `${done} of ${total} rows are done.`
    },
    Effect.fnUntraced(function* (onProgress) {
      return yield* plan.applyWith({ command, input, onProgress, snapshot: yield* contactsFile })
    }, Effect.scoped)
  )
  const { done, notSent, outdated, read, rejected, stoppedBy, unknown } = report
  if (notSent + unknown === 0) hint.command = undefined
  yield* Results.summary(runSummary(report, facts), words(report))
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
