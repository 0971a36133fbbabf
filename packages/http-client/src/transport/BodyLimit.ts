/**
 * A bound on what is read into memory: for any `HttpClient`, whatever carries its requests.
 */
import { Effect, Schema, Stream } from "effect"
import { HttpClient, type HttpClientError, type HttpClientResponse } from "effect/http"
import { WholeBodyResponse } from "./BodyLimitResponse.ts"

/** How much of a response is read into memory where nothing else is said: 32 MiB. */
export const defaultMaximumBytes = 32 * 1024 * 1024

/** The response is larger than what is read into memory. It was cut off there, and its connection closed. */
export class ResponseTooLarge extends Schema.TaggedError<ResponseTooLarge>()("ResponseTooLarge", {
  maximumBytes: Schema.Int
}) {
  override get message(): string {
    return `The response is larger than ${this.maximumBytes} bytes. Ask for less at once, or read it as a stream.`
  }
}

/**
 * Bounds `arrayBuffer`, `text`, `json`, `urlParamsBody` and `formData` of every response: beyond `maximumBytes` (32 MiB
 * where it is not given) they fail with a `DecodeError` whose cause is `ResponseTooLarge`, and the rest is not read.
 * `stream` is not bounded. Text and JSON must be UTF-8.
 */
export const limitResponse = <E, R>(
  client: HttpClient.HttpClient.With<E, R>,
  maximumBytes: number = defaultMaximumBytes
): HttpClient.HttpClient.With<E, R> =>
  HttpClient.transformResponse(
    client,
    Effect.map((response) => new LimitedResponse(response, maximumBytes))
  )

class LimitedResponse extends WholeBodyResponse {
  readonly #original: HttpClientResponse.HttpClientResponse
  readonly #maximumBytes: number
  #bytes: Effect.Effect<Uint8Array, HttpClientError.HttpClientError> | undefined

  constructor(original: HttpClientResponse.HttpClientResponse, maximumBytes: number) {
    super()
    this.#original = original
    this.#maximumBytes = maximumBytes
  }

  get request() {
    return this.#original.request
  }
  get url() {
    return this.#original.url
  }
  get status() {
    return this.#original.status
  }
  get headers() {
    return this.#original.headers
  }
  get cookies() {
    return this.#original.cookies
  }
  override get remoteAddress() {
    return this.#original.remoteAddress
  }
  override get showsCutEncoding() {
    return this.#original instanceof WholeBodyResponse && this.#original.showsCutEncoding
  }
  get upgrade() {
    return this.#original.upgrade
  }
  get stream() {
    return this.#original.stream
  }

  /** Read once, kept for whoever asks again: a stream can be read only once. */
  get bytes(): Effect.Effect<Uint8Array, HttpClientError.HttpClientError> {
    return (this.#bytes ??= Effect.runSync(Effect.cached(this.#read)))
  }

  get #read(): Effect.Effect<Uint8Array, HttpClientError.HttpClientError> {
    return Effect.suspend(() => {
      const chunks: Array<Uint8Array> = []
      let size = 0
      return this.#original.stream.pipe(
        Stream.runForEachArray((some) => {
          for (const chunk of some) {
            size += chunk.length
            chunks.push(chunk)
          }
          return size > this.#maximumBytes
            ? Effect.fail(this.unreadable(new ResponseTooLarge({ maximumBytes: this.#maximumBytes })))
            : Effect.void
        }),
        // How fetch says that there is no body, as in an answer of status 204.
        Effect.catchIf(
          (error) => error.reason._tag === "EmptyBodyError",
          () => Effect.void
        ),
        Effect.map(() => concat(chunks, size))
      )
    })
  }
}

const concat = (chunks: ReadonlyArray<Uint8Array>, size: number): Uint8Array => {
  const bytes = new Uint8Array(size)
  let offset = 0
  for (const chunk of chunks) {
    bytes.set(chunk, offset)
    offset += chunk.length
  }
  return bytes
}
