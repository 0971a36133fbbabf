/**
 * Reading answers: the bytes must be UTF-8, the text JSON, the JSON what the interface says.
 */
import { ErrorBody } from "@roster/api"
import { JsonParser, ServiceError, Unavailable, UnexpectedContentType } from "@roster/domain"
import { Clock, Duration, Effect, Option, Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { headerOf, WholeBodyResponse } from "../transport/BodyLimitResponse.ts"
import { type Failure, invalidResponse, transportFailure } from "./ErrorClassification.ts"
import { withoutSecrets } from "./Secrets.ts"

/** The whole body as text. A body that is cut off is a failure of the transport and may be asked for again. */
export const readText = (
  operation: string,
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<string, Failure<never>> => {
  const arrived = response instanceof WholeBodyResponse ? response.arrived : undefined
  if (arrived !== undefined) return textOf(operation, response, arrived)
  return Effect.matchEffect(readPieces(response), {
    onFailure: (error) => Effect.fail(transportFailure(operation, error)),
    onSuccess: (pieces) => textOf(operation, response, pieces)
  })
}

const textOf = (
  operation: string,
  response: HttpClientResponse.HttpClientResponse,
  pieces: ReadonlyArray<Uint8Array>
): Effect.Effect<string, Failure<never>> => {
  const bytes = together(pieces)
  try {
    return Effect.succeed(utf8.decode(bytes))
  } catch {
    if (mayBeCut(response) && endsInCharacter(bytes)) return Effect.fail(cut(operation, response))
    return Effect.fail(invalidResponse(operation, response.status, "it is not UTF-8"))
  }
}

/** Whether a body could end early without the transport noticing: nothing tells how long it is once it is decoded. */
const mayBeCut = (response: HttpClientResponse.HttpClientResponse): boolean =>
  response.status !== 204 &&
  (headerOf(response, "content-length") === undefined || headerOf(response, "content-encoding") !== undefined)

/** Whether all is UTF-8 but for a character at the end that is not whole. */
const endsInCharacter = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** Whether a text of JSON ends before it is whole: before its first sign, inside a string, a list or an object. */
const endsEarly = (text: string): boolean => {
  let depth = 0
  let isString = false
  for (let index = 0; index < text.length; index++) {
    const sign = text[index]
    if (isString) {
      if (sign === "\\") index++
      else if (sign === '"') isString = false
    } else if (sign === '"') isString = true
    else if (sign === "{" || sign === "[") depth++
    else if (sign === "}" || sign === "]") depth--
  }
  return isString || depth > 0 || text.trim() === ""
}

/** A success whose body ends early, as where something between here and the service broke off. */
const cut = (operation: string, { status }: HttpClientResponse.HttpClientResponse): Failure<never> => ({
  evidence: "Ambiguous",
  error: new ServiceError({ operation, reason: new Unavailable({ status, detail: "its answer broke off" }) })
})

/** Room for an answer of ordinary size, a page of contacts too, in bytes. */
const usualRoom = 1024 * 1024

let room = new Uint8Array(0)

/**
 * Pieces as one, until the next are put together: in the same memory again and again, since what answers leave behind is
 * collected late.
 */
const together = (pieces: ReadonlyArray<Uint8Array>): Uint8Array => {
  if (pieces.length < 2) return pieces[0] ?? new Uint8Array(0)
  let size = 0
  for (const piece of pieces) size += piece.length
  if (size <= usualRoom && room.length === 0) room = new Uint8Array(usualRoom)
  const bytes = size <= usualRoom ? room : new Uint8Array(size)
  let at = 0
  for (const piece of pieces) {
    bytes.set(piece, at)
    at += piece.length
  }
  return bytes.subarray(0, size)
}

const utf8 = new TextDecoder("utf-8", { fatal: true })

/** The body as it lies in memory, where the response is one of ours: nobody here writes to it. */
const readBytes = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<ArrayBuffer | Uint8Array, HttpClientError.HttpClientError> =>
  response instanceof WholeBodyResponse ? response.bytes : response.arrayBuffer

const longestSnippet = 2048

/** The beginning of a text, on one line, without tags and without what a terminal would obey. */
const snippetOf = (text: string): string =>
  text
    .slice(0, 4 * longestSnippet)
    .replaceAll(/<(script|style)\b.*?(<\/\1\s*>|$)/gis, " ")
    .replaceAll(/<[^>]*>?/g, " ")
    .replaceAll(/[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]+/gu, " ")
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 200)

const isJson = (contentType: string): boolean =>
  contentType === "application/json" ||
  contentType === "" ||
  (/^[^;]*[/+]json\s*(?:;|$)/i.test(contentType) && !/;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i.test(contentType))

const contentTypeOf = (response: HttpClientResponse.HttpClientResponse): string =>
  headerOf(response, "content-type") ?? ""

/** Whether an answer is a page for browsers, as a proxy or a login sends it. */
export const isPage = (response: HttpClientResponse.HttpClientResponse): boolean =>
  /^\s*(?:text\/html|application\/xhtml)/i.test(contentTypeOf(response))

export const unexpectedContent = Effect.fnUntraced(function* (
  operation: string,
  response: HttpClientResponse.HttpClientResponse,
  text: string
) {
  const said = contentTypeOf(response)
  const contentType = said === "" ? "of no stated type" : yield* withoutSecrets(said.slice(0, 100))
  const snippet = yield* withoutSecrets(snippetOf(text))
  const reason = new UnexpectedContentType({ status: response.status, contentType, snippet })
  const failure: Failure<never> = { evidence: "Permanent", error: new ServiceError({ operation, reason }) }
  return failure
})

/** A body that is a record or a list of them. */
export const readJson = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (
    operation: string,
    response: HttpClientResponse.HttpClientResponse
  ): Effect.Effect<S["Type"], Failure<never>> =>
    Effect.flatMapEager(readText(operation, response), (text) => {
      const { status } = response
      const contentType = contentTypeOf(response)
      if (!isJson(contentType) || (contentType === "" && /^\s*</.test(text))) {
        return Effect.flatMap(unexpectedContent(operation, response, text), Effect.fail)
      }
      let json: unknown
      try {
        json = JsonParser.parse(text)
      } catch {
        if (mayBeCut(response) && endsEarly(text)) return Effect.fail(cut(operation, response))
        const detail = text === "" ? "it is empty" : "it is not JSON"
        return Effect.fail(invalidResponse(operation, status, detail))
      }
      return Effect.mapErrorEager(decode(json), (error) =>
        invalidResponse(operation, status, error.message.replaceAll(/\s*\n\s*/g, " "))
      )
    })
}

