/**
 * Bringing the rows of a file to a service, in constant memory, with an account of every row that adds up:
 * read = accepted + rejected + duplicates + notSent + unknown. With a journal, the same upload run again goes on where it
 * was, whatever stopped it. (docs/decisions/bulk-import.md)
 */
import { Effect, Exit, Result, Stream } from "effect"
import { type AddResult, type AddOutcome, defaultAddConcurrency, makeBulkAdder } from "./BulkAdd.ts"
import {
  contactOf,
  type ImportRow,
  type FileHeader,
  fnRedacted,
  type RejectedRow,
  type ServiceError
} from "@roster/domain"
import { type UploadBatch, batches } from "./UploadBatches.ts"
import type { RowRange, UploadJournal, UploadSubject } from "./UploadJournal.ts"
import { resumeUpload } from "./UploadResume.ts"
import { maximumNamedRows, surveyContacts, type UploadSurvey } from "./UploadSurvey.ts"

/** What became of every row. */
export interface UploadReport {
  /** The header of the file; `undefined` where there are no rows. */
  readonly header: FileHeader | undefined
  readonly read: number
  /** Added or updated, by this run or an earlier one. */
  readonly accepted: number
  /** How many of them earlier runs brought. */
  readonly acceptedEarlier: number
  /** Refused by our own check or by the service. */
  readonly rejected: number
  /** The first of them, in the order of the file, 10 000 at most. */
  readonly rejectedRows: ReadonlyArray<Omit<RejectedRow, "cells">>
  /** Rows whose address a later row of the file has too; the last one is sent. */
  readonly duplicates: number
  /** Rows that were not sent because the upload stopped before them. */
  readonly notSent: number
  /** Rows that were sent and have no answer. */
  readonly unknown: number
  /** Why the upload stopped, where it did. */
  readonly stoppedBy: ServiceError | undefined
}

/** Where an upload remembers how far it came, and what makes it the same upload. */
export interface JournaledUpload<E = never> {
  readonly lines: UploadJournal<E>
  readonly subject: UploadSubject
  /** Begins anew, whatever the journal holds. */
  readonly restart?: boolean | undefined
}

export interface UploadOptions<E = never> {
  readonly listNames?: ReadonlyArray<string> | undefined
  /** How many adds are under way at once: 8 unless said. */
  readonly concurrency?: number | undefined
  readonly journal?: JournaledUpload<E> | undefined
}

/** An upload of which everything is known but the answers of the service. */
export interface Upload<E, EJ = never> {
  /** How many rows can be sent, and how many of them have the answer of an earlier run. */
  readonly size: { readonly sendable: number; readonly answered: number }
  /**
   * Sends what has no answer yet, and tells how many rows have one. What the service does is in the report and no failure.
   */
  readonly send: (onProgress?: (answered: number) => Effect.Effect<void>) => Effect.Effect<void, E | EJ>
  /** The account as it is now: also while `send` runs, and after it was interrupted. */
  readonly report: Effect.Effect<UploadReport>
  /** Every rejected row with its cells, in the order of the file, which is read again for it. */
  readonly rejected: Stream.Stream<RejectedRow, E>
}

/** The rows of a part that had one outcome, from first to last. */
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

/** A row that the service refused is alone in its stretch. */
const refusals = ({ lines, rows }: UploadBatch, runs: ReadonlyArray<AddResult>) => {
  let at = 0
  return runs.flatMap(({ count, outcome }) => {
    const row = rows[at] ?? 0
    const line = lines[at] ?? 0
    at += count
    return outcome._tag === "Refused" ? [{ row, line, reason: outcome.error.message }] : []
  })
}

/**
 * Makes an upload of rows that can be read again and were surveyed. With a journal that holds another upload it fails.
 */
export const makeUpload = fnRedacted("makeUpload")(function* <E, EJ = never>(
  rows: Stream.Stream<ImportRow, E>,
  survey: UploadSurvey,
  options: UploadOptions<EJ> = {}
) {
  const { concurrency = defaultAddConcurrency, journal, listNames } = options
  const adder = yield* makeBulkAdder(listNames)
  const earlier = yield* resumeUpload(survey, journal)
  const { refused } = earlier
  const now = { accepted: 0, refused: 0, unknown: 0, underWay: 0 }

  const sendPart = (part: UploadBatch, onProgress: ((answered: number) => Effect.Effect<void>) | undefined) =>
    Effect.uninterruptibleMask(
      Effect.fnUntraced(function* (restore) {
        const [first = 0] = part.rows
        const { length: count } = part.contacts
        if ((yield* adder.stoppedBy) !== undefined) return
        if (journal !== undefined) {
          yield* journal.lines.append({ _tag: "Sending", rows: [first, part.rows.at(-1) ?? first] })
        }
        // An interruption leaves them so: sent, and without an answer.
        now.underWay += count
        const runs = yield* restore(adder.send(part.contacts))
        now.underWay -= count
        const bad = refusals(part, runs)
        const done = counted(runs, "Accepted")
        now.accepted += done
        now.unknown += counted(runs, "Unknown")
        now.refused += bad.length
        for (const { line, reason, row } of bad) refused.set(row, { line, reason })
        const accepted = ranges(part, runs, "Accepted")
        const unknown = ranges(part, runs, "Unknown")
        if (journal !== undefined && accepted.length + unknown.length + bad.length > 0) {
          yield* journal.lines.append({ _tag: "Answered", accepted, refused: bad, unknown })
        }
        if (onProgress !== undefined) yield* onProgress(earlier.answered + now.accepted + now.refused + now.unknown)
      })
    )

  const report = Effect.map(adder.stoppedBy, (stoppedBy): UploadReport => {
    const { duplicates, firstInvalid, header, invalid, read } = survey
    const accepted = earlier.accepted + now.accepted
    const unknown = now.unknown + now.underWay
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
      notSent: read - accepted - rejected - duplicates - unknown,
      unknown,
      stoppedBy
    }
  })

  const send: Upload<E, EJ>["send"] = Effect.fnUntraced(function* (onProgress) {
    if (journal !== undefined && earlier.isNew) yield* journal.lines.begin(journal.subject)
    // What could be read when it was surveyed and cannot now stands in a file that changes meanwhile: it is left out.
    const isSent = (row: number) => survey.sendable.has(row) && !earlier.settled.has(row) && !refused.has(row)
    yield* batches(rows, { isSent }).pipe(
      Stream.takeWhileEffect(() => Effect.map(adder.stoppedBy, (error) => error === undefined)),
      Stream.mapEffect((part) => sendPart(part, onProgress), { concurrency, unordered: true }),
      Stream.runDrain,
      // Whoever reads the account may rely on it.
      Effect.onExit((exit) => {
        const force = journal?.lines.force ?? Effect.void
        return Exit.isSuccess(exit) ? force : Effect.ignore(force)
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
  const upload: Upload<E, EJ> = { size, send, report, rejected }
  return upload
})

/**
 * The whole of it: looks at all rows, then sends the good ones in the order of the file, of each address the last. A failure
 * that is about the service and not about the rows ends the upload: what was not sent is counted as such.
 */
export const uploadContacts = fnRedacted("uploadContacts")(function* <E, EJ = never>(
  rows: Stream.Stream<ImportRow, E>,
  options?: UploadOptions<EJ>
) {
  const upload = yield* makeUpload(rows, yield* surveyContacts(rows), options)
  yield* upload.send()
  return yield* upload.report
})
