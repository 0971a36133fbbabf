/**
 * Uploads the rows of a file in constant memory. It is a run in the log: what it changes can be undone, and an upload of the
 * same rows to the same lists goes on where an unfinished one ended. (docs/decisions/bulk-import.md)
 */
import {
  contactOf,
  canonicalEmail,
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
  type RejectedRow,
  type ServiceError,
  sometimes,
  type TooManyContacts
} from "@roster/domain"
import { Array as Arrays, Effect, Predicate, Result, type Scope, Stream } from "effect"
import { makeRejectionCauses, named, type NamedRejection, rejectionOf } from "../runs/Rejections.ts"
import { makeContactReader, type ReaderOptions } from "../runs/ContactReader.ts"
import { fitOf, type ImportMode } from "../runs/ImportMode.ts"
import {
  keptIn,
  recordedWrites,
  type Unanswered,
  type UnansweredChange,
  unansweredIn,
  unrecorded,
  type Write,
  writeOfContact
} from "../runs/RecordedContacts.ts"
import { emptyReport, makeEffectCounter, type RunEffects, type RunReport } from "../runs/RunReport.ts"
import { noCounts, type RowRange } from "../runs/RunEntry.ts"
import { type Run, RunLog, type RunLogFailure, type RunTaken } from "../runs/RunLog.ts"
import {
  acceptedRuns,
  AddOutcome,
  type AddProgress,
  type BulkAddOptions,
  type ContactDraft,
  defaultAddConcurrency,
  makeBulkSender,
  outcomesOf,
  type SentResult,
  problemOf as problemOfContact
} from "./BulkAdd.ts"
import { type Bitset, makeBitset } from "./DuplicateIndex.ts"
import { repeatedReason } from "./RepeatedRows.ts"
import { makeKeptStatusRows } from "./RowAdds.ts"
import { batches, type UploadBatch } from "./UploadBatches.ts"
import { maximumNamedRows, surveyContacts, type TooManyRows, type UploadSurvey } from "./UploadSurvey.ts"

