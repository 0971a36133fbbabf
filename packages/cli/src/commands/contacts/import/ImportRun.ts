/** Imports rows in batches, with a journal if the file is a regular one, and reports every row however it ends. */
import { type ContactColumns, type ImportRow, type ReadContactsOptions } from "@roster/domain"
import { type UploadSurvey } from "@roster/workflows"
import { type JournaledUpload, makeImportPlan, makeUpload, type UploadJournal } from "@roster/workflows/former"
import { Cause, Data, DateTime, Effect, Exit, Stream } from "effect"
import { prepare } from "../../../files/AtomicFile.ts"
import { type CurrentRun, lookupFor, recorded } from "../runs/RecordedRun.ts"
import type { ImportedFile } from "./ImportedFile.ts"
import {
  importChanged,
  importOutcome,
  importSummary,
  importWords,
  plannedSummary,
  plannedWords
} from "./ImportReport.ts"
import { Output, report as reportEnd } from "../../../terminal/Output.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import type { KeepRejected } from "./RejectedFile.ts"
import * as Results from "../../../terminal/Results.ts"
import { Target, targetIdentity } from "../../../target/Target.ts"
import { uploadJournalFile, withUploadJournal } from "./UploadJournalFile.ts"
import type { UsageError } from "../../../errors/UsageError.ts"
import { commandHere, resumeCommand, ResumeHint } from "../../../terminal/ResumeHint.ts"

export interface ImportRun<E> {
  readonly file: ImportedFile
  readonly rows: Stream.Stream<ImportRow, E>
  readonly survey: UploadSurvey
  readonly lists: ReadonlyArray<string>
  readonly reading: ReadContactsOptions & { readonly columns: ContactColumns.ColumnMap }
  readonly concurrency: number | undefined
  readonly resubscribe: boolean
  readonly dryRun: boolean
  /** The file to write the plan to, instead of sending anything. */
  readonly plan: string | undefined
  /** Whether the file of the plan may be replaced. */
  readonly force: boolean
  /** Whether what the import changes is not recorded. */
  readonly noUndo: boolean
  readonly restart: boolean
  readonly noJournal: boolean
  readonly keepRejected: KeepRejected
}

/** A read error in a file that could be read when it was checked: the file has changed. */
class Changed<E> extends Data.TaggedError("Changed")<{ readonly error: E; readonly message: string }> {}

const uploadOf = Effect.fnUntraced(function* <E extends { readonly message: string }>(
  run: ImportRun<E>,
  journal: JournaledUpload<UsageError> | undefined
) {
  const { concurrency, lists, resubscribe, survey } = run
  const rows = Stream.mapError(run.rows, (error) => new Changed({ error, message: error.message }))
  const listNames = lists.length === 0 ? undefined : lists
  return yield* makeUpload(rows, survey, { concurrency, listNames, resubscribe, journal })
})

const journaled = Effect.fnUntraced(function* <E>(run: ImportRun<E>, lines: UploadJournal<UsageError>) {
  const { columns, delimiter, encoding } = run.reading
  const journal: JournaledUpload<UsageError> = {
    lines,
    identity: {
      ...(yield* run.file.digest),
      target: yield* targetIdentity,
      listNames: run.lists,
      columns,
      ...Results.omitUndefined({ delimiter, encoding })
    },
    restart: run.restart
  }
  return journal
})

