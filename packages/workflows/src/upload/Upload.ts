/**
 * Uploads the rows of a file in constant memory. It is a run in the log: what it changes can be undone, and an upload of the
 * same rows to the same lists goes on where an unfinished one ended. (docs/decisions/bulk-import.md)
 */
import {
  contactOf,
  type ContactPayload,
  ContactsService,
  exceedsAdd,
  exceedsPlaces,
  type FileHeader,
  fnRedacted,
  type ImportMapping,
  type ImportRow,
  InvalidInput,
  inputProblem,
  type RejectedRow
} from "@roster/domain"
import { Array as Arrays, Effect, Predicate, Result, type Scope, Stream } from "effect"
import { makeContactReader, type ReaderOptions } from "../runs/ContactReader.ts"
import { addressesIn, keptIn, recordedWrites, writeOfContact } from "../runs/RecordedContacts.ts"
import { emptyTally, reportOf, type RunReport } from "../runs/RunReport.ts"
import { type Changes, noCounts, type RowRange } from "../runs/RunEntry.ts"
import { type Run, RunLog, type RunLogFailure, type RunTaken } from "../runs/RunLog.ts"
import {
  acceptedRuns,
  AddOutcome,
  type AddProgress,
  type AddResult,
  type BulkAddOptions,
  type ContactDraft,
  defaultAddConcurrency,
  makeBulkSender,
  problemOf as problemOfContact
} from "./BulkAdd.ts"
import { type Bitset, makeBitset } from "./DuplicateIndex.ts"
import { makeKeptStatusRows } from "./RowAdds.ts"
import { batches, namedRejection, type UploadBatch } from "./UploadBatches.ts"
import { maximumNamedRows, surveyContacts, type TooManyRows, type UploadSurvey } from "./UploadSurvey.ts"

/** How rows are uploaded. */
export interface UploadOptions extends BulkAddOptions, ReaderOptions {
  /** The command in the log (default: import). */
  readonly command?: string | undefined
  /** A text that tells this source from others, such as the digest of its file (default: a digest of its rows). */
  readonly source?: string | undefined
  /** How the rows were read. The log keeps it, and an upload resumes only one that was read alike. */
  readonly mapping?: ImportMapping | undefined
  /** Whether it is a run in the log (default: true). Without, it can be neither undone nor resumed. */
  readonly record?: boolean | undefined
  /** Whether it goes on where an unfinished upload of the same rows ended (default: true). */
  readonly resume?: boolean | undefined
}

/** How far an upload is. Earlier processes are counted. */
export interface UploadProgress extends Omit<AddProgress, "notSent"> {
  /** Number of rows that were read, which comes first. */
  readonly read: number
  /** Number of rows to send, once all are read. */
  readonly sendable: number | undefined
}

/** How `uploadContacts` uploads. */
export interface UploadContactsOptions extends UploadOptions {
  /** Runs while rows are read, and after each request. */
  readonly onProgress?: ((progress: UploadProgress) => Effect.Effect<void>) | undefined
}

/** An upload that is ready to send. */
export interface Upload<E> {
  /** The run in the log, if it is one: its id, and whether it goes on. */
  readonly run: { readonly id: string; readonly isResumed: boolean } | undefined
  /** Number of sendable rows, how many of them earlier processes got an answer for, and the first of the others. */
  readonly size: { readonly sendable: number; readonly answered: number; readonly from: number | undefined }
  /** Sends unanswered rows, reporting the number of answered ones. Service errors are in the report only. */
  readonly send: (onProgress?: (answered: number) => Effect.Effect<void>) => Effect.Effect<void, E | RunLogFailure>
  /** The current numbers. */
  readonly progress: Effect.Effect<UploadProgress>
  /** The current outcomes, also while `send` runs and after it was interrupted. */
  readonly report: Effect.Effect<RunReport>
  /** All rejected rows with their cells, in the order of the file, which is read again. */
  readonly rejected: Stream.Stream<RejectedRow, E>
}

