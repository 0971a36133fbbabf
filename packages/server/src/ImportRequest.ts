/**
 * What an import request carries. The options stand in the query or in the form, in one of two spellings; the query wins.
 * There is a file, or an address in its place.
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

const hasForm = (request: HttpServerRequest.HttpServerRequest): boolean =>
  /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "") && request.headers["content-length"] !== "0"

const nothing: ImportForm = { fields: new Map() }

/**
 * @internal
 */
export const readImport = Effect.fnUntraced(function* (request: HttpServerRequest.HttpServerRequest, query: Query) {
  const fs = yield* FileSystem.FileSystem
  const { fields, file } = hasForm(request) ? yield* readImportForm(request) : nothing
  // A form that a person filled in has the fields that were left empty too.
  const field = (...names: ReadonlyArray<string>) => names.map((name) => fields.get(name)).find((value) => value)
  const url = query.fileUrl ?? field("fileUrl", "file_url")
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
    listName: query.listName ?? field("listName", "list_name"),
    encodingName: query.encodingName ?? field("encodingName", "encoding_name")
  }
  return { source, options }
})
