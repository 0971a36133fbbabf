/** Imports rows in batches, as a run that can go on and be undone, and reports every row however it ends. */
import type { AddMode, AddOptions, ImportMapping, ImportRow } from "@roster/domain"
import {
  commandWords,
  importCommand,
  makeImport,
  makeImportPlan,
  type PlanStorage,
  type RejectionLimit,
  type UploadSurvey
} from "@roster/workflows"
import { Data, Effect, FileSystem, Stream } from "effect"
import { prepare } from "../../../files/AtomicFile.ts"
import { contactsFile } from "../runs/ContactsFile.ts"
import { reporting } from "../runs/RunSummary.ts"
import type { ImportedFile } from "../../shared/ImportedFile.ts"
import {
  importChanged,
  importOutcome,
  plannedOutcome,
  plannedSummary,
  plannedWords,
  withFlags
} from "./ImportReport.ts"
import { Output } from "../../../terminal/Output.ts"
import { printable } from "../../../terminal/Printable.ts"
import { withProgress } from "../../../terminal/Progress.ts"
import type { UsageError } from "../../../errors/UsageError.ts"
import type { KeepRejected } from "./RejectedFile.ts"
import * as Results from "../../../terminal/Results.ts"
import { Target } from "../../../target/Target.ts"
import { commandHere, resumeCommand, ResumeHint } from "../../../terminal/ResumeHint.ts"

export interface ImportRun<E> {
  readonly file: ImportedFile
  readonly rows: Stream.Stream<ImportRow, E>
  readonly survey: UploadSurvey
  readonly lists: ReadonlyArray<string>
  readonly mapping: ImportMapping
  readonly concurrency: number | undefined
  readonly resubscribe: AddOptions["resubscribe"]
  /** Which rows are left out, and what new contacts get. */
  readonly mode: AddMode
  readonly dryRun: boolean
  /** The file to write the plan to, instead of sending anything. */
  readonly plan: string | undefined
  /** Whether the file of the plan may be replaced. */
  readonly force: boolean
  /** The number or share of rejected rows with which the import counts as a success. */
  readonly maxRejected: RejectionLimit | undefined
  /** Whether nothing is recorded. */
  readonly noRecord: boolean
  readonly keepRejected: KeepRejected
}

/** A read error in a file that could be read when it was checked: the file has changed. */
class Changed<E> extends Data.TaggedError("Changed")<{ readonly error: E; readonly message: string }> {}

/** Imports the rows of a surveyed file. */
const imported = Effect.fnUntraced(function* <E extends { readonly message: string }>(run: ImportRun<E>) {
  const { concurrency, lists: listNames, noRecord, resubscribe, survey } = run
  const output = yield* Output
  const hint = yield* ResumeHint
  const rows = Stream.mapError(run.rows, (error) => new Changed({ error, message: error.message }))
  const importing = yield* makeImport(rows, survey, {
    ...run.mode,
    concurrency,
    listNames,
    resubscribe,
    source: yield* run.file.digest,
    mapping: run.mapping,
    record: !noRecord,
    snapshot: yield* contactsFile,
    onUnread: output.note(
      "This key may not view contacts, so that the import cannot be planned, and nobody is told which of " +
        "the contacts are new."
    )
  }).pipe(Effect.catchTag("Stopped", ({ cause }) => cause))

  hint.command = noRecord ? undefined : yield* resumeCommand()
  if (importing.run?.isResumed === true) yield* output.note(`The import goes on in the run ${importing.run.id}.`)
  const left = yield* reporting(
    { command: "import", file: run.file.path },
    Effect.fnUntraced(function* (tell) {
      const stoppedBy = yield* withProgress(
        { doing: "Importing", unit: "rows", total: importing.sendable },
        importing.apply
      ).pipe(
        Effect.ensuring(Effect.flatMap(importing.report, (report) => tell({ report }))),
        Effect.as(undefined),
        Effect.catchTags({
          Stopped: ({ cause }) => Effect.succeed(cause),
          Changed: Effect.fnUntraced(function* ({ error }) {
            const report = yield* importing.report
            const isSent = report.done + report.rejected + report.unknown > survey.rejected
            return yield* Effect.fail(isSent ? importChanged(report, error) : error)
          })
        })
      )

      const report = yield* importing.report
      const isOver = report.notSent + report.unknown === 0
      if (isOver) hint.command = undefined
      // The process that completes the import writes the rejected rows of all.
      const kept =
        isOver || noRecord
          ? yield* run.keepRejected(
              { header: survey.header, mapping: run.mapping, rejected: report.rejected },
              importing.rejected
            )
          : undefined
      if (kept === undefined) return yield* importOutcome(report, { limit: run.maxRejected, stoppedBy })
      yield* tell({ report, facts: { rejectedFile: kept.rows } })
      const again = commandWords(
        importCommand(kept.rows, {
          ...run.mode,
          listNames,
          resubscribe,
          onDuplicate: survey.onDuplicate,
          mapping: kept.mapping
        })
      )
      return yield* importOutcome(report, { again: yield* commandHere(again), limit: run.maxRejected, stoppedBy })
    })
  )
  if (left !== undefined) yield* output.note(left)
})

/** Finds what the rows would change, and writes the plan to its file, if one is named. */
const planned = Effect.fnUntraced(function* <E>(run: ImportRun<E>) {
  const { lists, mapping, plan: file, resubscribe, survey } = run
  const total = survey.read - survey.rejected - survey.duplicates
  const write = file === undefined ? undefined : yield* prepare(file, run)
  const storage: PlanStorage<UsageError> = {
    write: (content) => (write === undefined ? Stream.runDrain(content) : Effect.asVoid(write(content))),
    // Another command reads it.
    content: Stream.empty
  }
  const snapshot = yield* contactsFile
  const source = yield* run.file.digest
  const plan = yield* withProgress({ doing: "Planning", unit: "rows", total }, (onProgress) =>
    makeImportPlan(run.rows, survey, {
      ...run.mode,
      listNames: lists,
      resubscribe,
      source,
      mapping,
      snapshot,
      storage,
      onProgress
    })
  )
  const { name: target } = yield* Target
  const apply = file === undefined ? undefined : yield* commandHere(["contacts", "apply", file])
  const found = { target, summary: withFlags(plan.summary), lists, file, apply }
  yield* Results.summary(plannedSummary(found), plannedWords(found))
  if (file === undefined) yield* plannedOutcome(plan.summary, run.maxRejected)
})

/** The journal that versions before the log of runs wrote beside a file. */
const journalBefore = Effect.fnUntraced(function* ({ isFile, path }: ImportedFile) {
  const fs = yield* FileSystem.FileSystem
  const output = yield* Output
  const journal = `${path}.roster-journal`
  if (isFile && (yield* Effect.orElseSucceed(fs.exists(journal), () => false))) {
    yield* output.note(`${printable(journal)} is of an earlier version and is not read. Remove it.`)
  }
})

/** Imports the rows of a surveyed file, or reports what that would change. */
export const importRows = Effect.fnUntraced(function* <E extends { readonly message: string }>(run: ImportRun<E>) {
  if (run.dryRun || run.plan !== undefined) return yield* planned(run)
  yield* run.file.unchanged
  yield* journalBefore(run.file)
  yield* imported(run)
})
