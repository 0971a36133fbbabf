/**
 * Making the file of an export. An export that was cut off is begun anew: its contacts are read from one snapshot, which
 * does not outlive the process.
 */
import { ContactFilter, CompressionFormat, ExportFileFormat, RuleText } from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { type ContactRow, toContact } from "./ContactRow.ts"
import { selection } from "./ContactSelection.ts"
import { exportFile } from "./ExportFile.ts"
import { advanceJob, endJob, type JobRow } from "./Job.ts"
import { inParts, removeParts, writePart } from "./JobParts.ts"

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

/**
 * @internal
 */
export const runExport = Effect.fn("ExportJob.run")(function* (job: JobRow) {
  const sql = yield* SqlClient.SqlClient
  const request = yield* decodeRequest(job.request)
  const where = yield* selection(job.account, filterOf(request))
  yield* sql.withTransaction(
    Effect.andThen(advanceJob(job, { rowsDone: 0, accepted: 0, rejected: 0 }), removeParts(job.number))
  )
  const customFields =
    request.format === "Csv"
      ? yield* sql<{ readonly custom_fields: string }>`
      SELECT DISTINCT custom_fields FROM contacts WHERE ${where}`.pipe(Effect.map(fieldNames))
      : []
  let rows = 0
  const contacts = Stream.map(sql<ContactRow>`SELECT * FROM contacts WHERE ${where} ORDER BY id`.stream, (row) => {
    rows++
    return toContact(row)
  })
  let part = 0
  yield* exportFile(contacts, { ...request, customFields }).pipe(
    inParts,
    Stream.runForEach((content) =>
      sql.withTransaction(
        Effect.gen(function* () {
          yield* advanceJob(job, { rowsDone: rows, accepted: rows, rejected: 0 })
          yield* writePart(job.number, part++, content)
        })
      )
    )
  )
  yield* endJob(job, "Ready")
})

/** In alphabetical order, whatever the language of the machine. */
const fieldNames = (rows: ReadonlyArray<{ readonly custom_fields: string }>): ReadonlyArray<string> => {
  const names = new Set<string>()
  for (const row of rows) {
    // What we wrote ourselves: an object.
    for (const name of Object.keys(JSON.parse(row.custom_fields) as object)) names.add(name)
  }
  return [...names].sort()
}
