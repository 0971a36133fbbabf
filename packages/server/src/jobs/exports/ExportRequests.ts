/**
 * Creates exports, tells their status and opens their files. The secret in a link is the permission to read its file, as
 * long as the API key that asked for it may export. (docs/decisions/access.md)
 */
import {
  CompressionFormat,
  ExportExpired,
  ExportFileFormat,
  ExportId,
  ExportNotFound,
  type ExportRequest,
  type ExportStatus
} from "@roster/domain"
import { checkFilter, invalidInput, redactStreamSpans, ruleSource } from "@roster/domain/internal"
import { Effect, Option, Schema, Stream } from "effect"
import { WebCrypto } from "effect/crypto/WebCrypto"
import { SqlClient, type Statement } from "effect/sql"
import { Caller, type CallerIdentity } from "../../credentials/Caller.ts"
import { checkEmail } from "../../contacts/ContactValidation.ts"
import { contentType, exportFileName } from "./ExportFormat.ts"
import { exportJob, ExportJobRequest } from "./ExportJob.ts"
import { createJob, type JobRow } from "../queue/JobQueue.ts"
import { partLengths, readFrom } from "../queue/JobBlobs.ts"
import { checkQuota } from "../queue/JobQuotas.ts"
import { digestOf, randomSecretBytes } from "../../credentials/Secret.ts"
import { asCaller, mayKey } from "../../credentials/CallerCheck.ts"
import { encoded } from "../../store/AnswerEncoding.ts"
import { storeClock } from "../../store/StoreClock.ts"
import { readRule } from "../../contacts/ContactSelection.ts"

const asId = Schema.decodeOption(ExportId)
const encodeRequest = Schema.encodeEffect(ExportJobRequest)
const decodeRequest = Schema.decodeEffect(ExportJobRequest)

/** The parameters of a request that only the contract restricts. */
const checkFormat = Schema.decodeUnknownEffect(
  Schema.Struct({
    fileFormat: Schema.optional(ExportFileFormat),
    compressionFormat: Schema.optional(CompressionFormat),
    // Nothing else can stand in an address.
    lists: Schema.optional(Schema.Boolean),
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

const linkTo = (base: string, part: string, download: string): string =>
  `${base}${filesPath}${part}/${encodeURIComponent(download)}`

/** The link to an export for its owner in this process. It holds the id, which is no permission for anybody else. */
const embeddedLink = (id: string, download: string): string => linkTo(embeddedUrl, id, download)

/** Makes a link with a secret, of which the store has only the digest. */
const makeLink = Effect.fnUntraced(function* ({ serviceUrl }: CallerIdentity, id: ExportId, download: string) {
  if (serviceUrl === undefined) return { link: { id, link: embeddedLink(id, download) }, digest: null }
  const secret = (yield* randomSecretBytes).toString("base64url")
  return { link: { id, link: linkTo(serviceUrl(), secret, download) }, digest: digestOf(secret) }
})

/** Creates the job of an export and gives its link. */
export const createExport = Effect.fnUntraced(function* (request: ExportRequest) {
  const caller = yield* Caller
  const { filter } = request
  const format = yield* Effect.mapError(checkFormat(request), (error) => invalidInput(error))
  const { compressionFormat = "None", fileFormat = "Csv", fileName, lists = false } = format
  if (filter !== undefined) yield* checkFilter(filter)
  if (filter?._tag === "ByRule") yield* readRule(filter.rule)
  if (filter?._tag === "ByEmails") {
    yield* Effect.forEach(filter.emails, (email, index) => checkEmail(`emails[${index}]`, email), { discard: true })
  }
  const asked = exportFileName(fileName, fileFormat)
  const isArchive = compressionFormat === "Zip" && /\.zip$/i.test(asked)
  const name = isArchive ? exportFileName(asked.slice(0, -4), fileFormat) : asked
  const download = compressionFormat === "None" ? name : isArchive ? asked : `${asked}.zip`
  const id = ExportId.make((yield* WebCrypto).randomUUID())
  const { digest, link } = yield* makeLink(caller, id, download)
  const sql = yield* SqlClient.SqlClient
  const job = createJob({
    id,
    account: caller.account,
    kind: exportJob.kind,
    state: "Loading",
    link_digest: digest,
    creator: caller.key?.id ?? null,
    request: yield* encodeRequest({
      format: fileFormat,
      compression: compressionFormat,
      name,
      download,
      ...(lists ? { lists } : {}),
      ...(filter?._tag === "ByRule" ? { rule: ruleSource(filter.rule) } : {}),
      ...(filter?._tag === "ByEmails" ? { emails: filter.emails } : {})
    }).pipe(Effect.orDie)
  })
  const created = Effect.andThen(
    checkQuota("contactsExportPost", caller.account, exportJob),
    Effect.andThen(job, encoded(link))
  )
  return yield* asCaller(sql, "contactsExportPost", created)
})

/** A job, and the time at which it was read. */
interface DatedJob extends JobRow {
  readonly now: number
}

/** Reads the export that a condition selects. */
const findExport = Effect.fnUntraced(function* (condition: Statement.Fragment) {
  const sql = yield* SqlClient.SqlClient
  const [job] = yield* sql<DatedJob>`
    SELECT *, ${yield* storeClock(sql).inSql} AS now FROM jobs WHERE kind = 'Export' AND ${condition}`
  return job
})

/** Reads an export of the caller's account. */
const ownExport = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const { account } = yield* Caller
  return yield* findExport(sql`id = ${id.toLowerCase()} AND account = ${account}`)
})

/** Makes a new link to an export, which ends the one before; `undefined` if there is no such export. */
export const renewLink = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const caller = yield* Caller
  const job = yield* ownExport(id)
  if (job === undefined) return undefined
  const { download } = yield* Effect.orDie(decodeRequest(job.request))
  const { digest, link } = yield* makeLink(caller, ExportId.make(job.id), download)
  yield* sql`UPDATE jobs SET link_digest = ${digest}, creator = ${caller.key?.id ?? null} WHERE number = ${job.number}`
  return link
})