/** What earlier processes did of an upload. */
interface Earlier {
  /** The numbers of the rows that the service accepted. */
  readonly settled: Bitset
  readonly accepted: number
  /** The rows that the service refused, by number. They are not sent again. */
  readonly refused: Map<number, { readonly line: number; readonly reason: string }>
  readonly kept: ReturnType<typeof makeKeptStatusRows>
  /** Whether they made changes that the record does not have. */
  readonly isIncomplete: boolean
  /** The addresses of recorded changes that got no answer, so that they may not have been made. */
  readonly unanswered: ReadonlyArray<string>
}

/** Reads the entries of a run. Unanswered rows count as not sent, as writing them again does nothing twice. */
const earlierOf = Effect.fnUntraced(function* (
  { read, sendable }: Pick<UploadSurvey, "read" | "sendable">,
  run: Run | undefined
) {
  const settled = makeBitset()
  const kept = makeKeptStatusRows()
  const refused: Earlier["refused"] = new Map()
  let isIncomplete = false
  let unanswered: ReadonlyArray<Changes> = []
  yield* Stream.runForEach(run?.earlier ?? Stream.empty, (entry) =>
    Effect.sync(() => {
      if (entry._tag === "Unknown") isIncomplete = true
      if (entry._tag === "Changes") unanswered = [...unanswered, entry]
      if (entry._tag !== "Answered") return
      unanswered = unanswered.filter(
        ({ rows: [row] = [0] }) => !entry.accepted.some(([first, last]) => first <= row && row <= last)
      )
      for (const [first, last] of entry.accepted) {
        for (let row = first; row <= Math.min(last, read); row++) if (sendable.has(row)) settled.add(row)
      }
      for (const row of entry.kept ?? []) if (sendable.has(row.row)) kept.add(row)
      for (const { line, reason, row } of entry.refused) if (sendable.has(row)) refused.set(row, { line, reason })
    })
  )
  // A range of accepted rows may contain a row that an earlier process saw refused.
  for (const row of refused.keys()) settled.remove(row)
  let accepted = 0
  for (let row = 1; row <= read; row++) if (settled.has(row)) accepted++
  const earlier: Earlier = {
    settled,
    accepted,
    refused,
    kept,
    isIncomplete,
    unanswered: unanswered.flatMap(addressesIn)
  }
  return earlier
})

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

const rangeOf = ({ rows }: UploadBatch): RowRange => [rows[0] ?? 0, rows.at(-1) ?? 0]

/** Makes the function that adds contacts of some rows, and records what that changes if there is a run. */
const makeSender = Effect.fnUntraced(function* (
  { listNames, resubscribe = false, ...options }: UploadOptions,
  expected: number,
  run: Run | undefined,
  unanswered: ReadonlyArray<string>
) {
  const service = yield* ContactsService
  const given = { listNames, resubscribe }
  const recorded =
    run === undefined
      ? undefined
      : recordedWrites(service, { run, reader: yield* makeContactReader(expected, options), unanswered })
  const sender = yield* makeBulkSender<ContactPayload, RowRange>({
    call: Effect.fnUntraced(function* (batch, rows) {
      const plain = service.addWithoutAnswer(batch, given)
      if (recorded === undefined) return acceptedRuns(batch.length, yield* plain)
      const contacts = Array.from(batch)
      // One that is no contact is refused before anything is recorded.
      for (const [index, contact] of contacts.entries()) {
        const problem = problemOfContact(contact)
        if (problem === undefined) continue
        return yield* new InvalidInput({ field: `[${index}].${problem.field}`, issue: problem.issue })
      }
      const writes = contacts.map((contact) => writeOfContact(contact, given))
      const written = yield* recorded.write(writes, plain, { rows })
      if (written._tag === "Plain") return acceptedRuns(batch.length, written.answer)
      const kept = new Map(keptIn(contacts, written.results).map(({ index, status }) => [index, status]))
      return written.results.map(({ isOutdated }, index): AddResult => ({
        count: 1,
        outcome: isOutdated
          ? AddOutcome.Refused({ index, email: contacts[index]?.email ?? "", error: busy })
          : AddOutcome.Accepted(kept.has(index) ? { keptStatus: kept.get(index) } : {})
      }))
    }),
    exceeds: (batch) => exceedsAdd(batch) || exceedsPlaces(batch, listNames),
    check: problemOfContact
  })
  return { ...sender, isIncomplete: () => recorded?.isIncomplete() === true }
})

