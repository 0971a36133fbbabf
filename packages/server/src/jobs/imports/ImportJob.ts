/**
 * Importing a file: rows are written in one transaction with the place in the file up to which they reach, so that an
 * import that was cut off goes on behind its last transaction.
 */
import {
  type ContactPayload,
  canonicalEmail,
  FileHeader,
  fnRedacted,
  readContacts,
  type RejectedRow
} from "@roster/domain"
import { Effect, Exit, Option, Pull, Result, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { addToLists, findList, upsertContacts } from "../../contacts/ContactUpsert.ts"
import { fetchFile } from "../../network/SafeFetch.ts"
import { checkArchive } from "./ImportArchive.ts"
import { csvOf } from "./ImportFile.ts"
import { readRow } from "./ImportRow.ts"
import { advanceJob, endJob, type HeldJob, nowSeconds } from "../queue/JobQueue.ts"
import { countRepeats, noteAddresses, restoreAddressFilter } from "./SeenEmails.ts"
import { inParts, partsAtOnce, readParts, removeParts, writeParts } from "../queue/JobBlobs.ts"
import { keepRejections, rejectionsRoom } from "./JobRejections.ts"
import { StorePolicy } from "../../store/StoreOptions.ts"
import { WriteFairness } from "../../store/sqlite/LockContention.ts"

/** What an import was asked for, as it is kept with its job. */
export const ImportJobRequest = Schema.Struct({
  listName: Schema.optionalKey(Schema.String),
  encodingName: Schema.optionalKey(Schema.String),
  fileUrl: Schema.optionalKey(Schema.String),
  /** Whether the file of the address lies in the store. */
  fetched: Schema.optionalKey(Schema.Boolean),
  /** What the sender calls the file; it leads nowhere here. */
  fileName: Schema.optionalKey(Schema.String)
})

const decodeRequest = Schema.decodeEffect(Schema.fromJsonString(ImportJobRequest))
const encodeRequest = Schema.encodeSync(Schema.fromJsonString(ImportJobRequest))
const encodeHeader = Schema.encodeSync(Schema.fromJsonString(FileHeader))

/**
 * Takes the file of an address into the store before a row of it is read: an import that is cut off goes on with the very
 * file that it began with, and an archive is looked at as a whole.
 */
const fetchIntoStore = Effect.fnUntraced(function* (job: HeldJob, request: typeof ImportJobRequest.Type, url: URL) {
  const sql = yield* SqlClient.SqlClient
  const { allowFileUrl } = yield* StorePolicy
  const holding = advanceJob(job, { rowsDone: 0, accepted: 0, rejected: 0 })
  // Of a fetch that was cut off.
  yield* sql.withTransaction(Effect.andThen(holding, removeParts(job.number)))
  let part = 0
  yield* inParts(fetchFile(url, { allowed: allowFileUrl })).pipe(
    Stream.rechunk(partsAtOnce),
    Stream.runForEachArray((contents) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* holding
          yield* writeParts(job.number, part, contents)
          part += contents.length
        })
      )
    )
  )
  yield* checkArchive(job.number)
  const fetched = encodeRequest({ ...request, fetched: true })
  yield* sql.withTransaction(
    Effect.andThen(holding, sql`UPDATE jobs SET request = ${fetched} WHERE number = ${job.number}`)
  )
})

/** After so many rows it is seen whether somebody waits: a few milliseconds. */
const stepRows = 1000

/**
 * As many as one transaction may have. The more there are, the fewer pages of an index are written for each; but with more
 * of them SQLite could not hold all pages that it changes in a large store.
 */
const transactionRows = 20_000

/** A transaction ends with so many pieces of its file, too, of 256 KiB each: a row may be as long as thousands. */
const transactionPieces = 16

export const runImport = fnRedacted("ImportJob.run")(function* (job: HeldJob) {
  const sql = yield* SqlClient.SqlClient
  const fairness = yield* WriteFairness
  const request = yield* decodeRequest(job.request)
  if (request.fileUrl !== undefined && request.fetched !== true) {
    yield* fetchIntoStore(job, request, new URL(request.fileUrl))
  }
  const list = request.listName === undefined ? undefined : yield* findList(job.account, request.listName)
  const progress = {
    rowsDone: job.rows_done,
    accepted: job.accepted,
    rejected: job.rejected,
    duplicates: job.duplicates,
    rejectedKept: job.rejected_kept,
    header: job.header
  }
  const { isKnown, suspects } = yield* restoreAddressFilter(job.number)
  // What is kept is the beginning: where a row is missing already, none is added.
  let room = job.rejected_kept < job.rejected ? 0 : yield* rejectionsRoom(job.number)

  const pull = yield* readContacts(csvOf(readParts(sql, job.number)), { encoding: request.encodingName }).pipe(
    Stream.drop(job.rows_done),
    Stream.toPull
  )
  // What is wrong with the file is said when all rows before it are written.
  const next = Effect.exit(Pull.catchDone(Effect.asSome(pull), () => Effect.succeedNone))
  let piece = yield* next
  let place = 0

  /** Writes rows until there are enough, or somebody may have to wait. */
  const importRows = Effect.gen(function* () {
    const now = yield* nowSeconds
    const identities: Array<string> = []
    const rejected: Array<RejectedRow> = []
    let done = 0
    let repeats = 0
    let pieces = 0
    do {
      if (Exit.isFailure(piece) || Option.isNone(piece.value)) break
      const rows = piece.value.value
      const contacts: Array<ContactPayload> = []
      const before = identities.length
      const end = Math.min(place + stepRows, rows.length)
      done += end - place
      for (const row of rows.slice(place, end)) {
        const checked = readRow(row)
        if (Result.isSuccess(checked)) {
          contacts.push(checked.success)
          const identity = canonicalEmail(checked.success.email)
          identities.push(identity)
          if (isKnown(identity)) repeats++
        } else {
          rejected.push({ line: row.line, cells: row.cells, reason: checked.failure })
          progress.header ??= encodeHeader(row.header)
        }
      }
      const written = {
        account: job.account,
        contacts,
        identities: identities.slice(before),
        source: "FileUpload",
        now
      } as const
      if (list === undefined) yield* upsertContacts({ ...written, returning: [] })
      else {
        const added = yield* upsertContacts({ ...written, returning: ["id"] })
        yield* addToLists(
          [list],
          added.map(([id]) => ({ id }))
        )
      }
      place = end
      if (place === rows.length) {
        piece = yield* next
        place = 0
        pieces++
      }
    } while (done < transactionRows && pieces < transactionPieces && !fairness.hasWaiter())
    yield* noteAddresses(job.number, identities)
    const kept = yield* keepRejections(job.number, rejected, room)
    room = kept.room
    progress.rowsDone += done
    progress.accepted += identities.length
    progress.duplicates += repeats
    progress.rejected += rejected.length
    progress.rejectedKept += kept.kept
    yield* advanceJob(job, progress)
  })

  while (Option.isSome(yield* piece)) {
    yield* sql.withTransaction(importRows)
    yield* fairness.yieldToWriters
  }
  // The filter may have taken an address for known that was not.
  const duplicates = yield* countRepeats(job.number, suspects)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* advanceJob(job, { ...progress, duplicates })
      yield* endJob(job, "Ready")
      yield* removeParts(job.number)
    })
  )
}, Effect.scoped)
