/**
 * Imports rows: each batch is planned by what is stored and applied at once, with no plan kept in between. It is a run in the log:
 * what it changes can be undone, and an import of the same rows with the same options goes on in the run of one that did not
 * come to its end, with a new plan. (docs/decisions/bulk-import.md)
 */
import {
  type AddMode,
  type ContactsService,
  type ImportMapping,
  type ImportRow,
  type RejectedRow,
  type RunTaken,
  type InvalidInput
} from "@roster/domain"
import { fnRedacted, KnownFields, modeFields } from "@roster/domain/internal"
import { Effect, type Scope, type Stream } from "effect"
import { makeContactReader, type ReaderOptions, readerFields } from "../runs/ContactReader.ts"
import { fitOf, makeUnreached } from "../runs/ImportMode.ts"
import { makeRejectionCauses, named, rejectionOf } from "../runs/Rejections.ts"
import { type RunLogFailure } from "../runs/RecordedRun.ts"
import { RunLog } from "../runs/RunLog.ts"
import { emptyReport, type RunReport } from "../runs/RunReport.ts"
import { type Stopped, stoppedAt, unlessStopped } from "../runs/Stopped.ts"
import { type BulkAddOptions, unreadRows, bulkFields } from "../upload/BulkAdd.ts"
import { batches, type SentRow } from "../upload/UploadBatches.ts"
import { maximumNamedRows, type TooManyRows, type UploadSurvey } from "../upload/UploadSurvey.ts"
import { leftOf, type Look, makeApplier } from "./Applier.ts"
import { foundOfRows, makeRowLook, type RowLook } from "./ImportPlan.ts"
import { readOnce, type RowSource, type SourceTooLarge, type SpoolOptions, spoolFields } from "./RowSource.ts"

/** How rows are imported. */
export interface ImportOptions extends BulkAddOptions, ReaderOptions, AddMode {
  /** The command in the log (default: import). */
  readonly command?: string | undefined
  /** A text that tells this source from others, such as the digest of its file (default: a digest of its rows). */
  readonly source?: string | undefined
  /** How the rows were read. The log keeps it, and an import goes on only in the run of one that was read alike. */
  readonly mapping?: ImportMapping | undefined
  /**
   * Whether it is a run in the log (default: true). Without, it can be neither undone nor resumed, and rows are added unread
   * unless the mode depends on what is stored.
   */
  readonly record?: boolean | undefined
  /** Runs before rows are added by a key that may not view contacts, so that nobody can plan or undo them. */
  readonly onUnread?: Effect.Effect<void> | undefined
}

const importFields: KnownFields.Names<ImportOptions> = {
  ...bulkFields,
  ...readerFields,
  ...modeFields,
  command: true,
  source: true,
  mapping: true,
  record: true,
  onUnread: true
}
const makeFields = KnownFields.fieldsOf<ImportOptions>("an import", importFields)

/** An import that is ready to be applied. */
export interface Import<E> {
  /** The run in the log, if it is one: its id, and whether it goes on. */
  readonly run: { readonly id: string; readonly isResumed: boolean } | undefined
  /** The number of rows to apply. */
  readonly sendable: number
  /** Applies the rows, once, reporting how many are done. After `Stopped`, an import that is made anew goes on. */
  readonly apply: (
    onProgress?: (done: number) => Effect.Effect<void>
  ) => Effect.Effect<void, E | RunLogFailure | Stopped>
  /** The current outcomes, also while `apply` runs and after it was interrupted. */
  readonly report: Effect.Effect<RunReport>
  /** All rejected rows with their cells, in the order of the file, which is read again. */
  readonly rejected: Stream.Stream<RejectedRow, E>
}

/** What becomes of a row of an import. */
const lookOf = ({ after, change, effect, kept }: RowLook): Look => ({ effect, change, kept, after })

/**
 * Prepares an import of surveyed rows, which are read again.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { makeImport, surveyContacts } from "@roster/workflows"
 * import { Effect, Stream } from "effect"
 *
 * const rows = readContacts(Stream.make(new TextEncoder().encode("email\nada@example.com\n")))
 *
 * export const example = Effect.gen(function* () {
 *   const importing = yield* makeImport(rows, yield* surveyContacts(rows), { record: false })
 *   yield* importing.apply()
 *   return yield* importing.report
 * })
 * ```
 */