/** How rows are uploaded. */
export interface UploadOptions extends BulkAddOptions, ReaderOptions, ImportMode {
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
  /** Number of rows that the mode leaves out. */
  readonly leftOut: number
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

/** The outcome of a row that the mode leaves out. */
interface LeftOut {
  readonly _tag: "LeftOut"
}

/** The outcome of rows of a batch. */
type RowResult = SentResult<LeftOut>

/** What earlier processes did of an upload. */
interface Earlier {
  /** The numbers of the rows that the service accepted, and of those that are left out. */
  readonly settled: Bitset
  /** The number of rows that are left out. */
  readonly leftOut: number
  /** What they did, of each row that the service accepted. */
  readonly effects: Partial<RunEffects>
  /** The rows that the service refused, by number. They are not sent again. */
  readonly refused: Map<number, NamedRejection>
  readonly kept: ReturnType<typeof makeKeptStatusRows>
  /** Whether they made changes that the record does not have. */
  readonly isIncomplete: boolean
  /** Recorded changes that got no answer, so that they may not have been made. */
  readonly unanswered: Unanswered
}

const nowhere: RowRange = [Infinity, 0]
const everywhere: RowRange = [1, Infinity]

/** Reads the entries of a run. Unanswered rows count as not sent, as writing them again does nothing twice. */
const earlierOf = Effect.fnUntraced(function* (
  { read, sendable }: Pick<UploadSurvey, "read" | "sendable">,
  run: Run | undefined
) {
  const settled = makeBitset()
  const kept = makeKeptStatusRows()
  const refused: Earlier["refused"] = new Map()
  const effects = { new: 0, changed: 0, alreadySo: 0, unknownWhetherNew: 0 }
  let isIncomplete = false
  let leftOut = 0
  let unanswered: ReadonlyArray<{
    readonly rows: RowRange
    readonly changes: Map<string, UnansweredChange>
  }> = []
  yield* Stream.runForEach(run?.earlier ?? Stream.empty, (entry) =>
    Effect.sync(() => {
      if (entry._tag === "Unknown") isIncomplete = true
      if (entry._tag === "Changes") {
        unanswered = [...unanswered, { rows: entry.rows ?? everywhere, changes: new Map(unansweredIn(entry)) }]
      }
      if (entry._tag === "NotMade") {
        for (const email of entry.emails) for (const { changes } of unanswered) changes.delete(canonicalEmail(email))
      }
      if (entry._tag !== "Answered") return
      const { answers: [from, to] = nowhere } = entry
      unanswered = unanswered.filter(({ rows: [first, last] }) => first < from || last > to)
      const settle = (ranges: ReadonlyArray<RowRange>): number => {
        let count = 0
        for (const [first, last] of ranges) {
          for (let row = first; row <= Math.min(last, read); row++) {
            // The range may contain rows that were accepted or refused before.
            if (!sendable.has(row) || settled.has(row) || refused.has(row)) continue
            settled.add(row)
            count++
          }
        }
        return count
      }
      leftOut += settle(entry.leftOut ?? [])
      const accepted = settle(entry.accepted)
      const { alreadySo, changed, new: added } = entry.effects ?? { new: 0, changed: 0, alreadySo: 0 }
      effects.new += added
      effects.changed += changed
      effects.alreadySo += alreadySo
      effects.unknownWhetherNew += accepted - added - changed - alreadySo
      for (const row of entry.kept ?? []) if (sendable.has(row.row)) kept.add(row)
      for (const { row, ...refusal } of entry.refused) {
        if (sendable.has(row)) refused.set(row, { ...refusal, code: "Service" })
      }
    })
  )
  const earlier: Earlier = {
    settled,
    leftOut,
    effects,
    refused,
    kept,
    isIncomplete,
    unanswered: new Map(unanswered.flatMap(({ changes }) => [...changes]))
  }
  return earlier
})

/** The ranges of a batch's rows that had an outcome. */
const ranges = (
  { rows }: UploadBatch,
  runs: ReadonlyArray<RowResult>,
  tag: RowResult["outcome"]["_tag"]
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

const counted = (runs: ReadonlyArray<RowResult>, tag: RowResult["outcome"]["_tag"]): number =>
  runs.reduce((sum, { count, outcome }) => (outcome._tag === tag ? sum + count : sum), 0)

/** The runs of a batch, each with its first row. A row that was refused or kept its status is a run of its own. */
const placed = ({ lines, rows }: UploadBatch, runs: ReadonlyArray<RowResult>) => {
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
  unanswered: Unanswered
) {
  const service = yield* ContactsService
  const given = { listNames, resubscribe }
  const fit = fitOf(options)
  const recorded =
    run === undefined && fit === undefined
      ? undefined
      : recordedWrites(service, {
          run: run ?? unrecorded,
          reader: yield* makeContactReader(expected, options),
          unanswered,
          fit
        })
  const sender = yield* makeBulkSender<ContactPayload, RowRange, LeftOut>({
    call: Effect.fnUntraced(function* (batch, rows): Effect.fn.Return<
      ReadonlyArray<RowResult>,
      TooManyContacts | InvalidInput | ServiceError
    > {
      const whole = service.addWithoutAnswer(batch, given)
      if (recorded === undefined) return acceptedRuns(batch.length, yield* whole)
      const contacts = Array.from(batch)
      // One that is no contact is refused before anything is recorded.
      for (const [index, contact] of contacts.entries()) {
        const problem = problemOfContact(contact)
        if (problem === undefined) continue
        return yield* new InvalidInput({ field: `[${index}].${problem.field}`, issue: problem.issue })
      }
      const writes = contacts.map((contact) => writeOfContact(contact, given))
      const plain = (places: ReadonlyArray<number>, fitted: ReadonlyArray<Write>) => {
        if (fit === undefined) return whole
        const due = places.flatMap((place, index): ReadonlyArray<ContactPayload> => {
          const contact = contacts[place]
          return contact === undefined ? [] : [{ ...contact, status: fitted[index]?.write?.status }]
        })
        return due.length === 0 ? Effect.succeed({ keptStatuses: [] }) : service.addWithoutAnswer(due, given)
      }
      const written = yield* recorded.write(writes, plain, { rows })
      if (written._tag === "Plain") {
        const { answer, effects, places } = written
        const accepted = acceptedRuns(places.length, answer, effects)
        if (places.length === contacts.length) return accepted
        const outcomes = new Map(Arrays.zip(places, outcomesOf(accepted)))
        return contacts.map((_, place) => ({ count: 1, outcome: outcomes.get(place) ?? leftOut }))
      }
      const keptStatuses = keptIn(contacts, written.results)
      const effects = written.results.map(({ effect }) => effect)
      return acceptedRuns(contacts.length, { keptStatuses }, effects).map((accepted, index): RowResult => {
        const result = written.results[index]
        if (result?.isLeftOut === true) return { count: 1, outcome: leftOut }
        return result?.isOutdated === true
          ? { count: 1, outcome: AddOutcome.Refused({ index, email: contacts[index]?.email ?? "", error: busy }) }
          : accepted
      })
    }),
    exceeds: (batch) => exceedsAdd(batch) || exceedsPlaces(batch, listNames),
    check: problemOfContact
  })
  return { ...sender, isIncomplete: () => recorded?.isIncomplete() === true }
})

const leftOut: LeftOut = { _tag: "LeftOut" }

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
  const { defaultStatus, only } = options
  const log = yield* RunLog
  const sendable = survey.read - survey.invalid - survey.duplicates
  const source = options.source ?? survey.digest
  const { mapping } = options
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
  const run = options.record === false ? undefined : yield* log.open({ command, input, resume: options.resume })
  const earlier = yield* earlierOf(survey, run)
  const effects = makeEffectCounter(earlier.effects)
  const { done: doneEarlier } = effects.counts()
  const sender = yield* makeSender(options, sendable - doneEarlier, run, earlier.unanswered)
  const { refused } = earlier
  const now = { refused: 0, unknown: 0, inFlight: 0, leftOut: earlier.leftOut }
  const answered = doneEarlier + refused.size
  const accepted = () => effects.counts().done - doneEarlier

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
          outcome._tag === "Refused" ? [{ row, line, reason: inputProblem(outcome.error), email: outcome.email }] : []
        )
        const kept = outcomes.flatMap(({ line, outcome, row }) =>
          outcome._tag === "Accepted" && outcome.keptStatus !== undefined
            ? [{ row, line, status: outcome.keptStatus }]
            : []
        )
        const done = counted(runs, "Accepted")
        const did = { new: 0, changed: 0, alreadySo: 0 }
        for (const { count, outcome } of runs) {
          if (outcome._tag !== "Accepted") continue
          const { effect = "unknownWhetherNew" } = outcome
          effects.add(effect, count)
          if (effect === "new" || effect === "changed" || effect === "alreadySo") did[effect] += count
        }
        now.unknown += counted(runs, "Unknown")
        now.leftOut += counted(runs, "LeftOut")
        now.refused += bad.length
        for (const { row, ...refusal } of bad) refused.set(row, { ...refusal, code: "Service" })
        kept.forEach(earlier.kept.add)
        const places = ranges(batch, runs, "Accepted")
        const unknown = ranges(batch, runs, "Unknown")
        const left = ranges(batch, runs, "LeftOut")
        if (run !== undefined && places.length + unknown.length + left.length + bad.length > 0) {
          yield* sometimes("rows are answered and their answer is not yet recorded")
          yield* run.append(
            {
              _tag: "Answered",
              accepted: places,
              refused: bad,
              unknown,
              ...(left.length === 0 ? {} : { leftOut: left }),
              ...(kept.length === 0 ? {} : { kept }),
              effects: did,
              ...(counted(runs, "NotSent") + counted(runs, "Unknown") === 0 ? { answers: rangeOf(batch) } : {})
            },
            { isDurable: false }
          )
        }
        if (done === count) batch.release()
        if (onProgress !== undefined) yield* onProgress(answered + accepted() + now.leftOut + now.refused + now.unknown)
      })
    )

  const progress = Effect.sync((): UploadProgress => {
    const { read } = survey
    const { leftOut, unknown } = now
    return { read, sendable, accepted: effects.counts().done, leftOut, refused: refused.size, unknown }
  })

  let isWritten = run?.isResumed === true
  const report = Effect.gen(function* (): Effect.fn.Return<RunReport> {
    const { duplicates, firstInvalid, invalid, read } = survey
    const rejections = makeRejectionCauses()
    refused.forEach(rejections.add)
    const done = effects.counts()
    const unknown = now.unknown + now.inFlight
    const rejected = invalid + refused.size
    const notSent = sendable - done.done - now.leftOut - refused.size - unknown
    const mayBeNew = done.new + done.unknownWhetherNew + notSent + unknown > 0
    const counts = run === undefined ? noCounts : yield* run.counts
    isWritten ||= accepted() + now.leftOut + now.refused + now.unknown + counts.created + counts.changed > 0
    return {
      ...emptyReport,
      ...done,
      run: isWritten ? run?.header.id : undefined,
      read,
      doneEarlier,
      leftOut: now.leftOut,
      rejected,
      rejectedRows: [...firstInvalid, ...refused.values()]
        .sort((one, other) => one.line - other.line)
        .slice(0, maximumNamedRows),
      causes: [...survey.causes, ...rejections.causes()].toSorted((one, other) => other.count - one.count),
      warnings: survey.warnings.filter(({ code }) => code !== "Active" || mayBeNew),
      duplicates,
      duplicateRows: survey.duplicateRows,
      ...earlier.kept.report(),
      notSent,
      unknown,
      stoppedBy: yield* sender.stoppedBy
    }
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
          number++
          const other = survey.onDuplicate === "reject" ? survey.otherLine(number) : undefined
          const reason =
            refused.get(number)?.reason ??
            (other !== undefined ? repeatedReason(other) : row.fast === undefined ? problemOf(row) : undefined)
          if (reason !== undefined) found.push({ ...named(rejectionOf(row, reason)), cells: row.cells })
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
    size: { sendable, answered: answered + earlier.leftOut, from: first() },
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
  const none = { sendable: undefined, accepted: 0, leftOut: 0, refused: 0, unknown: 0 }
  const surveyed = yield* surveyContacts(rows, {
    digests: options.source === undefined && options.record !== false,
    onProgress: onProgress && ((read) => onProgress({ read, ...none }))
  })
  const upload = yield* makeUpload(rows, surveyed, options)
  yield* upload.send(onProgress && (() => Effect.flatMap(upload.progress, onProgress)))
  return yield* upload.report
}, Effect.scoped)
