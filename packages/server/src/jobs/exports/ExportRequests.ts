/** Creates exports, tells their status and opens their files. The key in a link is the permission to read its file. */
import {
  checkFilter,
  CompressionFormat,
  ExportExpired,
  ExportFileFormat,
  ExportId,
  type ExportLink,
  ExportNotFound,
  type ExportRequest,
  type ExportStatus,
  invalidInput,
  redactStreamSpans,
  ruleSource
} from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { randomBytes } from "node:crypto"
import { Caller } from "../../credentials/Caller.ts"
import { checkEmail } from "../../contacts/ContactValidation.ts"
import { contentType, exportFileName } from "./ExportFormat.ts"
import { ExportJobRequest } from "./ExportJob.ts"
import { createJob, type JobRow } from "../queue/JobQueue.ts"
import { partLengths, readFrom } from "../queue/JobBlobs.ts"
import { checkQuota } from "../queue/JobQuotas.ts"
import { inTransaction } from "../../store/sqlite/GroupCommit.ts"
import { encoded } from "../../store/AnswerEncoding.ts"
import { storeClock } from "../../store/StoreClock.ts"
import { readRule } from "../../contacts/RuleSql.ts"

const encodeRequest = Schema.encodeEffect(ExportJobRequest)
const decodeRequest = Schema.decodeEffect(ExportJobRequest)

/** The parameters of a request that only the contract restricts. */
const checkFormat = Schema.decodeUnknownEffect(
  Schema.Struct({
    fileFormat: Schema.optional(ExportFileFormat),
    compressionFormat: Schema.optional(CompressionFormat),
    // Nothing else can stand in an address.
    fileName: Schema.optional(
      Schema.String.check(
        Schema.makeFilter((name) => name.isWellFormed() || "it holds broken characters (lone surrogates)")
      )
    )
  })
)

/** The base address of links to files for a caller within the process. */
const embeddedUrl = "http://roster.embedded/v4"

/** The path of files below the base address. */
const filesPath = "/exports/"

const linkTo = (serviceUrl: string | undefined, fileKey: string, download: string): string =>
  `${serviceUrl ?? embeddedUrl}${filesPath}${fileKey}/${encodeURIComponent(download)}`

/** Creates the job of an export and gives its link, which holds an unguessable key. */
export const createExport = Effect.fnUntraced(function* (request: ExportRequest) {
  const { account, serviceUrl } = yield* Caller
  const { filter } = request
  const format = yield* Effect.mapError(checkFormat(request), (error) => invalidInput(error))
  const { compressionFormat = "None", fileFormat = "Csv", fileName } = format
  if (filter !== undefined) yield* checkFilter(filter)
  if (filter?._tag === "ByRule") yield* readRule(filter.rule)
  if (filter?._tag === "ByEmails") {
    yield* Effect.forEach(filter.emails, (email, index) => checkEmail(`emails[${index}]`, email), { discard: true })
  }
  const asked = exportFileName(fileName, fileFormat)
  const isArchive = compressionFormat === "Zip" && /\.zip$/i.test(asked)
  const name = isArchive ? exportFileName(asked.slice(0, -4), fileFormat) : asked
  const download = compressionFormat === "None" ? name : isArchive ? asked : `${asked}.zip`
  const id = ExportId.make(crypto.randomUUID())
  const fileKey = randomBytes(24).toString("base64url")
  const sql = yield* SqlClient.SqlClient
  const job = createJob({
    id,
    account,
    kind: "Export",
    state: "Loading",
    file_key: fileKey,
    request: yield* encodeRequest({
      format: fileFormat,
      compression: compressionFormat,
      name,
      download,
      ...(filter?._tag === "ByRule" ? { rule: ruleSource(filter.rule) } : {}),
      ...(filter?._tag === "ByEmails" ? { emails: filter.emails } : {})
    }).pipe(Effect.orDie)
  })
  const link: ExportLink = { id, link: linkTo(serviceUrl?.(), fileKey, download) }
  const created = Effect.andThen(
    checkQuota("contactsExportPost", account, "Export"),
    Effect.andThen(job, encoded(link))
  )
  return yield* inTransaction(sql, created)
})

/** The link to the file of a job, for its owner; `undefined` if it is no export. */
export const linkOfJob = Effect.fnUntraced(function* ({ file_key, kind, request }: JobRow) {
  if (kind !== "Export" || file_key === null) return undefined
  const { serviceUrl } = yield* Caller
  const { download } = yield* Effect.orDie(decodeRequest(request))
  return linkTo(serviceUrl?.(), file_key, download)
})

/** A job, and the time at which it was read. */
interface DatedJob extends JobRow {
  readonly now: number
}

export const exportStatus = Effect.fnUntraced(function* (id: string) {
  yield* ExportId.fromText(id)
  const sql = yield* SqlClient.SqlClient
  const { account } = yield* Caller
  const [job] = yield* sql<DatedJob>`
    SELECT *, ${yield* storeClock(sql).inSql} AS now FROM jobs
    WHERE id = ${id.toLowerCase()} AND account = ${account} AND kind = 'Export'`
  if (job === undefined) return yield* new ExportNotFound({ id })
  if (job.expires <= job.now) return "Expired" satisfies ExportStatus
  return exportStatuses[job.state]
})

/** The interface has no status for a cancelled export. */
const exportStatuses: { readonly [State in JobRow["state"]]: ExportStatus } = {
  Receiving: "Loading",
  Loading: "Loading",
  Ready: "Ready",
  Error: "Error",
  Cancelled: "Error"
}

/** Opens a file by its key, which is the permission to read it. */
export const openFile = Effect.fnUntraced(function* (fileKey: string) {
  const sql = yield* SqlClient.SqlClient
  const [job] = yield* sql<DatedJob>`
    SELECT *, ${yield* storeClock(sql).inSql} AS now FROM jobs WHERE file_key = ${fileKey}`
  if (job === undefined || job.state !== "Ready") return yield* new ExportNotFound({ id: job?.id ?? "of this link" })
  const gone = new ExportExpired({ id: job.id })
  if (job.expires <= job.now) return yield* gone
  const request = yield* Effect.orDie(decodeRequest(job.request))
  const lengths = yield* Effect.catchTag(partLengths(job.number), "PartMissing", () => gone)
  // The file of every export has a header or a bracket.
  if (lengths.length === 0) return yield* gone
  return {
    id: job.id,
    name: request.download,
    contentType: contentType(request.format, request.compression),
    /** In bytes. */
    size: lengths.reduce((sum, length) => sum + length, 0),
    /** Reads from a byte on. */
    read: (from: number) =>
      redactStreamSpans(
        Stream.catchTag(readFrom(sql, job.number, lengths, from), "PartMissing", () => Stream.fail(gone))
      )
  }
})

export type ExportedFile = Effect.Success<ReturnType<typeof openFile>>

/** The key in the link of an export. */
export const fileKeyOf = (link: string): string | undefined => {
  const [, rest] = (URL.parse(link)?.pathname ?? "").split(filesPath)
  return rest?.split("/")[0]
}
