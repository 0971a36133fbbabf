/** Imports a file. Each transaction writes rows with their position, so that an interrupted import can resume. */
import {
  type ContactPayload,
  canonicalEmail,
  FileHeader,
  type ImportMapping,
  type ImportRow,
  type ImportWarning,
  readContacts,
  type KeptStatusRow,
  type RejectedRow,
  Resubscribe
} from "@roster/domain"
import {
  ContactColumns,
  FieldNames,
  fnRedacted,
  inputProblem,
  mergedRefusal,
  makeConsentWarnings,
  makeStatusNotes,
  type StatusNotes,
  writeOf,
  listsRefusal
} from "@roster/domain/internal"
import { Clock, Effect, Exit, Function, identity, Option, Pull, Result, Schema, Stream, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { writeContacts } from "../../contacts/ContactWrites.ts"
import { addToLists, beyondLists, ensureLists, findList } from "../../contacts/ListMembers.ts"
import { safeFetch } from "../../network/SafeFetch.ts"
import { checkArchive, contentOf } from "./ImportFile.ts"
import { advanceJob, endJob, noProgress, progressOf, type HeldJob } from "../queue/JobQueue.ts"
import { makeRepeatedEmails } from "./RepeatedEmails.ts"
import { readParts, removeAllParts, removeParts, storeParts } from "../queue/JobBlobs.ts"
import { keepRejections, keepStatuses, remainingRejectionSpace } from "./KeptRows.ts"
import { addToHour } from "../../credentials/WrittenSums.ts"
import { RunOfJob } from "../../runs/RunRecorder.ts"
import { StorePolicy } from "../../store/StoreOptions.ts"
import { WriteFairness } from "../../store/sqlite/LockContention.ts"
import { eachInSlices } from "../../threads/Slices.ts"
import { dialect } from "../../store/SqlDialect.ts"
import { storeClock } from "../../store/StoreClock.ts"

/** The request of an import, as the text that its job holds. */
export const ImportJobRequest = Schema.fromJsonString(
  Schema.Struct({
    listName: Schema.optionalKey(Schema.String),
    encodingName: Schema.optionalKey(Schema.String),
    fileUrl: Schema.optionalKey(Schema.String),
    /** The statuses that are lifted. */
    resubscribe: Schema.optionalKey(Resubscribe),
    /** Whether the file has been fetched into the store. */
    fetched: Schema.optionalKey(Schema.Boolean),
    /** The name that the sender gave the file. Never used as a path. */
    fileName: Schema.optionalKey(Schema.String)
  })
)

/** How the file of an import is read: as the file itself says, but for its encoding. */
export const mappingOf = ({ encodingName }: { readonly encodingName?: string | undefined }): ImportMapping =>
  encodingName === undefined ? {} : { encoding: encodingName }

const decodeRequest = Schema.decodeEffect(ImportJobRequest)
const readRequest = Schema.decodeSync(ImportJobRequest)
const requestOf = Schema.decodeOption(ImportJobRequest)
const urlToFetch = ({ fetched = false, fileUrl }: typeof ImportJobRequest.Type) => (fetched ? undefined : fileUrl)

const encodeRequest = Schema.encodeSync(ImportJobRequest)
const encodeHeader = Schema.encodeSync(Schema.fromJsonString(FileHeader))

/** Fetches the whole file first: an interrupted import resumes with it, and an archive is checked as a whole. */
const fetchIntoStore = Effect.fnUntraced(function* (job: HeldJob, request: typeof ImportJobRequest.Type, url: URL) {
  const sql = yield* SqlClient.SqlClient
  const { allowFileUrl } = yield* StorePolicy
  const holding = advanceJob(job, noProgress)
  // The parts of an interrupted fetch.
  yield* removeAllParts(job.number, holding)
  yield* storeParts(job.number, safeFetch(url, { allowed: allowFileUrl }), holding)
  yield* checkArchive(job.number)
  const fetched = encodeRequest({ ...request, fetched: true })
  yield* sql.withTransaction(
    Effect.andThen(holding, sql`UPDATE jobs SET request = ${fetched}, attempts = 0 WHERE number = ${job.number}`)
  )
})

/** A row with its contact, or why it is refused. */
interface CheckedRow {
  readonly row: ImportRow
  readonly checked: Result.Result<GoodRow, string>
}

interface GoodRow {
  readonly row: ImportRow
  readonly contact: ContactPayload
  /** The lists that it names. */
  readonly lists: ReadonlyArray<string>
  /** The canonical address. */
  readonly identity: string
  /** Whether an earlier row has the address, too. */
  readonly isRepeat: boolean
}

/**
 * Notes of which addresses the rows make a new contact NotConfirmed. That is given to new contacts only, so the job has to know
 * before it writes another row of the address. A file that gives no status is not read for it.
 */
const notConfirmedIn = Effect.fnUntraced(function* <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  mapping: ImportMapping,
  resubscribe: Resubscribe
) {
  const notes = makeStatusNotes(resubscribe, "NotConfirmed")
  const givesStatus = Function.memoize(
    ({ cells, format }: ImportRow["header"]) =>
      format !== undefined || ContactColumns.columnFields(cells, mapping).some(({ field }) => field === "Status")
  )
  yield* Stream.runForEachArray(
    Stream.takeWhile(rows, ({ header }) => givesStatus(header)),
    (part) => Effect.sync(() => part.forEach(({ contact }) => Result.map(contact, notes.note)))
  )
  return notes
})

