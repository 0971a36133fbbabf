/** Reads answers: the bytes must be UTF-8, the text JSON, and the JSON must match the interface. */
import { ErrorBody } from "@roster/api"
import { Unavailable, UnexpectedContentType } from "@roster/domain"
import { Characters, joinBytes, JsonParser } from "@roster/domain/internal"
import { Clock, Duration, Effect, Option, Redacted, Schema } from "effect"
import type { HttpClientError, HttpClientResponse } from "effect/http"
import { BufferedResponse, utf8 } from "../transport/BufferedResponse.ts"
import { type Failure, failureOf, invalidResponse, transportFailure } from "./ErrorClassification.ts"

type Response = HttpClientResponse.HttpClientResponse

/** The body, without a copy if it is in memory. */
const bytesOf = (response: Response): Effect.Effect<Uint8Array, HttpClientError.HttpClientError> =>
  response instanceof BufferedResponse
    ? response.bytes
    : Effect.map(response.arrayBuffer, (buffer) => new Uint8Array(buffer))

/** Gives the chunks of a body to a function one by one, so that the body is never whole in memory. */
const eachChunk = (response: Response, use: (chunk: Uint8Array) => void) =>
  response instanceof BufferedResponse ? response.each(use) : Effect.map(bytesOf(response), use)

/** Reads a body. One that breaks off is a failure of the transport. */
const received = <A>(operation: string, body: Effect.Effect<A, HttpClientError.HttpClientError>) =>
  Effect.mapError(body, (error): Failure<never> => transportFailure(operation, error))

/** The whole body as text. One that is cut off is a failure of the transport, which may be retried. */
export const readText = (operation: string, response: Response): Effect.Effect<string, Failure<never>> =>
  Effect.flatMapEager(received(operation, bytesOf(response)), (bytes) => {
    try {
      return Effect.succeed(utf8.decode(bytes))
    } catch {
      return Effect.fail(
        mayBeCut(response) && endsInCharacter(bytes)
          ? cutOff(operation, response)
          : invalidResponse(operation, response.status, "it is not UTF-8")
      )
    }
  })

/** Whether the transport would not notice that a body was cut, as its decoded length is unknown. */
const mayBeCut = (response: Response): boolean =>
  response.status !== 204 &&
  (response.headers["content-length"] === undefined || response.headers["content-encoding"] !== undefined)

/** Whether bytes are UTF-8 but for an incomplete character at the end. */
const endsInCharacter = (bytes: Uint8Array): boolean => {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true })
    return true
  } catch {
    return false
  }
}

/** Whether a JSON text is cut off: empty, or inside a string, an array or an object. */
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

/** The failure of a successful answer whose body was cut off. */
const cutOff = (operation: string, { status }: Response): Failure<never> =>
  failureOf(operation, "Ambiguous", new Unavailable({ status, detail: "its answer broke off" }))

/** The secrets of a client, which an answer may quote. */
export type Secrets = ReadonlyArray<Redacted.Redacted<string>>

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&")

/** Redacts secrets in a received text, in any case. */
export const redactSecrets = (secrets: Secrets, text: string): string =>
  secrets.reduce(
    (clean, secret) => clean.replaceAll(new RegExp(escaped(Redacted.value(secret)), "gi"), "<redacted>"),
    text
  )

/** A text without control characters and unpaired surrogates. */
export const onOneLine = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cs}]+/gu, " ")

const longestSnippet = 2048

/** The beginning of a text on one line, without tags and control characters. */
const snippetOf = (text: string): string =>
  Characters.replaceUnprintable(
    text
      .slice(0, 4 * longestSnippet)
      .replaceAll(/<(script|style)\b.*?(<\/\1\s*>|$)/gis, " ")
      .replaceAll(/<[^>]*>?/g, " "),
    () => " "
  )
    .replaceAll(/\s+/g, " ")
    .trim()
    .slice(0, 200)

const contentTypeOf = (response: Response): string => response.headers["content-type"] ?? ""

/** Whether a body is JSON in UTF-8, by its type or else by its first character. */
const isJson = (response: Response, first: string): boolean => {
  const contentType = contentTypeOf(response)
  if (contentType === "") return first !== "<"
  return (
    /^[^;]*[/+]json\s*(?:;|$)/i.test(contentType) && !/;\s*charset\s*=\s*(?!"?utf-?8"?\s*(?:;|$))/i.test(contentType)
  )
}

/** Whether an answer is a page for browsers, as a proxy or a login sends it. */
export const isPage = (response: Response): boolean =>
  /^\s*(?:text\/html|application\/xhtml)/i.test(contentTypeOf(response))

/** The type and the beginning of a body that should be something else. */
const unexpected = (response: Response, secrets: Secrets, text: string): UnexpectedContentType => {
  const said = contentTypeOf(response)
  const stated = said === "" ? "of no stated type" : redactSecrets(secrets, said.slice(0, 100))
  const snippet = redactSecrets(secrets, snippetOf(text))
  return new UnexpectedContentType({ status: response.status, contentType: text === "" ? "empty" : stated, snippet })
}

/** Fails with the type and the beginning of a body that should be something else. */
export const unexpectedContent = (
  operation: string,
  response: Response,
  secrets: Secrets,
  text: string
): Effect.Effect<never, Failure<never>> =>
  Effect.fail(failureOf(operation, "Permanent", unexpected(response, secrets, text)))