const busy = new InvalidInput({ field: "body", issue: "others keep changing the contact; send the row again" })

/**
 * Prepares an upload of surveyed rows, which are read again.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { makeUpload, surveyContacts } from "@roster/workflows"
 * import { Effect, Stream } from "effect"
 *
 * const rows = readContacts(Stream.make(new TextEncoder().encode("email\nada@example.com\n")))
 *
 * export const example = Effect.gen(function* () {
 *   const upload = yield* makeUpload(rows, yield* surveyContacts(rows), { record: false })
 *   yield* upload.send()
 *   return yield* upload.report
 * })
 * ```
 */
export const makeUpload = fnRedacted("makeUpload")(function* <E>(
  rows: Stream.Stream<ImportRow, E>,
  survey: UploadSurvey,
  options: UploadOptions = {}
): Effect.fn.Return<Upload<E>, RunTaken | RunLogFailure, ContactsService | RunLog | Scope.Scope> {
  const { command = "import", concurrency = defaultAddConcurrency, listNames = [], resubscribe = false } = options
  const log = yield* RunLog
  const sendable = survey.read - survey.invalid - survey.duplicates
  const source = options.source ?? survey.digest
  const { mapping } = options
  const input =
    source === undefined
      ? undefined
      : { source, listNames: [...listNames], resubscribe, ...(mapping === undefined ? {} : { mapping }) }
  const run = options.record === false ? undefined : yield* log.open({ command, input, resume: options.resume })
  const earlier = yield* earlierOf(survey, run)
  const sender = yield* makeSender(options, sendable - earlier.accepted, run, earlier.unanswered)
  const { refused } = earlier
  const now = { accepted: 0, refused: 0, unknown: 0, inFlight: 0 }
  const answered = earlier.accepted + refused.size

  const sendBatch = (batch: UploadBatch, onProgress: ((answered: number) => Effect.Effect<void>) | undefined) =>
    Effect.uninterruptibleMask(
      Effect.fnUntraced(function* (restore) {
        const { length: count } = batch.contacts
        if ((yield* sender.stoppedBy) !== undefined) return
        // After an interruption they remain counted as unknown.
        now.inFlight += count
        const runs = yield* restore(sender.send(batch.contacts, rangeOf(batch)))
        now.inFlight -= count
        const outcomes = placed(batch, runs)
        const bad = outcomes.flatMap(({ line, outcome, row }) =>
          outcome._tag === "Refused" ? [{ row, line, reason: inputProblem(outcome.error) }] : []
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
        if (run !== undefined && accepted.length + unknown.length + bad.length > 0) {
          yield* run.append(
            { _tag: "Answered", accepted, refused: bad, unknown, ...(kept.length === 0 ? {} : { kept }) },
            { isDurable: false }
          )
        }
        if (done === count) batch.release()
        if (onProgress !== undefined) yield* onProgress(answered + now.accepted + now.refused + now.unknown)
      })
    )

  const progress = Effect.sync((): UploadProgress => {
    const { read } = survey
    const accepted = earlier.accepted + now.accepted
    return { read, sendable, accepted, refused: refused.size, unknown: now.unknown }
  })

  let isWritten = run?.isResumed === true
  const report = Effect.gen(function* (): Effect.fn.Return<RunReport> {
    const { duplicates, firstInvalid, invalid, read } = survey
    const done = earlier.accepted + now.accepted
    const unknown = now.unknown + now.inFlight
    const rejected = invalid + refused.size
    const counts = run === undefined ? noCounts : yield* run.counts
    isWritten ||= now.accepted + now.refused + now.unknown + counts.created + counts.changed > 0
    return reportOf(
      {
        ...emptyTally,
        run: isWritten ? run?.header.id : undefined,
        read,
        done,
        doneEarlier: earlier.accepted,
        rejected,
        rejectedRows: [...firstInvalid, ...refused.values()]
          .sort((one, other) => one.line - other.line)
          .slice(0, maximumNamedRows),
        duplicates,
        ...earlier.kept.report(),
        notSent: read - done - rejected - duplicates - unknown,
        unknown,
        stoppedBy: yield* sender.stoppedBy
      },
      counts,
      run !== undefined && !earlier.isIncomplete && !sender.isIncomplete()
    )
  })

  const send: Upload<E>["send"] = Effect.fnUntraced(function* (onProgress) {
    // Skips rows that became invalid since the survey, as the file has changed.
    const isSent = (row: number) => survey.sendable.has(row) && !earlier.settled.has(row) && !refused.has(row)
    yield* batches(rows, { isSent }).pipe(
      Stream.takeWhileEffect(() => Effect.map(sender.stoppedBy, (error) => error === undefined)),
      Stream.mapEffect((batch) => sendBatch(batch, onProgress), { concurrency, unordered: true }),
      Stream.runDrain
    )
    const { notSent, unknown } = yield* report
    if (run !== undefined && notSent + unknown === 0) yield* run.end
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
          if (reason !== undefined) found.push({ ...namedRejection(row, reason), cells: row.cells })
        }
        return [undefined, found]
      }
    )
  })
  const first = () => {
    for (let row = 1; row <= survey.read; row++) {
      if (survey.sendable.has(row) && !earlier.settled.has(row) && !refused.has(row)) return row
    }
    return undefined
  }
  return {
    run: run === undefined ? undefined : { id: run.header.id, isResumed: run.isResumed },
    size: { sendable, answered, from: first() },
    send,
    progress,
    report,
    rejected
  }
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
export const toRows = <E>(source: UploadSource<E>): Stream.Stream<ImportRow, E> =>
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

