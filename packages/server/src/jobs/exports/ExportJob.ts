/**
 * Making the file of an export: its contacts are read from one snapshot, and go as text to a temporary file, which is taken
 * into the store when the snapshot is closed. An export that was cut off is begun anew, since neither outlives the process.
 */
import { CompressionFormat, ContactFilter, ExportFileFormat, fnRedacted, RuleText } from "@roster/domain"
import { Clock, Effect, Option, Pull, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { contactColumns, type ContactRow, streamContacts } from "../../contacts/ContactRow.ts"
import { selection } from "../../contacts/ContactSelection.ts"
import { exportFile } from "./ExportFile.ts"
import { type ExportPiece, makeExportPieces } from "./ExportPieces.ts"
import { makeSpool } from "./ExportSpool.ts"
import { type ExportFormat, exportFormats } from "./ExportFormat.ts"
import { advanceJob, endJob, type HeldJob } from "../queue/JobQueue.ts"
import { inParts, partsAtOnce, removeParts, writeParts } from "../queue/JobBlobs.ts"
import { dialect } from "../../store/SqlDialect.ts"
import { WriteFairness } from "../../store/sqlite/LockContention.ts"

/** What an export was asked for, as it is kept with its job. */
export const ExportJobRequest = Schema.Struct({
  format: ExportFileFormat,
  compression: CompressionFormat,
  /** The name of the file of contacts, inside the archive where there is one. */
  name: Schema.String,
  /** The name of what is downloaded. */
  download: Schema.String,
  rule: Schema.optionalKey(Schema.String),
  emails: Schema.optionalKey(Schema.NonEmptyArray(Schema.String))
})

const decodeRequest = Schema.decodeEffect(Schema.fromJsonString(ExportJobRequest))

const filterOf = (request: typeof ExportJobRequest.Type): ContactFilter | undefined =>
  request.rule !== undefined
    ? ContactFilter.ByRule({ rule: RuleText.make(request.rule) })
    : request.emails === undefined
      ? undefined
      : ContactFilter.ByEmails({ emails: request.emails })

/** After each step of reading its progress is written, which renews the lease and shows whether it is still held. */
const stepMillis = 250

/**
 * How long the log of writes may get, in bytes, before others have to wait for the end of a step: a little longer than it
 * gets while nobody reads.
 */
const longLog = 36 * 1024 * 1024

export const runExport = fnRedacted("ExportJob.run")(function* (job: HeldJob) {
  const sql = yield* SqlClient.SqlClient
  const fairness = yield* WriteFairness
  const request = yield* decodeRequest(job.request)
  const where = yield* selection(job.account, filterOf(request))
  yield* sql.withTransaction(
    Effect.andThen(advanceJob(job, { rowsDone: 0, accepted: 0, rejected: 0 }), removeParts(job.number))
  )

  // The sign keeps the planner from reading the whole account in order where a few addresses are asked for.
  const columns = sql.literal(contactColumns.join(", "))
  const order = sql.literal(request.emails === undefined ? "id" : "+id")
  const statement = sql<ContactRow>`SELECT ${columns} FROM contacts WHERE ${where} ORDER BY ${order}`
  const { names, pieces, read } = yield* spoolRows(job, exportFormats[request.format], streamContacts(sql, statement))

  let written = 0
  let part = 0
  const counted = Stream.map(pieces, (piece) => {
    written += piece.rows
    return piece
  })
  yield* exportFile(counted, { ...request, customFields: names }).pipe(
    inParts,
    Stream.rechunk(partsAtOnce),
    Stream.runForEachArray((contents) =>
      sql
        .withTransaction(
          Effect.gen(function* () {
            yield* advanceJob(job, { rowsDone: read, total: read, accepted: written, rejected: 0 })
            yield* writeParts(job.number, part, contents)
            part += contents.length
          })
        )
        .pipe(Effect.andThen(fairness.yieldToWriters))
    )
  )
  yield* endJob(job, "Ready")
}, Effect.scoped)

/**
 * Reads the rows of one statement, which is one snapshot, into a temporary file, as the text that they will be. What others
 * write meanwhile stays in the WAL until the snapshot is closed: once that is much, they write between two steps and not
 * within one.
 */
const spoolRows = Effect.fnUntraced(function* <E>(
  job: HeldJob,
  format: ExportFormat,
  stream: Stream.Stream<ContactRow, E>
) {
  const sql = yield* SqlClient.SqlClient
  const fairness = yield* WriteFairness
  const spool = yield* makeSpool
  const making = makeExportPieces(format)
  const keep = (pieces: ReadonlyArray<ExportPiece>) => Effect.forEach(pieces, spool.add, { discard: true })
  let read = 0
  yield* Effect.scoped(
    Effect.gen(function* () {
      const pull = yield* Stream.toPull(stream)
      const next = Pull.catchDone(Effect.asSome(pull), () => Effect.succeedNone)
      // The statement begins outside the transactions: within one it would read what that sees.
      let rows = yield* next
      const readOn = Effect.gen(function* () {
        const end = (yield* Clock.currentTimeMillis) + stepMillis
        while (Option.isSome(rows) && (yield* Clock.currentTimeMillis) < end) {
          yield* keep(making.add(rows.value))
          read += rows.value.length
          rows = yield* next
        }
      })
      const note = Effect.suspend(() => advanceJob(job, { rowsDone: read, accepted: 0, rejected: 0 }))
      const logBytes = yield* dialect(sql).logBytes
      const step = Effect.suspend(() =>
        logBytes() > longLog
          ? sql.withTransaction(Effect.andThen(readOn, note))
          : Effect.andThen(readOn, sql.withTransaction(note))
      )
      yield* Effect.repeat(Effect.andThen(step, fairness.yieldToWriters), { while: () => Option.isSome(rows) })
    })
  )
  yield* keep(making.take())
  return { names: making.names(), pieces: spool.pieces, read }
})
