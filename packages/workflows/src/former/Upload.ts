/**
 * Uploads the rows of a file in constant memory: read = accepted + rejected + duplicates + notSent + unknown. With a
 * journal, an interrupted upload resumes when it is run again. (docs/decisions/bulk-import.md)
 */
import {
  contactOf,
  type ContactPayload,
  type ContactsService,
  type FileHeader,
  fnRedacted,
  type ImportRow,
  type KeptStatusRow,
  type RejectedRow,
  type ServiceError
} from "@roster/domain"
import { Array as Arrays, Effect, Exit, Predicate, Result, Stream } from "effect"
import {
  type BulkAddOptions,
  type AddOutcome,
  type AddProgress,
  type AddResult,
  type ContactDraft,
  defaultAddConcurrency,
  makeBulkAdder
} from "../upload/BulkAdd.ts"
import { batches, type UploadBatch } from "../upload/UploadBatches.ts"
import { type JournaledUpload, type OtherUpload, resumeUpload, type RowRange } from "./UploadJournal.ts"
import { maximumNamedRows, surveyContacts, type TooManyRows, type UploadSurvey } from "../upload/UploadSurvey.ts"

/** The outcomes of all rows. */
export interface UploadReport {
  /** The header of the file; `undefined` if there are no rows. */
  readonly header: FileHeader | undefined
  readonly read: number
  /** Number of rows added or updated by this run or an earlier one. */
  readonly accepted: number
  /** Number of them that earlier runs added. */
  readonly acceptedEarlier: number
  /** Number of rows refused by our own check or by the service. */
  readonly rejected: number
  /** The first of them, up to 10,000, in the order of the file. */
  readonly rejectedRows: ReadonlyArray<Omit<RejectedRow, "cells">>
  /** Number of rows whose address a later row has too. Of the rows with one address, only the last one is sent. */
  readonly duplicates: number
  /** Number of accepted rows whose contacts kept their status, since the row would have resubscribed them. */
  readonly statusesKept: number
  /** Up to 10,000 of them, in the order of the file. */
  readonly keptStatuses: ReadonlyArray<KeptStatusRow>
  /** Number of rows that were not sent because the upload stopped before them. */
  readonly notSent: number
  /** Number of rows that were sent and have no answer. */
  readonly unknown: number
  /** The error that stopped the upload, if any. */
  readonly stoppedBy: ServiceError | undefined
}

/** How rows are uploaded. */
export interface UploadOptions<E = never> extends BulkAddOptions {
  readonly journal?: JournaledUpload<E> | undefined
}

/** How far an upload is. Earlier runs are counted. */
export interface UploadProgress extends Omit<AddProgress, "notSent"> {
  /** Number of rows that were read, which comes first. */
  readonly read: number
  /** Number of rows to send, once all are read. */
  readonly sendable: number | undefined
}

/** How `uploadContacts` uploads. */
export interface UploadContactsOptions<E = never> extends UploadOptions<E> {
  /** Runs while rows are read, and after each request. */
  readonly onProgress?: ((progress: UploadProgress) => Effect.Effect<void>) | undefined
}

/** An upload that is ready to send. */
export interface Upload<E, EJ = never> {
  /** Number of sendable rows, and how many of them earlier runs got an answer for. */
  readonly size: { readonly sendable: number; readonly answered: number }
  /** Sends unanswered rows, reporting the number of answered ones. Service errors are in the report only. */
  readonly send: (onProgress?: (answered: number) => Effect.Effect<void>) => Effect.Effect<void, E | EJ>
  /** The current numbers. */
  readonly progress: Effect.Effect<UploadProgress>
  /** The current outcomes, also while `send` runs and after it was interrupted. */
  readonly report: Effect.Effect<UploadReport>
  /** All rejected rows with their cells, in the order of the file, which is read again. */
  readonly rejected: Stream.Stream<RejectedRow, E>
}

/** The ranges of a batch's rows that had an outcome. */
const ranges = (
  { rows }: UploadBatch,
  runs: ReadonlyArray<AddResult>,
  tag: AddOutcome["_tag"]
): ReadonlyArray<RowRange> => {
  const found: Array<[number, number]> = []
  let open: [number, number] | undefined
  let at = 0
  for (const { count, outcome } of runs) {
    const first = rows[at] ?? 0
    at += count
    const last = rows[at - 1] ?? 0
    if (outcome._tag !== tag) open = undefined
    else if (open !== undefined) open[1] = last
    else {
      open = [first, last]
      found.push(open)
    }
  }
  return found
}