/** Makes the reader of a JSON body. */
export const readJson = <S extends Schema.Top & { readonly DecodingServices: never }>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(schema)
  return (operation: string, response: Response, secrets: Secrets): Effect.Effect<S["Type"], Failure<never>> =>
    Effect.flatMapEager(readText(operation, response), (text) => {
      const { status } = response
      if (!isJson(response, text.trimStart().slice(0, 1))) return unexpectedContent(operation, response, secrets, text)
      let json: unknown
      try {
        json = JsonParser.parse(text)
      } catch {
        if (mayBeCut(response) && endsEarly(text)) return Effect.fail(cutOff(operation, response))
        const detail = text === "" ? "it is empty" : "it is not JSON"
        return Effect.fail(invalidResponse(operation, status, detail))
      }
      return Effect.mapErrorEager(decode(json), (error) =>
        invalidResponse(operation, status, error.message.replaceAll(/(?<!\s)\s*\n\s*/g, " "))
      )
    })
}

/** Neither white space nor a byte order mark. */
const isNonWhitespace = (byte: number): boolean => byte > 0x20 && byte !== 0xef && byte !== 0xbb && byte !== 0xbf
const characterOf = (byte: number | undefined): string => (byte === undefined ? "" : String.fromCharCode(byte))

/** In bytes. More than an error quotes, so that a secret at the end of the quotation is whole and redacted. */
const longestBeginning = 8 * longestSnippet

const readAnyList = readJson(Schema.Array(Schema.Unknown))

/** Checks that an answer is a whole list, without holding it if its first and last characters suffice. */
export const readList = Effect.fnUntraced(function* (operation: string, response: Response, secrets: Secrets) {
  if (mayBeCut(response)) return yield* Effect.asVoid(readAnyList(operation, response, secrets))
  let beginning: Uint8Array = new Uint8Array(0)
  let first: number | undefined
  let last: number | undefined
  const look = (chunk: Uint8Array) => {
    const missing = longestBeginning - beginning.length
    if (missing > 0) beginning = joinBytes([beginning, chunk.subarray(0, missing)])
    first ??= chunk.find(isNonWhitespace)
    last = chunk.findLast(isNonWhitespace) ?? last
  }
  yield* received(operation, eachChunk(response, look))
  if (!isJson(response, characterOf(first))) {
    return yield* unexpectedContent(operation, response, secrets, new TextDecoder().decode(beginning))
  }
  if (characterOf(first) === "[" && characterOf(last) === "]") return
  const detail = first === undefined ? "it is empty" : "it is not a list"
  return yield* Effect.fail(invalidResponse(operation, response.status, detail))
})

/** Reads an answer without content. A service may send some anyway, but never a page for browsers. */
export const readNothing = Effect.fnUntraced(function* (operation: string, response: Response, secrets: Secrets) {
  const bytes = yield* received(operation, bytesOf(response))
  if (isPage(response) && bytes.length > 0) {
    return yield* unexpectedContent(operation, response, secrets, new TextDecoder().decode(bytes))
  }
})

/** The same, as a value, for a call to which nothing has another meaning. */
export const readDone = (...answer: Parameters<typeof readNothing>) =>
  Effect.as(readNothing(...answer), "Done" as const)

const decodeError = Schema.decodeUnknownOption(Schema.fromJsonString(ErrorBody))

/**
 * The text of a refusal: its field `Error`, or else its content type and beginning. An unreadable body never fails,
 * since the status counts. The service itself refuses with `{"Error": "text"}`; an empty body may be anybody's, and any
 * other is `foreign`.
 */
export const readRefusalBody = Effect.fnUntraced(function* (response: Response, secrets: Secrets) {
  const bytes = yield* Effect.orElseSucceed(bytesOf(response), () => new Uint8Array(0))
  const body = new TextDecoder().decode(bytes).trim()
  const error = decodeError(body)
  const words = Option.match(error, {
    onSome: ({ Error }) => onOneLine(Error).slice(0, longestSnippet),
    onNone: () => {
      const snippet = snippetOf(body)
      return snippet === "" ? "" : `${contentTypeOf(response).split(";")[0] || "text"}: ${snippet}`
    }
  })
  return {
    text: redactSecrets(secrets, words),
    isEmpty: body === "",
    foreign: Option.isSome(error) ? undefined : unexpected(response, secrets, body)
  }
})

const httpDate = /^[a-z]+,? .*\d{2}:\d{2}:\d{2}/i

/** The wait that the service asks for: seconds, or a date relative to that of the answer, or to our own clock. */
export const retryAfter = (response: Response) =>
  Effect.map(Clock.currentTimeMillis, (now): Duration.Duration | undefined => {
    const value = response.headers["retry-after"]?.trim() ?? ""
    // The exact value of a larger number does not matter.
    if (/^\d+$/.test(value)) return positive(Math.min(Number(value), Number.MAX_SAFE_INTEGER) * 1000)
    if (!httpDate.test(value)) return undefined
    const date = Date.parse(response.headers["date"] ?? "")
    return positive(Date.parse(value) - (Number.isNaN(date) ? now : date))
  })

const positive = (milliseconds: number): Duration.Duration | undefined =>
  milliseconds > 0 ? Duration.millis(milliseconds) : undefined
