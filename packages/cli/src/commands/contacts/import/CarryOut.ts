/** Carries out a plan, whose changes are recorded, and says what became of its rows. */
import { outcomeWords, type Plan, Stopped } from "@roster/workflows"
import { Effect } from "effect"
import { PartlyDone } from "../../../errors/UsageError.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { resumeCommand, ResumeHint } from "../../../terminal/ResumeHint.ts"
import { contactsFile } from "../runs/ContactsFile.ts"
import { type Facts, type PlannedCommand, reporting } from "../runs/RunSummary.ts"

/**
 * `again` says what to do about contacts that are outdated. `alreadySo` are contacts of a selection that are so already, and not
 * in the plan; `facts` are said beside the report, and `partly` is how a whole run ends if the plan leaves something.
 */
export const carryOut = Effect.fnUntraced(function* <E>(
  plan: Plan<E>,
  {
    again,
    alreadySo = 0,
    command,
    doing,
    facts = {},
    file,
    input,
    partly
  }: {
    readonly command: PlannedCommand
    readonly doing: string
    readonly again: string
    readonly file?: string | undefined
    readonly input?: string | undefined
    readonly alreadySo?: number | undefined
    readonly facts?: Facts | undefined
    readonly partly?: PartlyDone | undefined
  }
) {
  const hint = yield* ResumeHint
  const { changed, deleted = 0, new: added, onlyLists } = plan.summary
  const total = added + changed + deleted + onlyLists
  // A plan that is made again may have another number.
  hint.command = yield* resumeCommand([], [], "--confirm")
  yield* reporting(
    { command, file },
    Effect.fnUntraced(function* (tell) {
      const { report, stoppedBy } = yield* withProgress(
        { doing, unit: "rows", total },
        Effect.fnUntraced(function* (onProgress) {
          return yield* plan.applyWith({
            command,
            input,
            onProgress,
            onReport: (report) =>
              tell({
                report: {
                  ...report,
                  read: report.read + alreadySo,
                  done: report.done + alreadySo,
                  alreadySo: report.alreadySo + alreadySo
                },
                facts
              }),
            snapshot: yield* contactsFile
          })
        }, Effect.scoped)
      ).pipe(
        Effect.map(({ report }) => ({ report, stoppedBy: undefined })),
        Effect.catchIf(
          (error) => error instanceof Stopped,
          ({ cause, report }) => Effect.succeed({ report, stoppedBy: cause })
        )
      )
      const { done, notSent, outdated, rejected, unknown } = report
      if (notSent + unknown === 0) hint.command = undefined
      if (stoppedBy !== undefined && done === 0) return yield* stoppedBy
      if (notSent + outdated + rejected + unknown === 0) return partly === undefined ? undefined : yield* partly
      const why = stoppedBy === undefined ? "" : ` ${stoppedBy.message}`
      const hints = [
        ...(notSent + unknown === 0 ? [] : ["Run the same command again for the rows that are left."]),
        ...(outdated === 0 ? [] : [again]),
        ...(rejected === 0 ? [] : ["Change what the service refused."])
      ]
      return yield* new PartlyDone({ message: `${outcomeWords(report, { stoppedBy })}${why}`, hint: hints.join(" ") })
    })
  )
})