/** The body in pieces, where the response is one of ours: it is not put together for a look at its ends. */
const readPieces = (
  response: HttpClientResponse.HttpClientResponse
): Effect.Effect<ReadonlyArray<Uint8Array>, HttpClientError.HttpClientError> =>
  response instanceof WholeBodyResponse
    ? response.pieces
    : Effect.map(response.arrayBuffer, (buffer) => [new Uint8Array(buffer)])

const byteOrderMark: ReadonlyArray<number> = [0xef, 0xbb, 0xbf]

/** Neither white space nor a part of a byte order mark, with which no other text of JSON begins. */
const isNonWhitespace = (byte: number): boolean => byte > 0x20 && !byteOrderMark.includes(byte)
const hasInk = (bytes: Uint8Array): boolean => bytes.some(isNonWhitespace)
const signOf = (byte: number | undefined): string => (byte === undefined ? "" : String.fromCharCode(byte))

const readAnyList = readJson(Schema.Array(Schema.Unknown))

/**
 * A list of records that nobody wants: that it came whole, and is a list, is enough. Where something says how long the body is,
 * and so that it came whole, a look at its ends tells.
 */
export const readList = Effect.fnUntraced(function* (
  operation: string,
  response: HttpClientResponse.HttpClientResponse
) {
  if (mayBeCut(response)) return yield* Effect.asVoid(readAnyList(operation, response))
  const { status } = response
  const pieces = yield* Effect.mapError(readPieces(response), (error) => transportFailure(operation, error))
  const contentType = contentTypeOf(response)
  const first = signOf(pieces.find(hasInk)?.find(isNonWhitespace))
  if (!isJson(contentType) || (contentType === "" && first === "<")) {
    const decoder = new TextDecoder()
    const text = pieces.map((piece) => decoder.decode(piece, { stream: true })).join("")
    return yield* Effect.fail(yield* unexpectedContent(operation, response, text))
  }
  if (first === "[" && signOf(pieces.findLast(hasInk)?.findLast(isNonWhitespace)) === "]") return
  const detail = first === "" ? "it is empty" : "it is no list"
  return yield* Effect.fail(invalidResponse(operation, status, detail))
})

/**
 * An answer without content. What a service sends all the same does not matter, but for a page, which no service sends.
 */
export const readNothing = Effect.fnUntraced(function* (
  operation: string,
  response: HttpClientResponse.HttpClientResponse
) {
  const bytes = yield* response.arrayBuffer.pipe(Effect.mapError((error) => transportFailure(operation, error)))
  if (isPage(response) && bytes.byteLength > 0) {
    return yield* Effect.fail(yield* unexpectedContent(operation, response, new TextDecoder().decode(bytes)))
  }
})

const decodeError = Schema.decodeUnknownOption(Schema.fromJsonString(ErrorBody))

/**
 * The words of a refusal: the field Error where there is one, and otherwise what kind of thing came and how it begins. The
 * status counts whatever becomes of them: a letter that is not UTF-8 is replaced, and a body that breaks off says nothing.
 * `isOwn` is whether the service itself may have answered, and not a proxy with a page of its own.
 */
export const readRefusalBody = Effect.fnUntraced(function* (response: HttpClientResponse.HttpClientResponse) {
  const bytes = yield* Effect.orElseSucceed(readBytes(response), () => new Uint8Array(0))
  const body = new TextDecoder().decode(bytes)
  const error = decodeError(body)
  const words = Option.match(error, {
    onSome: ({ Error }) => Error.replaceAll(/[\p{Cc}\p{Cs}]+/gu, " ").slice(0, longestSnippet),
    onNone: () => {
      const snippet = snippetOf(body)
      return snippet === "" ? "" : `${contentTypeOf(response).split(";")[0] || "text"}: ${snippet}`
    }
  })
  return { text: yield* withoutSecrets(words), isOwn: Option.isSome(error) || body === "" }
})

const httpDate = /^[a-z]+,? .*\d{2}:\d{2}:\d{2}/i

/**
 * How long the service asks to wait: whole seconds, however many, or a date, which is read against the date of the same
 * answer, and against our own clock where that has none.
 */
export const retryAfter = (response: HttpClientResponse.HttpClientResponse) =>
  Effect.map(Clock.currentTimeMillis, (now): Duration.Duration | undefined => {
    const value = headerOf(response, "retry-after")?.trim() ?? ""
    // Beyond what a number can tell apart the exact one matters to nobody.
    if (/^\d+$/.test(value)) return positive(Math.min(Number(value), Number.MAX_SAFE_INTEGER) * 1000)
    if (!httpDate.test(value)) return undefined
    const date = Date.parse(headerOf(response, "date") ?? "")
    return positive(Date.parse(value) - (Number.isNaN(date) ? now : date))
  })

const positive = (milliseconds: number): Duration.Duration | undefined =>
  milliseconds > 0 ? Duration.millis(milliseconds) : undefined
