/** `roster contacts undo` */
import {
  commandWords,
  givenBackWords,
  liftedValue,
  previewUndo,
  reportWords,
  type RunInfo,
  RunLog,
  strippedWords,
  type UndoneContact,
  type UndoReport,
  undoRun
} from "@roster/workflows"
import { Effect, Stream } from "effect"
import { Argument, Command } from "effect/cli"
import { PartlyDone, usageError } from "../../../errors/UsageError.ts"
import { parsed, texts, toggle } from "../../../settings/FlagForms.ts"
import * as RunLogLayer from "../../../target/RunLogLayer.ts"
import { dryRun } from "../../../terminal/DryRun.ts"
import { Output } from "../../../terminal/Output.ts"
import { counted, printable, shorten } from "../../../terminal/Printable.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import { commandHere, ResumeHint } from "../../../terminal/ResumeHint.ts"
import { resubscribeFlag, withExamples } from "../../shared/CommonFlags.ts"
import { parseGiven, ruleGiven } from "../../shared/SavedRules.ts"
import { confirmContacts, confirmCount, yes } from "../../shared/Confirm.ts"
import { reporting } from "./RunSummary.ts"

/** The number of contacts that an undo changes. */
const changedBy = ({ changed, deleted, new: added }: UndoReport): number => added + changed + deleted

/** A value as people read it. To be on a list is no value. */
const valueWords = (field: string, value: string | number | null): string =>
  field.startsWith("Lists.") ? (value === null ? "not on it" : "on it") : value === null ? "none" : shorten(`${value}`)

/** Why a contact stays as it is, at least in part, with the values that stay. */
const leftWords = ({ email, fields, isUntold, since }: UndoneContact): ReadonlyArray<string> => [
  printable(
    `  ${email}${since === undefined ? "" : `  ${isUntold === true ? "may have left" : since.toLowerCase()} since`}`
  ),
  ...fields.flatMap(({ before, byRun, field, isKept, now }) => {
    if (!isKept || since === "Deleted") return []
    const [old, given, current] = [before, byRun, now].map((value) => valueWords(field, value))
    return [`    ${printable(field)}: before: ${old}; by the run: ${given}; now: ${current}`]
  })
]

const words = (report: UndoReport): string => {
  const {
    alreadySo,
    changed,
    deleted,
    incomplete,
    leftOut,
    new: added,
    outdated,
    partlyDone,
    rejected,
    stripped,
    untold
  } = report
  const line = (count: number, what: string) => (count === 0 ? [] : [`${counted(count)} ${what}`])
  return [
    ...line(deleted, "created by the run: deleted"),
    ...line(changed - stripped, "changed by the run: changed back"),
    ...line(stripped, strippedWords("lose")),
    ...line(added, "deleted by the run: added again"),
    ...line(alreadySo, "already as before"),
    ...line(leftOut, "left out, as the flags say"),
    ...line(outdated + partlyDone - untold, "changed by others since: left as they are, at least in part"),
    ...line(untold, "got no mail by the run and may have left by themselves since: keep their status"),
    ...report.outdatedContacts.flatMap(leftWords),
    ...line(rejected, "left as they are, since a value that they had may not be written"),
    ...report.unwritableContacts.flatMap(leftWords),
    ...line(incomplete, "cannot be restored completely over this interface"),
    ...(changedBy(report) === 0 ? [] : ["Not restored: source, dates, activity and the place in the order."]),
    ...report.unknownChanges.map((what) => printable(`Not recorded, and left as it is: ${what}`)),
    ...givenBackWords(report)
  ].join("\n")
}

/** Fails where an undo leaves some of what the run changed, or would. */
const leftOver = Effect.fnUntraced(function* (
  id: string,
  { outdated, partlyDone, rejected, unknownChanges, untold }: UndoReport,
  leaves: "left" | "would leave" = "left"
) {
  const causes = [
    [
      untold,
      "Nobody can tell who of them left by themselves since: --resubscribe changes their status back, that of Abuse by its name."
    ],
    [
      outdated + partlyDone - untold,
      "Others have changed contacts since, which --force overrides where they were not deleted."
    ],
    [rejected, "Some had values that may not be written: give them others with roster contacts update."],
    [unknownChanges.length, "The record of the run does not say how some were."]
  ] as const
  const hints = causes.flatMap(([count, hint]) => (count === 0 ? [] : [hint]))
  if (hints.length === 0) return
  return yield* new PartlyDone({
    message: `The undo ${leaves} some of what the run ${id} changed as it is.`,
    hint: hints.join(" ")
  })
})

