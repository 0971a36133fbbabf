/**
 * The files of exports, by the key in their link, whole or from some byte on. No API key is asked for: whoever has the link
 * was given it.
 */
import { refusalTexts, versionSegment } from "@roster/api"
import { Effect } from "effect"
import { type HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { type ExportedFile, openFile } from "../jobs/exports/ExportRequests.ts"
import type { Route } from "./Routes.ts"
import { errorResponse } from "./ErrorResponse.ts"
import { orStoreFailure } from "../store/StoreFailure.ts"

const percentEncoded = (name: string): string =>
  encodeURIComponent(name).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)

/** A name for the header of a download, in ASCII and in full. */
const disposition = (name: string): string =>
  `attachment; filename="${name.replaceAll(/[^\x20-\x7e]|["\\]/g, "_")}"; filename*=UTF-8''${percentEncoded(name)}`

/** From which byte on: the one kind of range that going on with a download needs. Others are answered with the whole. */
const startOf = (range: string | undefined): number => Number(/^bytes=(\d{1,15})-$/.exec(range ?? "")?.[1] ?? "0")

const send = (file: ExportedFile, request: HttpServerRequest.HttpServerRequest) => {
  const etag = `"${file.id}"`
  const expected = request.headers["if-match"]
  if (expected !== undefined && expected !== "*" && expected !== etag)
    return errorResponse(412, "The file is another one now.")
  const from = startOf(request.headers["range"])
  const common = {
    "accept-ranges": "bytes",
    "cache-control": "private, no-store",
    "content-disposition": disposition(file.name),
    etag,
    "x-content-type-options": "nosniff"
  }
  if (from > 0 && from >= file.size) {
    return HttpServerResponse.setHeader(
      errorResponse(416, "The file is shorter than that."),
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

export const exportRoute = Effect.map(SqlClient.SqlClient, (sql): Route => ({
  method: "GET",
  path: `/${versionSegment}/exports/:key/:name`,
  respond: ({ params, request }) =>
    openFile(params["key"] ?? "").pipe(
      Effect.provideService(SqlClient.SqlClient, sql),
      orStoreFailure("download"),
      Effect.map((file) => send(file, request)),
      Effect.catchTags({
        ExportNotFound: (error) => Effect.succeed(errorResponse(404, refusalTexts.ExportNotFound.print(error))),
        ExportExpired: (error) => Effect.succeed(errorResponse(410, refusalTexts.ExportExpired.print(error))),
        ServiceError: (error) => Effect.succeed(errorResponse(503, error.message))
      })
    )
}))
