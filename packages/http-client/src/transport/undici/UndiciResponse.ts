/**
 * A response as undici hands it over: the head is there, the body still comes.
 */
import { Effect, Stream } from "effect"
import { Cookies, Headers, HttpClientError, type HttpClientRequest } from "effect/http"
import { WholeBodyResponse } from "../BodyLimitResponse.ts"
import type { UndiciBody } from "./UndiciBody.ts"

type RawHeaders = Readonly<Record<string, string | Array<string> | undefined>>

const joined = (chunks: ReadonlyArray<Uint8Array>): Uint8Array => {
  const [first] = chunks
  return first !== undefined && chunks.length === 1 ? first : Buffer.concat(chunks)
}

export class UndiciResponse extends WholeBodyResponse {
  readonly request: HttpClientRequest.HttpClientRequest
  readonly status: number
  readonly url: string
  readonly #rawHeaders: RawHeaders
  readonly #body: UndiciBody
  #headers: Headers.Headers | undefined
  #cookies: Cookies.Cookies | undefined

  constructor(
    request: HttpClientRequest.HttpClientRequest,
    url: string,
    status: number,
    headers: RawHeaders,
    body: UndiciBody
  ) {
    super()
    this.request = request
    this.status = status
    this.url = url
    this.#rawHeaders = headers
    this.#body = body
  }

  get headers(): Headers.Headers {
    return (this.#headers ??= Headers.fromInput(this.#rawHeaders))
  }

  override header(name: string): string | undefined {
    const value = this.#rawHeaders[name]
    return Array.isArray(value) ? value.join(", ") : value
  }

  get cookies(): Cookies.Cookies {
    return (this.#cookies ??= Cookies.fromSetCookie(this.#rawHeaders["set-cookie"] ?? []))
  }

  get bytes(): Effect.Effect<Uint8Array, HttpClientError.HttpClientError> {
    return Effect.map(this.pieces, joined)
  }

  override get showsCutEncoding(): boolean {
    return true
  }

  override get arrived(): ReadonlyArray<Uint8Array> | undefined {
    return this.#body.arrived
  }

  override get pieces(): Effect.Effect<ReadonlyArray<Uint8Array>, HttpClientError.HttpClientError> {
    return this.#body.whole(this.#onFailure)
  }

  /** Can be read once, unless the body has been read as a whole. Leaving it before its end closes the connection. */
  get stream(): Stream.Stream<Uint8Array, HttpClientError.HttpClientError> {
    return Stream.suspend(() =>
      this.#body.collected === undefined
        ? Stream.ensuring(
            Stream.fromPull(Effect.succeed(this.#body.pull(this.#onFailure))),
            Effect.sync(() => this.#body.close())
          )
        : Stream.fromIterable(this.#body.collected)
    )
  }

  get #onFailure() {
    return (cause: unknown) => this.unreadable(cause)
  }

  get upgrade(): Effect.Effect<never, HttpClientError.HttpClientError> {
    return Effect.fail(
      new HttpClientError.HttpClientError({
        reason: new HttpClientError.StatusCodeError({
          request: this.request,
          response: this,
          description: "connections are not handed over"
        })
      })
    )
  }
}