/**
 * Surveys contacts or the rows of a file, then sends the valid ones in order, of each address only the last. A service
 * error stops it; the same call again goes on. It keeps 16 bytes of each contact in memory.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { uploadContacts } from "@roster/workflows"
 * import { Stream } from "effect"
 *
 * const file = Stream.make(new TextEncoder().encode("email\nada@example.com\n"))
 *
 * export const example = uploadContacts(readContacts(file), { listNames: ["newsletter"] })
 * ```
 */
export const uploadContacts = <E>(
  source: UploadSource<E>,
  options: UploadContactsOptions = {}
): Effect.Effect<RunReport, E | TooManyRows | RunTaken | RunLogFailure, ContactsService | RunLog> =>
  surveyAndSend(toRows(source), options)

const surveyAndSend = fnRedacted("uploadContacts")(function* <E>(
  rows: Stream.Stream<ImportRow, E>,
  { onProgress, ...options }: UploadContactsOptions
) {
  const none = { sendable: undefined, accepted: 0, refused: 0, unknown: 0 }
  const surveyed = yield* surveyContacts(rows, {
    digests: options.source === undefined && options.record !== false,
    onProgress: onProgress && ((read) => onProgress({ read, ...none }))
  })
  const upload = yield* makeUpload(rows, surveyed, options)
  yield* upload.send(onProgress && (() => Effect.flatMap(upload.progress, onProgress)))
  return yield* upload.report
}, Effect.scoped)