const problemOf = (row: ImportRow): string | undefined => {
  const contact = contactOf(row)
  return Result.isFailure(contact) ? contact.failure : undefined
}

const counted = (runs: ReadonlyArray<AddResult>, tag: AddOutcome["_tag"]): number =>
  runs.reduce((sum, { count, outcome }) => (outcome._tag === tag ? sum + count : sum), 0)

/** The runs of a batch, each with its first row. A row that was refused or kept its status is a run of its own. */
const placed = ({ lines, rows }: UploadBatch, runs: ReadonlyArray<AddResult>) => {
  let at = 0
  return runs.map(({ count, outcome }) => {
    const place = { row: rows[at] ?? 0, line: lines[at] ?? 0 }
    at += count
    return { ...place, outcome }
  })
}

/** Prepares an upload of surveyed rows, which are read again. Fails with `OtherUpload` for the journal of another. */
export const makeUpload = fnRedacted("makeUpload")(function* <E, EJ = never>(
  rows: Stream.Stream<ImportRow, E>,
  survey: UploadSurvey,
  options: UploadOptions<EJ> = {}
) {
  const { concurrency = defaultAddConcurrency, resubscribe = false } = options
  const journal =
    options.journal === undefined || !resubscribe
      ? options.journal
      : { ...options.journal, identity: { ...options.journal.identity, resubscribe } }
  const adder = yield* makeBulkAdder(options)
  const earlier = yield* resumeUpload(survey, journal)
  const { refused } = earlier
  const now = { accepted: 0, refused: 0, unknown: 0, inFlight: 0 }

  const sendBatch = (batch: UploadBatch, onProgress: ((answered: number) => Effect.Effect<void>) | undefined) =>
    Effect.uninterruptibleMask(
      Effect.fnUntraced(function* (restore) {
        const [first = 0] = batch.rows
        const { length: count } = batch.contacts
        if ((yield* adder.stoppedBy) !== undefined) return
        if (journal !== undefined) {
          yield* journal.lines.append({ _tag: "Sending", rows: [first, batch.rows.at(-1) ?? first] })
        }
        // After an interruption they remain counted as unknown.
        now.inFlight += count
        const runs = yield* restore(adder.send(batch.contacts))
        now.inFlight -= count
        const outcomes = placed(batch, runs)
        const bad = outcomes.flatMap(({ line, outcome, row }) =>
          outcome._tag === "Refused" ? [{ row, line, reason: outcome.error.message }] : []
        )
        const kept = outcomes.flatMap(({ line, outcome, row }) =>
          outcome._tag === "Accepted" && outcome.keptStatus !== undefined
            ? [{ row, line, status: outcome.keptStatus }]
            : []
        )
        const done = counted(runs, "Accepted")
        now.accepted += done
        now.unknown += counted(runs, "Unknown")
        now.refused += bad.length
        for (const { line, reason, row } of bad) refused.set(row, { line, reason })
        kept.forEach(earlier.kept.add)
        const accepted = ranges(batch, runs, "Accepted")
        const unknown = ranges(batch, runs, "Unknown")
        if (journal !== undefined && accepted.length + unknown.length + bad.length > 0) {
          yield* journal.lines.append({
            _tag: "Answered",
            accepted,
            refused: bad,
            unknown,
            ...(kept.length === 0 ? {} : { kept })
          })
        }
        if (done === count) batch.release()
        if (onProgress !== undefined) yield* onProgress(earlier.answered + now.accepted + now.refused + now.unknown)
      })
    )

  const progress = Effect.sync((): UploadProgress => {
    const { read } = survey
    const accepted = earlier.accepted + now.accepted
    return { read, sendable: size.sendable, accepted, refused: refused.size, unknown: now.unknown }
  })

  const report = Effect.map(adder.stoppedBy, (stoppedBy): UploadReport => {
    const { duplicates, firstInvalid, header, invalid, read } = survey
    const accepted = earlier.accepted + now.accepted
    const unknown = now.unknown + now.inFlight
    const rejected = invalid + refused.size
    return {
      header,
      read,
      accepted,
      acceptedEarlier: earlier.accepted,
      rejected,
      rejectedRows: [...firstInvalid, ...refused.values()]
        .sort((one, other) => one.line - other.line)
        .slice(0, maximumNamedRows),
      duplicates,
      ...earlier.kept.report(),
      notSent: read - accepted - rejected - duplicates - unknown,
      unknown,
      stoppedBy
    }
  })

  const send: Upload<E, EJ>["send"] = Effect.fnUntraced(function* (onProgress) {
    if (journal !== undefined && earlier.isNew) yield* journal.lines.begin(journal.identity)
    // Skips rows that became invalid since the survey, as the file has changed.
    const isSent = (row: number) => survey.sendable.has(row) && !earlier.settled.has(row) && !refused.has(row)
    yield* batches(rows, { isSent }).pipe(
      Stream.takeWhileEffect(() => Effect.map(adder.stoppedBy, (error) => error === undefined)),
      Stream.mapEffect((batch) => sendBatch(batch, onProgress), { concurrency, unordered: true }),
      Stream.runDrain,
      // The report must not claim more than survives a power failure.
      Effect.onExit((exit) => {
        const fsync = journal?.lines.fsync ?? Effect.void
        return Exit.isSuccess(exit) ? fsync : Effect.ignore(fsync)
      })
    )
    const { notSent, unknown } = yield* report
    if (journal !== undefined && notSent + unknown === 0) yield* journal.lines.clear
  })

  const rejected = Stream.suspend(() => {
    let number = 0
    return Stream.mapAccumArray(
      rows,
      () => undefined,
      (_, some) => {
        const found: Array<RejectedRow> = []
        for (const row of some) {
          const reason = refused.get(++number)?.reason ?? (row.fast === undefined ? problemOf(row) : undefined)
          if (reason !== undefined) found.push({ line: row.line, reason, cells: row.cells })
        }
        return [undefined, found]
      }
    )
  })
  const size = { sendable: survey.read - survey.invalid - survey.duplicates, answered: earlier.answered }
  const upload: Upload<E, EJ> = { size, send, progress, report, rejected }
  return upload
})

