/** A response whose body is read into memory, up to a limit, or as a stream. Text and JSON must be UTF-8. */
import { ResponseTooLarge } from "@roster/domain"
import { joinBytes, JsonParser } from "@roster/domain/internal"
import { Effect, Inspectable, Option, Pipeable, type Schema, Stream } from "effect"
import {
  Cookies,
  type Headers,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse,
  HttpIncomingMessage,
  UrlParams
} from "effect/http"

/** The default limit of a body that is read into memory: 32 MiB. */
export const defaultMaximumBytes = 32 * 1024 * 1024

/** The head of a response. */
export interface ResponseHead {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly url: string
  readonly status: number
  readonly headers: Headers.Headers
  readonly cookies?: Cookies.Cookies
}

/** The body of a transport. The response turns the causes of failures into errors. */
export interface ResponseBody {
  /** The whole body. It can be read again, unless `each` has read it. */
  readonly bytes: Effect.Effect<Uint8Array, unknown>
  /** Gives the chunks to a function as they come, and keeps none. */
  readonly each: (use: (chunk: Uint8Array) => void) => Effect.Effect<void, unknown>
  readonly stream: Stream.Stream<Uint8Array, unknown>
  /** Whether a compressed body that ends early is an error, which it is not for `fetch`. */
  readonly detectsTruncation: boolean
}

/** The encoding of a body; empty if it is sent as it is. */
export const encodingOf = (headers: Headers.Headers): string => {
  const encoding = headers["content-encoding"]?.trim().toLowerCase() ?? ""
  return encoding === "identity" ? "" : encoding
}

const decodable = new Set(["", "gzip", "x-gzip", "deflate", "br"])

/** Whether every transport decodes an encoding. */
export const isDecodable = (encoding: string): boolean => decodable.has(encoding)

/** A body is in an encoding that no transport decodes. */
export class UnsupportedEncoding extends Error {
  constructor(encoding: string) {
    // Longer ones are no names, and may quote anything.
    const name = encoding.length > 30 ? "" : ` ${JSON.stringify(encoding)}`
    super(`it has the content encoding${name}, which cannot be read`)
  }
}

/** A body that is read from a stream, into memory only up to a limit. */
export const streamedBody = (
  stream: Stream.Stream<Uint8Array, unknown>,
  maximumBytes: number
): Omit<ResponseBody, "detectsTruncation"> => {
  // Cached, since a stream can be read only once.
  const bytes = Effect.runSync(Effect.cached(readBytes(stream, maximumBytes)))
  return { bytes, each: (use) => Effect.map(bytes, use), stream }
}

const readBytes = (stream: Stream.Stream<Uint8Array, unknown>, maximumBytes: number) =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    const keep = (chunk: Uint8Array) => {
      chunks.push(chunk)
      size += chunk.length
      return size > maximumBytes ? Effect.fail(new ResponseTooLarge({ maximumBytes })) : Effect.void
    }
    return Effect.map(Stream.runForEach(stream, keep), () => joinBytes(chunks))
  })

type Reading<A> = Effect.Effect<A, HttpClientError.HttpClientError>

export const utf8 = new TextDecoder("utf-8", { fatal: true })

export class BufferedResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  readonly [HttpClientResponse.TypeId]: typeof HttpClientResponse.TypeId = HttpClientResponse.TypeId
  readonly [HttpIncomingMessage.TypeId]: typeof HttpIncomingMessage.TypeId = HttpIncomingMessage.TypeId
  readonly request: HttpClientRequest.HttpClientRequest
  readonly url: string
  readonly status: number
  readonly headers: Headers.Headers
  readonly cookies: Cookies.Cookies
  readonly remoteAddress: Option.Option<string> = Option.none()
  readonly #body: ResponseBody

  constructor({ cookies = Cookies.empty, headers, request, status, url }: ResponseHead, body: ResponseBody) {
    super()
    this.request = request
    this.url = url
    this.status = status
    this.headers = headers
    this.cookies = cookies
    this.#body = body
  }

  get detectsTruncation(): boolean {
    return this.#body.detectsTruncation
  }

  get bytes(): Reading<Uint8Array> {
    return Effect.mapError(this.#body.bytes, (cause) => this.#unreadable(cause))
  }

  /** Gives the chunks of the body to a function as they come, so that nothing holds them. */
  each(use: (chunk: Uint8Array) => void): Reading<void> {
    return Effect.mapError(this.#body.each(use), (cause) => this.#unreadable(cause))
  }

  get arrayBuffer(): Reading<ArrayBuffer> {
    return Effect.map(this.bytes, (bytes) => new Uint8Array(bytes).buffer)
  }

  get text(): Reading<string> {
    return this.#decode((bytes) => utf8.decode(bytes))
  }

  /** `null` without a body, as in the clients of Effect. */
  get json(): Reading<Schema.Json> {
    // What can be parsed as JSON is JSON.
    return this.#decode((bytes) => (bytes.length === 0 ? null : (JsonParser.parse(utf8.decode(bytes)) as Schema.Json)))
  }

  get urlParamsBody(): Reading<UrlParams.UrlParams> {
    // A leading "?" is form data; URLSearchParams would drop it as the start of a query.
    return this.#decode((bytes) => UrlParams.fromInput(new URLSearchParams(utf8.decode(bytes).replace(/^\?/, "%3F"))))
  }

  get formData(): Reading<FormData> {
    return Effect.flatMap(this.arrayBuffer, (bytes) =>
      Effect.tryPromise({
        try: () => new Response(bytes, { headers: { "content-type": this.headers["content-type"] ?? "" } }).formData(),
        catch: (cause) => this.#unreadable(cause)
      })
    )
  }

  get stream(): Stream.Stream<Uint8Array, HttpClientError.HttpClientError> {
    return Stream.mapError(this.#body.stream, (cause) => this.#unreadable(cause))
  }

  get upgrade(): Effect.Effect<never, HttpClientError.HttpClientError> {
    const description = "the connection cannot be handed over"
    const reason = new HttpClientError.StatusCodeError({ request: this.request, response: this, description })
    return Effect.fail(new HttpClientError.HttpClientError({ reason }))
  }

  /** The error carries the response, so that its status stays known. */
  #unreadable(cause: unknown): HttpClientError.HttpClientError {
    return HttpClientError.isHttpClientError(cause)
      ? cause
      : new HttpClientError.HttpClientError({
          reason: new HttpClientError.DecodeError({ request: this.request, response: this, cause })
        })
  }

  #decode<A>(decode: (bytes: Uint8Array) => A): Reading<A> {
    return Effect.flatMap(this.bytes, (bytes) =>
      Effect.try({ try: () => decode(bytes), catch: (cause) => this.#unreadable(cause) })
    )
  }

  toJSON(): unknown {
    const { request, status } = this
    return HttpIncomingMessage.inspect(this, { _id: "HttpClientResponse", request: request.toJSON(), status })
  }

  pipe() {
    return Pipeable.pipeArguments(this, arguments)
  }
}