/** Makes the check of rows, which are checked in the order of the file. */
const makeRowCheck = ({ raise }: StatusNotes) => {
  const isRepeated = makeRepeatedEmails()
  return (row: ImportRow): CheckedRow => {
    if (Result.isFailure(row.contact)) return { row, checked: Result.fail(row.contact.failure) }
    const given = row.contact.success
    const identity = canonicalEmail(given.email)
    const contact = raise(given, identity)
    return {
      row,
      checked: Result.succeed({ row, contact, lists: row.lists ?? [], identity, isRepeat: isRepeated(identity) })
    }
  }
}

/** Makes the lists that rows name, and tells those that the account has no room for; `undefined` if no row names any. */
const madeLists = Effect.fnUntraced(function* (account: string, rows: ReadonlyArray<CheckedRow>) {
  const names = new Map<string, string>()
  for (const { checked } of rows)
    if (Result.isSuccess(checked))
      for (const name of checked.success.lists)
        if (!names.has(FieldNames.foldName(name))) names.set(FieldNames.foldName(name), name)
  if (names.size === 0) return undefined
  const unmade = new Set<string>()
  let issue = ""
  for (const [folded, name] of names) {
    yield* Effect.catchTag(ensureLists(account, [name], "lists"), "InvalidInput", (error) => {
      issue = error.issue
      return Effect.succeed(unmade.add(folded))
    })
  }
  return { unmade, issue }
})

/** The rows between two checks for a waiting writer and the time: a few milliseconds. */
const stepRows = 1000

/** The rows of the first step. Each step doubles them, or halves them if it was slow. */
const firstStepRows = 32

/** In milliseconds. Rows that are merged with long ones can be 50 times as slow as others. */
const slowStep = 20

/** How long a transaction may last before its last step if nobody waits for it, in milliseconds. */
export const transactionMillis = 1000

export const monotonicMillis = Effect.map(Clock.monotonicTimeNanos, (nanos) => Number(nanos) / 1e6)

/** Rows per transaction, which share the writes of index pages. More would overflow SQLite's cache in a large store. */
const transactionRows = 50_000

/** Chunks of 256 KiB per transaction, since a row can be as long as thousands. */
const transactionChunks = 16

/** The chunks that are read while the database works; more would take memory from the other job. */
const chunksAhead = 4

/** What a job says of columns that say who wants mail, which it cannot map. */
const consentWords = (warnings: ReadonlyArray<ImportWarning>): string | undefined =>
  warnings.length === 0
    ? undefined
    : warnings
        .slice(0, 10)
        .map(({ column, warning }) => `the column ${JSON.stringify(column)}: ${warning}`)
        .join("; ")

