/**
 * Making the file of an export: its contacts are read from one snapshot into a temporary file, and the file is made of
 * them when the snapshot is closed. An export that was cut off is begun anew, since neither outlives the process.
 */
import { ContactFilter, CompressionFormat, type CustomFields, ExportFileFormat, RuleText } from "@roster/domain"
import { Clock, Effect, Option, Pull, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { contactColumns, type ContactRow } from "./ContactRow.ts"
import { selection } from "./ContactSelection.ts"
import { exportFile } from "./ExportFile.ts"
import { makeSpool } from "./ExportSpool.ts"
import { type ExportedRow, type ExportFormat, exportFormats } from "./ExportText.ts"
import { advanceJob, endJob, type HeldJob } from "./Job.ts"
import { inParts, partsAtOnce, removeParts, writeParts } from "./JobParts.ts"
import { dialect } from "./SqlDialect.ts"
import { WriteTurns } from "./WriteTurns.ts"

/**
 * What an export was asked for, as it is kept with its job.
 *
 * @internal
 */
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

/**
 * @internal
 */
export const runExport = Effect.fn("ExportJob.run")(function* (job: HeldJob) {
  const sql = yield* SqlClient.SqlClient
  const turns = yield* WriteTurns
  const request = yield* decodeRequest(job.request)
  const where = yield* selection(job.account, filterOf(request))
  yield* sql.withTransaction(
    Effect.andThen(advanceJob(job, { rowsDone: 0, accepted: 0, rejected: 0 }), removeParts(job.number))
  )

  // The sign keeps the planner from reading the whole account in order where a few addresses are asked for.
  const columns = sql.literal(contactColumns.join(", "))
  const order = sql.literal(request.emails === undefined ? "id" : "+id")
  const { names, read, rows } = yield* spoolRows(
    job,
    exportFormats[request.format],
    sql<ContactRow>`SELECT ${columns} FROM contacts WHERE ${where} ORDER BY ${order}`.stream
  )

  let written = 0
  let part = 0
  const counted = Stream.map(rows, (some) => {
    written += some.length
    return some
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
        .pipe(Effect.andThen(turns.giveWay))
    )
  )
  yield* endJob(job, "Ready")
}, Effect.scoped)

/**
 * Reads the rows of one statement, which is one snapshot, into a temporary file, and gathers the names of their custom
 * fields on the way. What others write meanwhile stays in the WAL until the snapshot is closed: once that is much, they
 * write between two steps and not within one.
 */
const spoolRows = Effect.fnUntraced(function* <E>(
  job: HeldJob,
  format: ExportFormat,
  stream: Stream.Stream<ContactRow, E>
) {
  const sql = yield* SqlClient.SqlClient
  const spool = yield* makeSpool<ExportedRow>()
  const names = new Set<string>()
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
          if (format.needsNames) for (const row of rows.value) addFieldNames(names, row)
          yield* spool.add(rows.value.map(format.row))
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
      yield* Effect.repeat(step, { while: () => Option.isSome(rows) })
    })
  )
  // In alphabetical order, whatever the language of the machine.
  return { rows: Stream.chunks(spool.rows), read, names: [...names].sort() }
})

/** A column that is empty in every row would not come back from an import: it is left out. */
const addFieldNames = (names: Set<string>, row: ContactRow) => {
  // What we wrote ourselves: an object of texts.
  const fields = Object.entries(JSON.parse(row.custom_fields) as CustomFields)
  for (const [name, value] of fields) if (value !== "") names.add(name)
}
