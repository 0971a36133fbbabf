/**
 * What an import request carries. The options stand in the query or in the form; the query wins. There is a file, or an
 * address in its place.
 */
import { type ImportOptions, ImportSource, InvalidInput } from "@roster/domain"
import { Effect, FileSystem } from "effect"
import type { HttpServerRequest } from "effect/http"
import { type ImportForm, readImportForm } from "./ImportForm.ts"

interface Query {
  readonly listName?: string | undefined
  readonly encodingName?: string | undefined
  readonly fileUrl?: string | undefined
}

/** Whether a request carries a form. */
export const hasForm = (request: HttpServerRequest.HttpServerRequest): boolean =>
  /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "") && request.headers["content-length"] !== "0"

const nothing: ImportForm = { fields: new Map() }

export const readImport = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, query: Query) {
  const fs = yield* FileSystem.FileSystem
  const { fields, file } = hasForm(request) ? yield* readImportForm(request) : nothing
  const url = query.fileUrl ?? fields.get("fileUrl")
  if (file !== undefined && url !== undefined) {
    return yield* new InvalidInput({ field: "fileUrl", issue: "a file was sent as well; give one or the other" })
  }
  if (file === undefined && url === undefined) {
    return yield* new InvalidInput({ field: "file", issue: "the request carries neither a file nor a fileUrl" })
  }
  const source =
    file === undefined
      ? ImportSource.Address({ url: url ?? "" })
      : ImportSource.File({ name: file.name, content: fs.stream(file.path), replayable: true })
  const options: ImportOptions = {
    listName: query.listName ?? fields.get("listName"),
    encodingName: query.encodingName ?? fields.get("encodingName")
  }
  return { source, options }
})
