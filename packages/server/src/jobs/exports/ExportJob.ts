/** Exports contacts from one snapshot, spooled so that it closes early. An interrupted export starts over. */
import { CompressionFormat, type Contact, ContactFilter, ExportFileFormat, RuleText } from "@roster/domain"
import { fnRedacted } from "@roster/domain/internal"
import { Effect, Option, Pull, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { streamContacts } from "../../contacts/ContactRow.ts"
import { exportFile, type ExportFormat, exportFormats } from "./ExportFormat.ts"
import { makeSpool } from "./ExportSpool.ts"
import { advanceJob, endJob, noProgress, type HeldJob } from "../queue/JobQueue.ts"
import { removeAllParts, storeParts } from "../queue/JobBlobs.ts"
import { dialect } from "../../store/SqlDialect.ts"
import { WriteFairness } from "../../store/sqlite/LockContention.ts"
import { beginSlice } from "../../threads/Slices.ts"
import { selection } from "../../contacts/ContactSelection.ts"

/** The request of an export, as the text that its job holds. */
export const ExportJobRequest = Schema.fromJsonString(
  Schema.Struct({
    format: ExportFileFormat,
    compression: CompressionFormat,
    /** The name of the file of contacts, inside the archive if any. */
    name: Schema.String,
    /** The name of the downloaded file. */
    download: Schema.String,
    /** Whether the file has the lists of each contact. */
    lists: Schema.optionalKey(Schema.Boolean),
    rule: Schema.optionalKey(Schema.String),
    emails: Schema.optionalKey(Schema.NonEmptyArray(Schema.String))
  })
)

const decodeRequest = Schema.decodeEffect(ExportJobRequest)
const requestOf = Schema.decodeOption(ExportJobRequest)

const filterOf = (request: typeof ExportJobRequest.Type): ContactFilter | undefined =>
  request.rule !== undefined
    ? ContactFilter.ByRule({ rule: RuleText.make(request.rule) })
    : request.emails === undefined
      ? undefined
      : ContactFilter.ByEmails({ emails: request.emails })

/** The time between two writes of the progress, which renew the lease and fail if it is lost. */
const stepMillis = 250

const runExport = fnRedacted("ExportJob.run")(function* (job: HeldJob) {
  const sql = yield* SqlClient.SqlClient
  const request = yield* decodeRequest(job.request)
  const { columns, isByAddress, matches, where } = yield* selection(job.account, filterOf(request), request.lists)
  // The parts of an interrupted export.
  yield* removeAllParts(job.number, advanceJob(job, noProgress))

  // With the plus the planner does not scan the whole account in order for a few addresses.
  const order = sql.literal(isByAddress ? "+id" : "id")
  const statement = sql`SELECT ${sql.literal(columns)} FROM contacts WHERE ${where} ORDER BY ${order}`
  const found = streamContacts(statement)
  // While rows are formatted the database looks for the next ones.
  const contacts = dialect(sql).writersWait ? found : Stream.bufferArray(found, { capacity: 1 })
  const { names, pieces, read } = yield* spoolRows(job, exportFormats[request.format], contacts, matches, request.lists)

  let written = 0
  const counted = Stream.map(pieces, (piece) => {
    written += piece.rows
    return piece
  })
  const file = exportFile(counted, { ...request, customFields: names })
  yield* storeParts(
    job.number,
    file,
    Effect.suspend(() => advanceJob(job, { rows_done: read, rows_total: read, accepted: written }))
  )
  yield* endJob(job, "Ready")
}, Effect.scoped)

/** Exports as a kind of job. */
export const exportJob = {
  kind: "Export",
  run: runExport,
  request: (stored: string) =>
    Option.map(requestOf(stored), ({ compression, download, emails, format, lists, rule }) => ({
      fileName: download,
      format,
      compression,
      ...(lists === undefined ? {} : { lists }),
      ...(rule === undefined ? {} : { rule }),
      ...(emails === undefined ? {} : { emails: emails.length })
    })),
  startsOver: () => true,
  // It can be requested again.
  onDiskFull: "end",
  hasFile: true,
  quotaText:
    "the files of its exports hold 4 GiB. Each is removed 24 hours after it was requested; request fewer " +
    "contacts, or a Zip file, or wait until the first is removed."
} as const

/** Spools the rows of one snapshot, which makes the WAL grow: once it is long, others write only between steps. */
const spoolRows = Effect.fnUntraced(function* <E>(
  job: HeldJob,
  format: ExportFormat,
  stream: Stream.Stream<Contact, E>,
  matches: (contact: Contact) => boolean,
  lists = false
) {
  const sql = yield* SqlClient.SqlClient
  const fairness = yield* WriteFairness
  const spool = yield* makeSpool(format, lists)
  let read = 0
  yield* Effect.scoped(
    Effect.gen(function* () {
      const pull = yield* Stream.toPull(stream)
      const next = Pull.catchDone(Effect.asSome(pull), () => Effect.succeedNone)
      // Starts outside the transactions: within one it would read through that.
      let rows = yield* next
      const readOn = Effect.gen(function* () {
        const isOver = yield* beginSlice(stepMillis)
        while (Option.isSome(rows)) {
          const selected = rows.value.filter(matches)
          yield* spool.add(selected)
          read += selected.length
          rows = yield* next
          if (isOver()) return
        }
      })
      const note = Effect.suspend(() => advanceJob(job, { ...noProgress, rows_done: read }))
      const step = Effect.flatMap(dialect(sql).isWalLong, (isLong) =>
        isLong ? sql.withTransaction(Effect.andThen(readOn, note)) : Effect.andThen(readOn, sql.withTransaction(note))
      )
      yield* Effect.repeat(Effect.andThen(step, fairness.yieldToWriters), { while: () => Option.isSome(rows) })
    })
  )
  return { ...(yield* spool.finish), read }
})
