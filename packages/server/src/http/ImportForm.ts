/** Reads an import request: options from the query or else from the form, and a file in the form or a URL. */
import {
  type ImportOptions,
  ImportRefused,
  ImportSource,
  InvalidInput,
  ServiceError,
  StoreFailure
} from "@roster/domain"
import { Effect, FileSystem, Stream } from "effect"
import { type HttpServerRequest, MultipartParser } from "effect/http"
import { Caller } from "../credentials/Caller.ts"
import type { makeUploadLimits } from "../requests/ImportUploadLimits.ts"
import { lacksDescriptors, logLackOfDescriptors, withoutDescriptors } from "../store/StoreFailure.ts"
import { onTemporaryFile, openTemporaryFile, type TemporaryFileFailed } from "../store/TemporaryFiles.ts"
import { allowSlowBody, openRequest } from "../network/OpenRequests.ts"
import { nameKey, unknownName } from "./QueryNames.ts"

interface ImportForm {
  /** The options that are not empty, by their names in the contract. */
  readonly fields: ReadonlyMap<string, string>
  readonly file?: { readonly name: string; readonly path: string } | undefined
}

const optionNames = ["listName", "encodingName", "fileUrl"]
const options: ReadonlyMap<string, string> = new Map(optionNames.map((name) => [nameKey(name), name]))

const unknownField = (name: string) => unknownName(name, "form", [...optionNames, "file"])

const maximumBytes = 2 * 1024 * 1024 * 1024

const limits = { maxParts: 20, maxFieldSize: "64 KiB", maxPartSize: maximumBytes, maxTotalSize: maximumBytes } as const

const limitReached = "it has at most 20 parts, 64 KiB in a field and 2 GiB in all"

const brokenHeaders = "the headers of a part are broken, or longer than 16 KiB"

const problems: { readonly [Tag in MultipartParser.MultipartError["_tag"]]: string } = {
  InvalidBoundary: "its Content-Type names no boundary",
  BadHeaders: brokenHeaders,
  InvalidDisposition: brokenHeaders,
  EndNotReached: "it breaks off before its end",
  ReachedLimit: limitReached
}

type BeginUpload = Effect.Success<typeof makeUploadLimits>

/** Why a part is not what its bytes are; `undefined` for one that is. No form of today encodes its parts. (RFC 7578, 4.7) */
const encodingIssue = ({ headers }: MultipartParser.PartInfo): string | undefined => {
  const encoding = String(headers["content-transfer-encoding"] ?? "").trim()
  return /^(?:|7bit|8bit|binary)$/i.test(encoding)
    ? undefined
    : `a part has the Content-Transfer-Encoding ${encoding.slice(0, 40)}: send its bytes as they are`
}

/** Streams a form. Its part `file` is a file even without a file name, so that its bytes stay unchanged. */
const readForm = Effect.fnUntraced(
  function* (request: HttpServerRequest.HttpServerRequest, beginUpload: BeginUpload) {
    const unreadable = (reason: string) => new ImportRefused({ reason: `the form cannot be read: ${reason}` })
    const announced = Number(request.headers["content-length"] ?? 0)
    if (announced > maximumBytes) return yield* unreadable(limitReached)
    const count = yield* beginUpload((yield* Caller).account, announced, openRequest(request)?.carrier)
    allowSlowBody(request)
    const temporary = yield* openTemporaryFile
    const fields = new Map<string, string>()
    const pending: Array<Uint8Array> = []
    let file: ImportForm["file"]
    let problem: ImportRefused | InvalidInput | undefined
    const parser = MultipartParser.make({
      ...limits,
      headers: { ...request.headers },
      isFile: (info) => nameKey(info.name) === "file" || MultipartParser.defaultIsFile(info),
      onField: (info, value) => {
        const encoded = encodingIssue(info)
        if (encoded !== undefined) problem ??= unreadable(encoded)
        const text = MultipartParser.decodeField(info, value)
        // A form that a person filled in also sends the fields that were left empty.
        if (text === "") return
        const name = options.get(nameKey(info.name))
        if (name === undefined) problem ??= unknownField(info.name)
        else if (fields.has(name)) problem ??= new InvalidInput({ field: name, issue: "it is given more than once" })
        else fields.set(name, text)
      },
      onFile: (info) => {
        const encoded = encodingIssue(info)
        if (encoded !== undefined) problem ??= unreadable(encoded)
        if (nameKey(info.name) !== "file") {
          const option = options.get(nameKey(info.name))
          problem ??=
            option === undefined ? unknownField(info.name) : unreadable(`${info.name} is a text and came as a file`)
          return () => {}
        }
        if (file !== undefined) problem ??= unreadable("it holds more than one file")
        file = { name: info.filename ?? "file", path: temporary.path }
        return (chunk) => {
          if (chunk !== null) pending.push(chunk)
        }
      },
      onError: (error) => {
        problem ??= unreadable(problems[error._tag])
      },
      onDone: () => {}
    })
    const flush = Effect.suspend((): Effect.Effect<void, ImportRefused | InvalidInput | TemporaryFileFailed> =>
      problem === undefined
        ? Effect.forEach(pending.splice(0), (chunk) => onTemporaryFile(() => temporary.file.appendFile(chunk)), {
            discard: true
          })
        : Effect.fail(problem)
    )
    yield* request.stream.pipe(
      Stream.mapError(() => unreadable("its sender broke off")),
      Stream.runForEach((chunk) => {
        parser.write(chunk)
        return Effect.andThen(count(chunk.length), flush)
      })
    )
    parser.end()
    yield* flush
    const form: ImportForm = { fields, file }
    return form
  },
  Effect.catchTag("TemporaryFileFailed", () => temporaryFileFailed)
)

export const temporaryFileFailed = Effect.gen(function* () {
  const operation = "contactsImportPost"
  const isOut = lacksDescriptors()
  if (isOut) yield* logLackOfDescriptors(operation)
  const detail = isOut ? withoutDescriptors : "the file cannot be kept in the temporary folder"
  return yield* new ServiceError({ operation, reason: new StoreFailure({ detail }) })
})

export const hasForm = (request: HttpServerRequest.HttpServerRequest): boolean =>
  /^multipart\/form-data\b/i.test(request.headers["content-type"] ?? "") && request.headers["content-length"] !== "0"

const noForm: ImportForm = { fields: new Map() }

export const readImport = Effect.fnUntraced(function* (
  beginUpload: BeginUpload,
  request: HttpServerRequest.HttpServerRequest,
  query: ImportOptions & { readonly fileUrl?: string | undefined }
) {
  const fs = yield* FileSystem.FileSystem
  const { fields, file } = hasForm(request) ? yield* readForm(request, beginUpload) : noForm
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