const runImport = fnRedacted("ImportJob.run")(function* (job: HeldJob) {
  const sql = yield* SqlClient.SqlClient
  const { isWalLong, writersWait } = dialect(sql)
  const { hasWaiter, yieldToWriters } = yield* WriteFairness
  const request = yield* decodeRequest(job.request)
  const url = urlToFetch(request)
  if (url !== undefined) yield* fetchIntoStore(job, request, new URL(url))
  const list = request.listName === undefined ? undefined : yield* findList(job.account, request.listName)
  const progress = { ...progressOf(job) }
  const { resubscribe = false } = request
  const onAll = list === undefined || request.listName === undefined ? [] : [request.listName]
  const mapping = mappingOf(request)
  const readRows = readContacts(contentOf(readParts(sql, job.number)), mapping)
  // The rows before an unreadable one are imported.
  const notes = yield* notConfirmedIn(
    Stream.catchTag(readRows, "UnreadableFile", () => Stream.empty),
    mapping,
    resubscribe
  )
  const checkRow = makeRowCheck(notes)
  // The first rejected rows are kept: once one was left out, none is added.
  let room = job.rejected_kept < job.rejected ? 0 : yield* remainingRejectionSpace(job.number, job.account)

  const consent = makeConsentWarnings()
  let toSkip = job.rows_done
  const pull = yield* readRows.pipe(
    Stream.filter((row) => {
      // Of all rows, so that a job that goes on warns of the same.
      consent.add(row)
      if (toSkip === 0) return true
      toSkip--
      // Notes its address.
      checkRow(row)
      return false
    }),
    // While the database works the next rows are read, by another connection.
    writersWait ? identity : Stream.bufferArray({ capacity: chunksAhead }),
    Stream.toPull
  )
  // An error of the file is raised after all rows before it are written.
  const next = Effect.exit(Pull.catchDone(Effect.asSome(pull), () => Effect.succeedNone))
  let chunk = yield* next
  let rows: ReadonlyArray<CheckedRow> = []
  let position = 0
  let rowsAtOnce = firstStepRows

  /** Reads and checks the rows of a transaction before it begins, since others wait until it ends. Says whether there are any. */
  const readAhead = Effect.gen(function* () {
    const read: Array<CheckedRow> = []
    let chunks = 0
    while (Exit.isSuccess(chunk) && Option.isSome(chunk.value)) {
      if (chunks === transactionChunks || read.length >= transactionRows) break
      for (const row of yield* eachInSlices(chunk.value.value, checkRow)) read.push(row)
      chunks++
      chunk = yield* next
    }
    rows = read
    position = 0
    return rows.length > 0
  })

  /** Writes the rows until none is left or the time is up, or another writer waits, or only one step. */
  const importRows = Effect.fnUntraced(function* (isSingleStep: boolean) {
    const now = yield* storeClock(sql).seconds
    const started = yield* monotonicMillis
    let stepped = started
    const rejected: Array<RejectedRow> = []
    const statuses: Array<KeptStatusRow> = []
    const reject = ({ cells, header, line }: ImportRow, reason: string) => {
      rejected.push({ line, cells, reason })
      progress.header ??= encodeHeader(header)
    }
    let done = 0
    let accepted = 0
    let repeats = 0
    const sum = { created: 0, changed: 0, deleted: 0, gained: 0, lost: 0 }
    const mustEnd = () => isSingleStep || hasWaiter()
    // Made before contacts are locked, as every call does.
    const lists = yield* madeLists(job.account, rows.slice(position))
    do {
      let good: Array<GoodRow> = []
      const end = Math.min(position + rowsAtOnce, rows.length)
      done += end - position
      for (const { checked, row } of rows.slice(position, end)) {
        if (Result.isFailure(checked)) reject(row, checked.failure)
        else if (
          lists !== undefined &&
          checked.success.lists.some((name) => lists.unmade.has(FieldNames.foldName(name)))
        )
          reject(row, `Lists: ${lists.issue}`)
        else good.push(checked.success)
      }
      if (list !== undefined && lists === undefined) {
        const identities = good.map(({ identity }) => identity)
        const beyond = yield* beyondLists(job.account, identities, [list])
        for (const { identity, row } of good)
          // The list is named by the request, and by no column.
          if (beyond.has(identity)) reject(row, `listName: ${listsRefusal("listName").issue}`)
        if (beyond.size > 0) good = good.filter(({ identity }) => !beyond.has(identity))
      }
      const { answers, ids, written } = yield* writeContacts({
        account: job.account,
        hasLists: lists !== undefined,
        listNames: onAll,
        source: "FileUpload",
        now,
        writes: good.map(({ contact, identity, lists: own }) => {
          const write = writeOf(contact, resubscribe)
          const listed = lists === undefined ? write : { ...write, addToLists: [...onAll, ...own] }
          return { identity, email: contact.email, write: listed }
        }),
        read: (result, state) => ({ result, status: result === "Done" ? state?.contact.status : undefined })
      })
      for (const count of Struct.keys(sum)) sum[count] += written[count]
      good.forEach(({ contact, isRepeat, row }, index) => {
        const { result, status: written } = answers[index] ?? {}
        if (result === "TooManyLists") reject(row, `Lists: ${listsRefusal("lists").issue}`)
        else if (written === undefined) {
          reject(row, inputProblem(mergedRefusal(contact)))
        } else {
          if (contact.status !== undefined && contact.status !== written) {
            statuses.push({ line: row.line, status: written })
          }
          accepted++
          if (isRepeat) repeats++
        }
      })
      if (list !== undefined && lists === undefined) yield* addToLists(job.account, [list], [...ids.values()])
      position = end
      const before = stepped
      stepped = yield* monotonicMillis
      const isSlow = writersWait && stepped - before > slowStep
      rowsAtOnce = isSlow ? Math.max(1, rowsAtOnce >> 1) : Math.min(stepRows, 2 * rowsAtOnce)
    } while (position < rows.length && stepped - started < transactionMillis && !mustEnd())
    // Rows that the store refuses come after the others of their step.
    rejected.sort((one, other) => one.line - other.line)
    const kept = yield* keepRejections(job.number, rejected, room)
    room = kept.room
    yield* keepStatuses(job.number, statuses, progress.statuses_kept)
    progress.statuses_kept += statuses.length
    progress.rows_done += done
    progress.accepted += accepted
    progress.duplicates += repeats
    progress.rejected += rejected.length
    progress.rejected_kept += kept.kept
    progress.rejected_size += kept.size
    yield* advanceJob(job, progress)
    const [key] =
      job.run !== null || job.creator === null
        ? []
        : yield* sql<{ readonly name: string; readonly hint: string }>`
            SELECT name, secret_hint AS hint FROM credentials WHERE id = ${job.creator}`
    if (key !== undefined) yield* addToHour({ ...key, account: job.account, time: now, written: sum })
  })

  const ofRun = Effect.provideService(RunOfJob, job.run ?? undefined)
  while (position < rows.length || (yield* readAhead)) {
    // A long WAL grows as long as the export of another account reads its snapshot.
    const isSingleStep = yield* isWalLong
    yield* ofRun(sql.withTransaction(importRows(isSingleStep)))
    yield* yieldToWriters
  }
  yield* chunk
  yield* sql.withTransaction(Effect.andThen(endJob(job, "Ready", consentWords(consent.all())), removeParts(job.number)))
}, Effect.scoped)

/** A query can be a signature, and a user name comes with a password. */
const shownUrl = (address: string): string => {
  const url = URL.parse(address)
  return url === null ? "" : `${url.origin}${url.pathname}`
}

/** Imports as a kind of job. */
export const importJob = {
  kind: "Import",
  run: runImport,
  request: (stored: string) =>
    Option.map(requestOf(stored), ({ fileUrl, ...asked }) =>
      fileUrl === undefined ? asked : { ...asked, fileUrl: shownUrl(fileUrl) }
    ),
  // The file is not in the store yet.
  startsOver: ({ request }: HeldJob) => urlToFetch(readRequest(request)) !== undefined,
  // It holds the only copy of its file.
  onDiskFull: "wait",
  hasFile: false,
  quotaText:
    "the files of its imports hold 4 GiB. Wait until some are imported, or cancel them first (roster jobs cancel ID)."
} as const