export const makeImport = fnRedacted("makeImport")(function* <E>(
  rows: Stream.Stream<ImportRow, E>,
  survey: UploadSurvey,
  options: ImportOptions = {}
): Effect.fn.Return<
  Import<E>,
  InvalidInput | RunTaken | RunLogFailure | Stopped,
  ContactsService | RunLog | Scope.Scope
> {
  yield* KnownFields.checkFields(makeFields, options)
  const { command = "import", concurrency, defaultStatus, listNames = [], mapping, only, onUnread } = options
  const { record = true, resubscribe = false, source = survey.digest } = options
  const sendable = survey.read - survey.rejected - survey.duplicates
  const input =
    source === undefined
      ? undefined
      : {
          source,
          listNames: [...listNames],
          resubscribe,
          ...(mapping === undefined ? {} : { mapping }),
          ...(only === undefined ? {} : { only }),
          ...(defaultStatus === undefined ? {} : { defaultStatus }),
          ...(survey.onDuplicate === "last" ? {} : { onDuplicate: survey.onDuplicate })
        }
  const { duplicateRows, duplicates, read, rejected, rejectedRows } = survey
  const untouched: RunReport = {
    ...emptyReport,
    read,
    rejected,
    rejectedRows,
    duplicates,
    duplicateRows,
    notSent: sendable
  }
  const run = record
    ? yield* (yield* RunLog).open({ command, input }).pipe(Effect.catchTag("ServiceError", stoppedAt(untouched)))
    : undefined
  const dependsOnStored = fitOf({ only, defaultStatus }) !== undefined
  const rowLook = makeRowLook({ listNames, resubscribe, only, defaultStatus })
  const unreached = makeUnreached({ defaultStatus })
  const unread = yield* unreadRows(options)
  const applier = yield* makeApplier<SentRow>({
    run,
    reader: record || dependsOnStored ? yield* makeContactReader(sendable, options) : undefined,
    look: ({ contact, lists }, found) => {
      const look = rowLook(contact, found, lists)
      if (look.effect !== "leftOut") unreached.look(contact, found)
      return lookOf(look)
    },
    looksAgain: true,
    ...unread,
    add: dependsOnStored ? undefined : unread.add,
    onUnread,
    concurrency
  }).pipe(Effect.catchTag("ServiceError", stoppedAt(untouched)))

  const report = Effect.gen(function* (): Effect.fn.Return<RunReport> {
    const applied = yield* applier.report
    const rejections = makeRejectionCauses()
    applier.refused.forEach(rejections.add)
    const notSent = leftOf(applied, sendable)
    const mayBeNew = applied.new + applied.unknownWhetherNew + notSent + applied.unknown > 0
    return {
      ...applied,
      read,
      rejected: rejected + applied.rejected,
      rejectedRows: [...rejectedRows, ...applied.rejectedRows]
        .sort((one, other) => one.line - other.line)
        .slice(0, maximumNamedRows),
      causes: [...survey.causes, ...rejections.causes()].toSorted((one, other) => other.count - one.count),
      warnings: [...survey.warnings.filter(({ code }) => code !== "Active" || mayBeNew), ...unreached.warnings()],
      duplicates,
      duplicateRows,
      notSent
    }
  })

  const apply: Import<E>["apply"] = Effect.fnUntraced(function* (onProgress) {
    let done = 0
    yield* applier.apply(batches(survey.merged(rows, resubscribe), { isSent: survey.sendable.has }), ({ batch }) => {
      done += batch.length
      return onProgress === undefined ? Effect.void : onProgress(done)
    })
    yield* applier.end(sendable)
    yield* unlessStopped(yield* report, yield* applier.stoppedBy)
  })

  const allRejected = foundOfRows(rows, (row, number): RejectedRow | undefined => {
    const refusal = applier.refused.get(number)
    const rejection = refusal === undefined ? survey.rejectionOf(row, number) : rejectionOf(row, refusal.reason)
    return rejection === undefined ? undefined : { ...named(rejection), cells: row.cells }
  })
  return {
    run: run === undefined ? undefined : { id: run.header.id, isResumed: run.isResumed },
    sendable,
    apply,
    report,
    rejected: allRejected
  }
})

/** How `importContacts` imports. */
export interface ImportContactsOptions<E = SourceTooLarge> extends ImportOptions, SpoolOptions<E> {
  /** Runs after each batch, with the number of rows that are done, and of those to apply. */
  readonly onProgress?: ((done: number, sendable: number) => Effect.Effect<void>) | undefined
}

const contactsFields = KnownFields.fieldsOf<ImportContactsOptions<unknown>>("an import", {
  ...importFields,
  ...spoolFields,
  onProgress: true
})

/**
 * Reads contacts or the rows of a file once, then plans and applies the valid ones in order, those of one address as one. An
 * error of the service stops it (`Stopped`). The same call again goes on in the same run and does nothing twice; without a record,
 * it writes all rows again.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { importContacts } from "@roster/workflows"
 * import { Stream } from "effect"
 *
 * const file = Stream.make(new TextEncoder().encode("email\nada@example.com\n"))
 *
 * export const example = importContacts(readContacts(file), { listNames: ["newsletter"] })
 * ```
 */
export const importContacts = <E, EK = SourceTooLarge>(
  source: RowSource<E>,
  options: ImportContactsOptions<EK> = {}
): Effect.Effect<
  RunReport,
  E | EK | InvalidInput | SourceTooLarge | TooManyRows | RunTaken | RunLogFailure | Stopped,
  ContactsService | RunLog
> => readAndApply(source, options)

const readAndApply = fnRedacted("importContacts")(function* <E, EK = SourceTooLarge>(
  source: RowSource<E>,
  given: ImportContactsOptions<EK>
) {
  yield* KnownFields.checkFields(contactsFields, given)
  const { onProgress, spool, ...options } = given
  const digests = options.source === undefined && options.record !== false
  const { rows, survey } = yield* readOnce(source, { spool, digests })
  const importing = yield* makeImport(rows, survey, options)
  yield* importing.apply(onProgress && ((done) => onProgress(done, importing.sendable)))
  return yield* importing.report
}, Effect.scoped)
