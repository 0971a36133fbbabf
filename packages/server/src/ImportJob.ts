/**
 * Importing a file: a batch of rows is one transaction with the place in the file up to which it reads, so that an import
 * that was cut off goes on behind its last batch.
 */
import { type ContactRow, FileHeader, readContacts, type RejectedRow } from "@roster/domain"
import { Effect, Result, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { checkTexts } from "./ContactInput.ts"
import { addToList, findList, upsertContact } from "./ContactWrites.ts"
import { fetchFile } from "./FileUrlFetch.ts"
import { checkArchive } from "./ImportArchive.ts"
import { inBatches } from "./ImportBatch.ts"
import { csvOf } from "./ImportFile.ts"
import { advanceJob, endJob, type HeldJob, nowSeconds } from "./Job.ts"
import { noteAddresses } from "./JobAddresses.ts"
import { inParts, readParts, removeParts, writePart } from "./JobParts.ts"
import { keepRejections, rejectionsRoom } from "./JobRejections.ts"
import { StorePolicy } from "./StoreOptions.ts"

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
    Stream.runForEach((content) => sql.withTransaction(Effect.andThen(holding, writePart(job.number, part++, content))))
  )
  yield* checkArchive(job.number)
  const fetched = encodeRequest({ ...request, fetched: true })
  yield* sql.withTransaction(
    Effect.andThen(holding, sql`UPDATE jobs SET request = ${fetched} WHERE number = ${job.number}`)
  )
})

/**
 * @internal
 */
export const runImport = Effect.fn("ImportJob.run")(function* (job: HeldJob) {
  const sql = yield* SqlClient.SqlClient
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
  // What is kept is the beginning: where a row is missing already, none is added.
  let room = job.rejected_kept < job.rejected ? 0 : yield* rejectionsRoom(job.number)

  const check = ({ contact }: ContactRow) =>
    Effect.fromResult(contact).pipe(
      Effect.tap((payload) => Effect.mapError(checkTexts(payload), (refusal) => refusal.message)),
      Effect.result
    )

  const importBatch = Effect.fnUntraced(function* (rows: ReadonlyArray<ContactRow>) {
    const now = yield* nowSeconds
    const identities: Array<string> = []
    const rejected: Array<RejectedRow> = []
    for (const row of rows) {
      const checked = yield* check(row)
      if (Result.isFailure(checked)) {
        rejected.push({ line: row.line, cells: row.cells, reason: checked.failure })
        progress.header ??= encodeHeader(row.header)
        continue
      }
      const contact = checked.success
      const saved = yield* upsertContact({ account: job.account, contact, source: "FileUpload", now })
      if (list !== undefined) yield* addToList(list, saved.id)
      identities.push(saved.identity)
    }
    progress.rowsDone += rows.length
    progress.accepted += identities.length
    progress.duplicates += yield* noteAddresses(job.number, identities)
    const kept = yield* keepRejections(job.number, rejected, room)
    room = kept.room
    progress.rejected += rejected.length
    progress.rejectedKept += kept.kept
    yield* advanceJob(job, progress)
  })

  yield* readContacts(csvOf(readParts(sql, job.number)), { encoding: request.encodingName }).pipe(
    Stream.drop(job.rows_done),
    inBatches,
    Stream.runForEach((rows) => sql.withTransaction(importBatch(rows)))
  )
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* endJob(job, "Ready")
      yield* removeParts(job.number)
    })
  )
})
