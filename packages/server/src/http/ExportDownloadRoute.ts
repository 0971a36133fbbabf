/** Downloads the file of an export, whole or from an offset. The key in its link replaces an API key. */
import { refusalTexts, versionSegment } from "@roster/api"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { AuditRefusals } from "../credentials/AuditRefusals.ts"
import { type AuditEvent, bestEffort } from "../credentials/AuditTrail.ts"
import { type ExportedFile, isFirstDownload, openFile } from "../jobs/exports/ExportRequests.ts"
import { clientAddress, TrustedProxies } from "./ClientAddress.ts"
import { type Route, errorResponse } from "./Routes.ts"
import { InProcess, orStoreFailure } from "../store/StoreFailure.ts"

const percentEncoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** The Content-Disposition header of a file: its name in ASCII and in UTF-8. */
const disposition = (name: string): string =>
  `attachment; filename="${name.replaceAll(/[^\x20-\x7e]|["\\]/g, "_")}"; filename*=UTF-8''${percentEncoded(name)}`

/**
 * The first byte to send. Resuming a download needs no other kind of range; others get the whole file, and so does one
 * that is asked for on the condition that the file is another one, or by a date or a weak tag, which prove nothing.
 */
const startOf = ({ headers }: HttpServerRequest.HttpServerRequest, etag: string): number =>
  (headers["if-range"] ?? etag) === etag ? Number(/^bytes=(\d{1,15})-$/.exec(headers["range"] ?? "")?.[1] ?? "0") : 0

const send = (file: ExportedFile, request: HttpServerRequest.HttpServerRequest) => {
  const etag = `"${file.id}"`
  const expected = request.headers["if-match"]
  if (expected !== undefined && expected !== "*" && expected !== etag)
    return errorResponse(412, "The file has changed since. Download it from the beginning.")
  const from = startOf(request, etag)
  const common = {
    "accept-ranges": "bytes",
    "content-disposition": disposition(file.name),
    etag
  }
  if (from > 0 && from >= file.size) {
    return HttpServerResponse.setHeader(
      errorResponse(416, "The range begins after the end of the file."),
      "content-range",
      `bytes */${file.size}`
    )
  }
  return HttpServerResponse.stream(file.read(from), {
    status: from > 0 ? 206 : 200,
    contentType: file.contentType,
    contentLength: file.size - from,
    headers: from > 0 ? { ...common, "content-range": `bytes ${from}-${file.size - 1}/${file.size}` } : common
  })
}

export const exportRoute = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const trail = yield* AuditRefusals
  /** Records the first download of a file, whose link names nobody. */
  const recordFirst = Effect.fnUntraced(function* ({ account, id }: ExportedFile, peer: string) {
    if (!(yield* isFirstDownload(id))) return
    const event: AuditEvent = { actor: { _tag: "Unknown" }, account, peer, operation: "download", subject: id }
    yield* trail.record(event, "Downloaded")
  }, bestEffort("a download could not be recorded"))
  const open = Effect.fnUntraced(function* (part: string, request: HttpServerRequest.HttpServerRequest) {
    const peer = (yield* InProcess) ? undefined : clientAddress(request, yield* TrustedProxies)
    const file = yield* openFile(part, peer)
    if (peer !== undefined) yield* recordFirst(file, peer)
    return file
  })
  const route: Route = {
    method: "GET",
    path: `/${versionSegment}/exports/:key/:name`,
    respond: ({ params, request }) =>
      open(params["key"] ?? "", request).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        orStoreFailure("download"),
        Effect.map((file) => send(file, request)),
        Effect.catchTags({
          ExportNotFound: (error) => Effect.succeed(errorResponse(404, refusalTexts.ExportNotFound.print(error))),
          ExportExpired: (error) => Effect.succeed(errorResponse(410, refusalTexts.ExportExpired.print(error))),
          ServiceError: (error) => Effect.succeed(errorResponse(503, error.message))
        })
      )
  }
  return route
})