/** Whether a run changed contacts or lists, or is at work, or did what its record does not have. */
const mayHaveChanged = Effect.fnUntraced(
  function* ({ counts: { changed, created, deleted }, header }: RunInfo) {
    if (created + changed + deleted > 0) return true
    const { read } = yield* RunLog
    let isUnknown = false
    // The counts leave out those who were only put on lists.
    let made = 0
    yield* Stream.runForEach((yield* read(header.id)).entries, (entry) =>
      Effect.sync(() => {
        if (entry._tag === "Unknown") isUnknown = true
        if (entry._tag === "NotMade") made -= entry.emails.length
        if (entry._tag !== "Changes") return
        for (const contacts of [entry.created, entry.changed, entry.deleted]) made += contacts?.length ?? 0
      })
    )
    return isUnknown || made > 0
  },
  Effect.catchTag("RunTaken", () => Effect.succeed(true))
)

/** The id of the newest run that changed something on this service or store. */
const lastRun = Effect.gen(function* () {
  const { list, target } = yield* RunLog
  const { isNamed, name } = yield* target
  for (const run of yield* list) {
    // The log has rotations of credentials too.
    const { command, id, target: of } = run.header
    if (command !== "rotate" && isNamed(of) && (yield* mayHaveChanged(run))) return id
  }
  return yield* usageError(
    `There is no run on ${shorten(name)} that changed something.`,
    "List the runs with: roster contacts runs"
  )
})

export const command = Command.make(
  "undo",
  {
    run: Argument.String("run").pipe(
      Argument.withDescription(
        "Id of the run, as shown by: roster contacts runs; or last, for the last one that changed something here"
      )
    ),
    only: parsed(
      "only",
      parseGiven,
      "Undo only the contacts that RULE selects as they are now, or as they were if they are deleted",
      "RULE"
    ),
    fields: texts(
      "field",
      "Change back only this field, such as FirstName, city or Lists.news, and neither delete nor add contacts",
      "NAME"
    ),
    force: toggle("force", "Also change back what others changed since"),
    resubscribe: resubscribeFlag(
      "Change back Unsubscribed, Bounced and NotConfirmed, or the statuses that are named, also where nobody can tell whether the " +
        "person left by themselves since; Abuse only by its name (default: they keep the status)"
    ),
    yes,
    confirm: confirmCount,
    dryRun
  },
  Effect.fnUntraced(function* ({ dryRun, fields, force, only: rule, resubscribe, run: named, ...given }) {
    const output = yield* Output
    const only = rule === undefined ? undefined : yield* ruleGiven(rule)
    const id = named === "last" ? yield* lastRun : named
    const scope = { only, fields: fields.length === 0 ? undefined : fields, force, resubscribe }
    const preview = yield* previewUndo(id, scope)
    const text = words(preview)
    const number = changedBy(preview)
    const facts = { undoes: id }
    if (dryRun || number === 0) {
      return yield* reporting({ command: "undo" }, (tell) =>
        Effect.andThen(
          dryRun
            ? tell({ report: preview, facts: { ...facts, dryRun }, words: `Would undo ${id}:\n${text}` })
            : tell({ report: preview, facts, words: text === "" ? "Nothing to undo." : text }),
          leftOver(id, preview, dryRun ? "would leave" : "left")
        )
      )
    }
    yield* output.note(text)
    const mailed = preview.newRecipients?.people ?? 0
    const gives = mailed === 0 ? "" : ` and gives mail to ${mailed.toLocaleString("en-US")} of them who get none now`
    yield* confirmContacts(`undo the run ${id}, which changes ${counted(number)}${gives}`, number, given)
    const hint = yield* ResumeHint
    // By its id: an interrupted undo is itself the last run.
    const again = { only, field: fields, force, resubscribe: liftedValue(resubscribe), yes: given.yes }
    hint.command = yield* commandHere(commandWords({ program: "contacts undo", given: [id], values: again }))
    yield* reporting(
      { command: "undo" },
      Effect.fnUntraced(function* (tell) {
        const report = yield* withProgress({ doing: "Undoing", unit: "contacts", total: preview.read }, (onProgress) =>
          undoRun(id, {
            ...scope,
            onProgress,
            onReport: (report) => {
              const left = Math.max(0, preview.read - report.read)
              const whole = { ...report, read: report.read + left, notSent: report.notSent + left }
              return tell({ report: whole, facts, words: reportWords(whole).join("\n") })
            }
          })
        ).pipe(
          Effect.catchTag("Stopped", (stopped) =>
            Effect.fail(
              stopped.report.done === 0
                ? stopped.cause
                : new PartlyDone({
                    message: stopped.message,
                    hint: "Run the same command again for the contacts that are left."
                  })
            )
          )
        )
        hint.command = undefined
        yield* leftOver(id, report)
      })
    )
  })
).pipe(
  withExamples({
    "roster contacts undo last --dry-run": "Show what would be changed back",
    "roster contacts undo 20261121T140000Z-1a2b3c4d": "",
    "roster contacts undo last --only \"city = 'Köln'\" --field Status": "Change back one field of some contacts",
    "roster contacts undo 20261121T140000Z-1a2b3c4d --yes --confirm 20417":
      "Without a terminal: undo only if exactly this many contacts change"
  }),
  Command.provide(RunLogLayer.layerForWrites({ dryRun: false }))
)
