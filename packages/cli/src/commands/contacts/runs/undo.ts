/** `roster contacts undo` */
import { previewUndo, type UndoReport, undoRun } from "@roster/workflows/former"
import { Effect } from "effect"
import { Argument, Command } from "effect/cli"
import { PartlyDone, usageError } from "../../../errors/UsageError.ts"
import { targetIdentity } from "../../../target/Target.ts"
import * as TargetLayer from "../../../target/TargetLayer.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { Output } from "../../../terminal/Output.ts"
import { counted, printable } from "../../../terminal/Printable.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { commandHere, ResumeHint } from "../../../terminal/ResumeHint.ts"
import * as Results from "../../../terminal/Results.ts"
import { withExamples } from "../../shared/CommonFlags.ts"
import { confirm, confirmCount, confirmNumber, mostByYes, yes } from "../../shared/Confirm.ts"
import { lookupFor, withRun } from "./RecordedRun.ts"
import { lastRunOn, openRun } from "./RunFiles.ts"

const words = (report: UndoReport, isExact: boolean): string => {
  const { changedSince, changedSinceSample, incomplete, recreated, removed, restored, unchanged, unknown } = report
  const line = (count: number, what: string) => (count === 0 ? [] : [`${counted(count)} ${what}`])
  return [
    ...line(removed, "created by the run: deleted"),
    ...line(restored, "changed by the run: changed back"),
    ...line(recreated, "deleted by the run: added again"),
    ...line(unchanged, "already as before"),
    ...line(changedSince, "changed by others since: left as they are, at least in part"),
    ...changedSinceSample.map(({ email, fields }) => printable(`  ${email}  ${fields.join(", ")}`).trimEnd()),
    ...(isExact ? [] : line(incomplete, "cannot be restored completely over this interface")),
    ...(isExact || recreated + restored + removed === 0
      ? []
      : ["Not restored over this interface: lists, source, dates and activity."]),
    ...unknown.map((what) => printable(`Not recorded, and left as it is: ${what}`))
  ].join("\n")
}

/** The number of contacts that an undo changes. */
const changedBy = ({ recreated, removed, restored }: UndoReport): number => recreated + removed + restored

export const command = Command.make(
  "undo",
  {
    run: Argument.String("run").pipe(
      Argument.withDescription(
        "Id of the run, as shown by: roster contacts runs; or last, for the last one on this service or store"
      )
    ),
    yes,
    confirm: confirmCount,
    dryRun
  },
  Effect.fnUntraced(function* ({ dryRun, run: named, ...given }) {
    const output = yield* Output
    const name = yield* targetIdentity
    const id = named === "last" ? yield* lastRunOn(name) : named
    const run = yield* openRun(id)
    const { target } = run.header
    if (target !== name) {
      return yield* usageError(
        `The run ${id} was on ${printable(target)}, and this is ${printable(name)}.`,
        "Nothing was changed. Set the service or store of the run, with --db, --base-url or --profile."
      )
    }
    const { changed, created, deleted } = run.counts
    const expected = created + changed + deleted
    const lookup = yield* lookupFor(expected)
    const preview = yield* previewUndo(run.entries, lookup)
    const isExact = lookup.hasLists
    const text = words(preview, isExact)
    const number = changedBy(preview)
    if (dryRun) {
      return yield* Results.summary(
        { dryRun: true, undoes: id, ...preview, exact: isExact },
        `Would undo ${id}:\n${text}`
      )
    }
    if (number === 0) {
      return yield* Results.summary({ undoes: id, ...preview, exact: isExact }, text === "" ? "Nothing to undo." : text)
    }
    yield* output.note(text)
    const what = `undo the run ${id}, which changes ${counted(number)}`
    yield* number > mostByYes || given.confirm !== undefined ? confirmNumber(what, number, given) : confirm(what, given)
    const hint = yield* ResumeHint
    // By its id: an interrupted undo is itself the last run.
    const resume = yield* commandHere(["contacts", "undo", id, ...(given.yes ? ["--yes"] : [])])
    hint.command = resume
    // Whoever is asked may take long to answer, and then contacts are read again.
    const asRun = { command: "undo", expected, undoes: id, lookup: given.yes ? lookup : undefined }
    const report = yield* withRun(asRun, ({ lookup, recorder }) =>
      withProgress(
        {
          doing: "Undoing",
          unit: "contacts",
          total: expected,
          interrupted: (done) => `${done} of ${expected} contacts are done. Resume with: ${resume}`
        },
        (onProgress) => undoRun(run.backwards, { lookup, recorder, onProgress })
      )
    )
    hint.command = undefined
    yield* Results.summary({ undoes: id, ...report, exact: isExact }, `Undone: ${counted(changedBy(report))}.`)
    if (report.changedSince + report.unknown.length > 0) {
      return yield* new PartlyDone({
        message: `The undo left some of what the run ${id} changed as it is.`,
        hint: "Others have changed these contacts since, or the record of the run does not say how they were."
      })
    }
  }, Effect.scoped)
).pipe(
  withExamples({
    "roster contacts undo last --dry-run": "Show what would be changed back",
    "roster contacts undo 20261121T140000123Z-1a2b": "",
    "roster contacts undo 20261121T140000123Z-1a2b --yes --confirm 20417":
      "Without a terminal: undo only if exactly this many contacts change"
  }),
  Command.provide(TargetLayer.layer)
)
