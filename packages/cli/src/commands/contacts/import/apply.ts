/** `roster contacts apply` */
import { applyPlan, type ApplyReport, checkPlan, verifyPlan } from "@roster/workflows/former"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { PartlyDone, usageError } from "../../../errors/UsageError.ts"
import { temporaryProblem } from "../../../files/TemporaryFile.ts"
import { readBytes, refuseStream } from "../../../settings/InputFile.ts"
import { targetIdentity } from "../../../target/Target.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { Output } from "../../../terminal/Output.ts"
import { printable } from "../../../terminal/Printable.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { resumeCommand, ResumeHint } from "../../../terminal/ResumeHint.ts"
import * as Results from "../../../terminal/Results.ts"
import { toggle } from "../../../settings/FlagForms.ts"
import { withExamples } from "../../shared/CommonFlags.ts"
import { lookupFor, withRun } from "../runs/RecordedRun.ts"

const words = (report: ApplyReport): string =>
  [
    ...Object.entries({
      rows: report.rows,
      applied: report.applied,
      "already done": report.alreadyApplied,
      outdated: report.outdated,
      refused: report.refused,
      "not sent": report.notSent,
      unknown: report.unknown
    }).map(([name, count]) => `${name.padEnd(12)}  ${count}`),
    ...report.outdatedRows.map(({ email, line }) =>
      printable(`line ${line}: ${email} changed since the plan was made`)
    ),
    ...report.refusedRows.map(({ line, reason }) => printable(`line ${line}: ${reason}`))
  ].join("\n")

const summaryOf = ({ stoppedBy: _stoppedBy, ...counts }: ApplyReport, run: string) => ({ ...counts, run })

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
    const name = yield* targetIdentity
    const output = yield* Output
    yield* refuseStream(file, "A plan")
    const plan = yield* checkPlan(yield* readBytes(file))
    const { counts, header } = plan
    if (header.target !== name) {
      return yield* usageError(
        `The plan is for ${printable(header.target)}, and this is ${printable(name)}.`,
        "Nothing was sent. Set the service or store of the plan, with --db, --base-url or --profile."
      )
    }
    const expected = counts.new + counts.changed
    const lookup = yield* lookupFor(expected)
    // Either way every row is read before anything is sent.
    yield* skipChanged ? Stream.runDrain(plan.rows) : temporaryProblem("the contacts", "read")(verifyPlan(plan, lookup))
    if (dryRun) {
      return yield* Results.summary(
        { dryRun: true, ...counts, lists: header.listNames },
        `Would add ${counts.new} contacts and change ${counts.changed}.\nNothing was sent.`
      )
    }
    const hint = yield* ResumeHint
    hint.command = yield* resumeCommand()
    const [report, run] = yield* withRun({ command: "apply", expected, lookup }, (run) =>
      Effect.map(
        withProgress(
          {
            doing: "Applying",
            unit: "rows",
            total: expected,
            interrupted: (done) => `${done} of ${expected} rows are done. Run the same command again to resume.`
          },
          (onProgress) => applyPlan(plan, { lookup: run.lookup, recorder: run.recorder, onProgress })
        ),
        (report) => [report, run.id] as const
      )
    )
    if (report.notSent + report.unknown === 0) hint.command = undefined
    yield* Results.summary(summaryOf(report, run), words(report))
    const { applied, notSent, outdated, refused, rows, stoppedBy, unknown } = report
    if (stoppedBy !== undefined && applied === 0) return yield* stoppedBy
    if (notSent + outdated + refused + unknown === 0) return
    const why = stoppedBy === undefined ? "" : ` ${stoppedBy.message}`
    yield* output.note("The rows that were not applied are as they were.")
    return yield* new PartlyDone({
      message:
        `${applied} of ${rows} rows were applied, ${outdated} are outdated, ${refused} refused, ${notSent} not ` +
        `sent, ${unknown} have no answer.${why}`,
      hint: "Run the same command again for rows that were not sent; plan the import again for those that are outdated."
    })
  }, Effect.scoped)
).pipe(
  withExamples({
    "roster contacts apply plan.json": "",
    "roster contacts apply plan.json --skip-changed": "Leave out contacts that changed since the plan was made"
  }),
  Command.provide(TargetLayer.layer)
)
