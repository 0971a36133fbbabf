/**
 * Importing a file: a batch of rows is one transaction with the place in the file up to which it reads, so that an import
 * that was cut off goes on behind its last batch.
 */
import {
  type ContactPayload,
  type ContactRow,
  emailIdentity,
  FileHeader,
  readContacts,
  type RejectedRow
} from "@roster/domain"
import { Effect, Result, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { addToLists, findList, upsertContacts } from "./ContactWrites.ts"
import { fetchFile } from "./FileUrlFetch.ts"
import { checkArchive } from "./ImportArchive.ts"
import { inBatches } from "./ImportBatch.ts"
import { csvOf } from "./ImportFile.ts"
import { readRow } from "./ImportRow.ts"
import { advanceJob, endJob, type HeldJob, nowSeconds } from "./Job.ts"
import { countRepeats, noteAddresses, restoreAddressFilter } from "./JobAddresses.ts"
import { inParts, partsAtOnce, readParts, removeParts, writeParts } from "./JobParts.ts"
import { keepRejections, rejectionsRoom } from "./JobRejections.ts"
import { StorePolicy } from "./StoreOptions.ts"
import { WriteTurns } from "./WriteTurns.ts"

/**
 * What an import was asked for, as it is kept with its job.
 *
 * @internal
 */
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
 * @internal
 */
export const runImport = Effect.fn("ImportJob.run")(function* (job: HeldJob) {
  const sql = yield* SqlClient.SqlClient
  const turns = yield* WriteTurns
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

  /** Writes rows from one on until nobody may have to wait any longer, and gives the place of the next. */
  const importFrom = Effect.fnUntraced(function* (rows: ReadonlyArray<ContactRow>, from: number) {
    const now = yield* nowSeconds
    const identities: Array<string> = []
    const rejected: Array<RejectedRow> = []
    let repeats = 0
    let next = from
    do {
      const contacts: Array<ContactPayload> = []
      for (const row of rows.slice(next, (next += stepRows))) {
        const checked = readRow(row)
        if (Result.isSuccess(checked)) {
          contacts.push(checked.success)
          const identity = emailIdentity(checked.success.email)
          identities.push(identity)
          if (isKnown(identity)) repeats++
        } else {
          rejected.push({ line: row.line, cells: row.cells, reason: checked.failure })
          progress.header ??= encodeHeader(row.header)
        }
      }
      const written = { account: job.account, contacts, source: "FileUpload", now } as const
      if (list === undefined) yield* upsertContacts({ ...written, returning: [] })
      else {
        const added = yield* upsertContacts({ ...written, returning: ["id"] })
        yield* addToLists(
          [list],
          added.map(([id]) => ({ id }))
        )
      }
    } while (next < rows.length && !turns.isAwaited())
    next = Math.min(next, rows.length)
    yield* noteAddresses(job.number, identities)
    const kept = yield* keepRejections(job.number, rejected, room)
    room = kept.room
    progress.rowsDone += next - from
    progress.accepted += identities.length
    progress.duplicates += repeats
    progress.rejected += rejected.length
    progress.rejectedKept += kept.kept
    yield* advanceJob(job, progress)
    return next
  })

  const importBatch = Effect.fnUntraced(function* (rows: ReadonlyArray<ContactRow>) {
    for (let next = 0; next < rows.length;) {
      next = yield* sql.withTransaction(importFrom(rows, next))
      yield* turns.giveWay
    }
  })

  yield* readContacts(csvOf(readParts(sql, job.number)), { encoding: request.encodingName }).pipe(
    Stream.drop(job.rows_done),
    inBatches,
    Stream.runForEach(importBatch)
  )
  // The filter may have taken an address for known that was not.
  const duplicates = yield* countRepeats(job.number, suspects)
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* advanceJob(job, { ...progress, duplicates })
      yield* endJob(job, "Ready")
      yield* removeParts(job.number)
    })
  )
})