// The whole of it

/** The header of contacts that come from no file. */
const noHeader: FileHeader = { cells: ["Email"], delimiter: "," }

const rowOf = (contact: ContactDraft, line: number): ImportRow => {
  const email: unknown = Predicate.hasProperty(contact, "email") ? contact.email : undefined
  return {
    line,
    header: noHeader,
    cells: [typeof email === "string" ? email : ""],
    // The survey checks it, as it does for callers without type checks.
    contact: Result.succeed(contact as ContactPayload)
  }
}

const isRow = (item: ImportRow | ContactDraft): boolean => Predicate.hasProperty(item, "header")

/** Contacts as rows, whose line is their place, counted from 1. Rows stay as they are. */
const toRows = <E>(source: UploadSource<E>): Stream.Stream<ImportRow, E> =>
  Stream.suspend(() => {
    let line = 0
    const items: Stream.Stream<ImportRow | ContactDraft, E> = source
    return Stream.mapArray(items, (part) => {
      // By their type, all items are rows or all are contacts.
      if (isRow(part[0])) return part as Arrays.NonEmptyReadonlyArray<ImportRow>
      return Arrays.map(part as Arrays.NonEmptyReadonlyArray<ContactDraft>, (contact) => rowOf(contact, ++line))
    })
  })

/** Contacts, or the rows of a file. They are read twice, so they must be the same both times. */
export type UploadSource<E> = Stream.Stream<ImportRow, E> | Stream.Stream<ContactDraft, E>

const surveyAndSend = fnRedacted("uploadContacts")(function* <E, EJ>(
  rows: Stream.Stream<ImportRow, E>,
  { onProgress, ...options }: UploadContactsOptions<EJ>
) {
  const none = { sendable: undefined, accepted: 0, refused: 0, unknown: 0 }
  const surveyed = yield* surveyContacts(rows, { onProgress: onProgress && ((read) => onProgress({ read, ...none })) })
  const upload = yield* makeUpload(rows, surveyed, options)
  yield* upload.send(onProgress && (() => Effect.flatMap(upload.progress, onProgress)))
  return yield* upload.report
})

/**
 * Surveys contacts or the rows of a file, then sends the valid ones in order, of each address only the last. A service
 * error stops it. It keeps 16 bytes of each contact in memory. With a journal, it resumes.
 */
export function uploadContacts<E>(
  source: UploadSource<E>,
  options?: UploadContactsOptions & { readonly journal?: undefined }
): Effect.Effect<UploadReport, E | TooManyRows, ContactsService>
export function uploadContacts<E, EJ = never>(
  source: UploadSource<E>,
  options: UploadContactsOptions<EJ>
): Effect.Effect<UploadReport, E | EJ | OtherUpload | TooManyRows, ContactsService>
export function uploadContacts<E, EJ = never>(
  source: UploadSource<E>,
  options: UploadContactsOptions<EJ> = {}
): Effect.Effect<UploadReport, E | EJ | OtherUpload | TooManyRows, ContactsService> {
  return surveyAndSend(toRows(source), options)
}
