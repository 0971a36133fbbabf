/**
 * Importing a file: a batch of rows is one transaction with the place in the file up to which it reads, so that an import
 * that was cut off goes on behind its last batch.
 */
import { type ContactRow, type ImportRefused, readContacts } from "@roster/domain"
import { Effect, Result, Schema, Stream } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { checkTexts } from "./ContactInput.ts"
import { addToList, findList, upsertContact } from "./ContactWrites.ts"
import { fetchFile } from "./FileUrlFetch.ts"
import { csvOf } from "./ImportFile.ts"
import { advanceJob, endJob, type JobRow, nowSeconds } from "./Job.ts"
import { readParts, removeParts } from "./JobParts.ts"
import { StorePolicy } from "./StoreOptions.ts"

/**
 * What an import was asked for, as it is kept with its job.
 *
 * @internal
 */
export const ImportJobRequest = Schema.Struct({
  listName: Schema.optionalKey(Schema.String),
  encodingName: Schema.optionalKey(Schema.String),
  fileUrl: Schema.optionalKey(Schema.String)
})

const decodeRequest = Schema.decodeEffect(Schema.fromJsonString(ImportJobRequest))

const batchRows = 1000

/**
 * @internal
 */
export const runImport = Effect.fn("ImportJob.run")(function* (job: JobRow) {
  const sql = yield* SqlClient.SqlClient
  const { allowFileUrl } = yield* StorePolicy
  const request = yield* decodeRequest(job.request)
  const list = request.listName === undefined ? undefined : yield* findList(job.account, request.listName)
  const file: Stream.Stream<Uint8Array, ImportRefused | SqlError.SqlError> =
    request.fileUrl === undefined
      ? readParts(sql, job.number)
      : fetchFile(new URL(request.fileUrl), { allowed: allowFileUrl })
  const progress = { rowsDone: job.rows_done, accepted: job.accepted, rejected: job.rejected }

  const importRow = Effect.fnUntraced(function* (row: ContactRow, now: number) {
    const checked = yield* Effect.fromResult(row.contact).pipe(
      Effect.tap((contact) => Effect.mapError(checkTexts(contact), (refusal) => refusal.message)),
      Effect.result
    )
    progress.rowsDone++
    if (Result.isFailure(checked)) {
      progress.rejected++
      yield* sql`INSERT INTO job_rejections ${sql.insert({ job: job.number, line: row.line, reason: checked.failure })}`
      return
    }
    progress.accepted++
    const saved = yield* upsertContact({ account: job.account, contact: checked.success, source: "FileUpload", now })
    if (list !== undefined) yield* addToList(list, saved.id)
  })

  const importBatch = Effect.fnUntraced(function* (rows: ReadonlyArray<ContactRow>) {
    const now = yield* nowSeconds
    yield* Effect.forEach(rows, (row) => importRow(row, now), { discard: true })
    yield* advanceJob(job, progress)
  })

  yield* readContacts(csvOf(file), { encoding: request.encodingName }).pipe(
    Stream.drop(job.rows_done),
    Stream.grouped(batchRows),
    Stream.runForEach((rows) => sql.withTransaction(importBatch(rows)))
  )
  yield* sql.withTransaction(
    Effect.gen(function* () {
      yield* endJob(job, "Ready")
      yield* removeParts(job.number)
    })
  )
})