export const exportStatus = Effect.fnUntraced(function* (id: string) {
  yield* ExportId.fromText(id)
  const job = yield* ownExport(id)
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

/** Opens a file by the secret of its link, for a peer of the network or a caller in this process, or for its owner by its id. */
export const openFile = Effect.fnUntraced(function* (part: string, peer?: string) {
  const sql = yield* SqlClient.SqlClient
  const isId = peer === undefined && Option.isSome(asId(part))
  const job = yield* isId ? ownExport(part) : findExport(sql`link_digest = ${digestOf(part)}`)
  if (job === undefined || job.state !== "Ready") return yield* new ExportNotFound({ id: job?.id ?? "of this link" })
  if (peer !== undefined && job.creator !== null && !(yield* mayKey(sql, job.creator, "Export", peer))) {
    return yield* new ExportNotFound({ id: job.id })
  }
  const gone = new ExportExpired({ id: job.id })
  if (job.expires <= job.now) return yield* gone
  const request = yield* Effect.orDie(decodeRequest(job.request))
  const lengths = yield* Effect.catchTag(partLengths(job.number), "PartMissing", () => gone)
  // The file of every export has a header or a bracket.
  if (lengths.length === 0) return yield* gone
  return {
    id: job.id,
    account: job.account,
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

/** Whether a file is downloaded for the first time, which this notes. */
export const isFirstDownload = Effect.fnUntraced(function* (id: string) {
  const sql = yield* SqlClient.SqlClient
  const first =
    yield* sql`UPDATE jobs SET downloaded = ${yield* storeClock(sql).inSql} WHERE id = ${id} AND downloaded IS NULL RETURNING id`
  return first.length > 0
})

/** The secret in the link of an export, or its id. */
export const linkedPart = (link: string): string | undefined => {
  const [, rest] = (URL.parse(link)?.pathname ?? "").split(filesPath)
  return rest?.split("/")[0]
}