const sent = Effect.fnUntraced(function* <E extends { readonly message: string }>(
  run: ImportRun<E>,
  journal: JournaledUpload<UsageError> | undefined,
  current: CurrentRun | undefined
) {
  const output = yield* Output
  const imported = Effect.suspend(() =>
    current === undefined
      ? Effect.undefined
      : Effect.map(current.recorder.counts, (counts) => ({ run: current.id, ...counts }))
  )
  const hintBox = yield* ResumeHint
  const upload = yield* uploadOf(run, journal)
  const resume = journal === undefined ? undefined : yield* resumeCommand(["--restart"])

  const tellStopped = Effect.fnUntraced(function* (cause: Cause.Cause<unknown>) {
    const report = yield* upload.report
    const by = yield* imported
    yield* Effect.ignore(Results.summary(importSummary(report, undefined, by), importWords(report, undefined, by)))
    if (!Cause.hasInterrupts(cause)) return
    const message =
      `The import was interrupted: ${report.accepted} of ${report.read} rows were accepted, ${report.unknown} ` +
      "have no answer."
    const hint =
      resume === undefined
        ? "Run the import again: existing contacts are updated."
        : "Run the same command again to resume."
    const next = resume === undefined ? hint : `Resume with: ${resume}`
    yield* reportEnd({ code: "Interrupted", message, hint, resume }, `${message}\n  ${next}`)
  })

  hintBox.command = resume
  const { answered, sendable } = upload.size
  if (answered > 0) yield* output.note(`Resuming: ${answered} of ${sendable} rows were answered in an earlier run.`)
  yield* withProgress({ doing: "Importing", unit: "rows", total: sendable, from: answered }, (update) =>
    upload.send(update)
  ).pipe(
    Effect.onExit((exit) => (Exit.isSuccess(exit) ? Effect.void : tellStopped(exit.cause))),
    Effect.catchTag(
      "Changed",
      Effect.fnUntraced(function* ({ error }) {
        // The journal belongs to the old content.
        if (journal !== undefined) hintBox.command = yield* resumeCommand(["--restart"], ["--restart"])
        const report = yield* upload.report
        const isSent = report.accepted + report.rejected + report.unknown > answered + run.survey.invalid
        return yield* Effect.fail(isSent ? importChanged(report, error, journal !== undefined) : error)
      })
    )
  )

  const report = yield* upload.report
  const isOver = report.notSent + report.unknown === 0
  if (isOver) hintBox.command = undefined
  // With a journal, the run that completes the import writes the rejected rows of all runs.
  const kept = isOver || journal === undefined ? yield* run.keepRejected(report, upload.rejected) : undefined
  const by = yield* imported
  yield* Results.summary(importSummary(report, kept, by), importWords(report, kept, by))
  yield* importOutcome(report)
})

/** Sends the rows, and records what they change unless the user does without. */
const sentInRun = Effect.fnUntraced(function* <E extends { readonly message: string }>(
  run: ImportRun<E>,
  journal: JournaledUpload<UsageError> | undefined
) {
  if (run.noUndo) return yield* sent(run, journal, undefined)
  const { duplicates, invalid, read } = run.survey
  yield* recorded({ command: "import", expected: read - invalid - duplicates }, (current) =>
    sent(run, journal, current)
  )
})

/** Finds what the rows would change, and writes the plan to its file, if one is named. */
const planned = Effect.fnUntraced(function* <E>(run: ImportRun<E>) {
  const { lists, plan: file, survey } = run
  const target = yield* targetIdentity
  const { sha256 } = yield* run.file.digest
  const made = DateTime.formatIso(yield* DateTime.now)
  const write = file === undefined ? undefined : yield* prepare(file, { force: run.force })
  const total = survey.read - survey.invalid - survey.duplicates
  const lookup = yield* lookupFor(total)
  const plan = yield* withProgress(
    { doing: "Planning", unit: "rows", total },
    Effect.fnUntraced(function* (onProgress) {
      const header = {
        plan: "roster contacts import",
        version: 1,
        target,
        made,
        sha256,
        listNames: lists,
        resubscribe: run.resubscribe
      } as const
      const plan = makeImportPlan(run.rows, survey, { header, lookup, onProgress })
      if (write === undefined) yield* Stream.runDrain(plan.lines)
      else yield* write(Stream.encodeText(plan.lines))
      return plan
    })
  )
  const summary = yield* plan.summary
  const apply = file === undefined ? undefined : yield* commandHere(["contacts", "apply", file])
  return { summary, lists, resubscribe: run.resubscribe, file, apply }
})

/** Sends the rows of a surveyed file, or reports what would be sent. */
export const importRows = Effect.fnUntraced(function* <E extends { readonly message: string }>(run: ImportRun<E>) {
  const { dryRun, file, noJournal, plan } = run
  const hasJournal = file.isFile && !noJournal
  if (dryRun || plan !== undefined) {
    const found = yield* planned(run)
    const journal = hasJournal ? yield* journaled(run, yield* uploadJournalFile(file.path)) : undefined
    const report = yield* (yield* uploadOf(run, journal)).report
    const { name } = yield* Target
    return yield* Results.summary(plannedSummary(report, name, found), plannedWords(report, name, found))
  }
  yield* file.unchanged
  if (!hasJournal) return yield* sentInRun(run, undefined)
  yield* withUploadJournal(file.path, (lines) =>
    Effect.flatMap(journaled(run, lines), (journal) => sentInRun(run, journal))
  )
})
