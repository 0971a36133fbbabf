/**
 * A response whose body is read as whole bytes, and what text, JSON and forms are made of them. Text must be UTF-8.
 */
import { JsonParser } from "@roster/domain"
import { Effect, Inspectable, Option, Pipeable, type Schema, type Stream } from "effect"
import {
  type Cookies,
  type Headers,
  HttpClientError,
  type HttpClientRequest,
  HttpClientResponse,
  HttpIncomingMessage,
  UrlParams
} from "effect/http"

type Reading<A> = Effect.Effect<A, HttpClientError.HttpClientError>

const utf8 = new TextDecoder("utf-8", { fatal: true })

export abstract class WholeBodyResponse extends Inspectable.Class implements HttpClientResponse.HttpClientResponse {
  abstract readonly request: HttpClientRequest.HttpClientRequest
  abstract readonly url: string
  abstract readonly status: number
  abstract readonly headers: Headers.Headers
  abstract readonly cookies: Cookies.Cookies
  abstract readonly stream: Stream.Stream<Uint8Array, HttpClientError.HttpClientError>
  abstract readonly upgrade: HttpClientResponse.HttpClientResponse["upgrade"]
  /** One of the headers, by its name in small letters. */
  header(name: string): string | undefined {
    return this.headers[name]
  }
  /** All bytes of the body; may be asked for more than once. */
  abstract readonly bytes: Reading<Uint8Array>
  /** As they came. */
  get pieces(): Reading<ReadonlyArray<Uint8Array>> {
    return Effect.map(this.bytes, (bytes) => [bytes])
  }
  /** The same without waiting, where all have come already and are not too many. */
  get arrived(): ReadonlyArray<Uint8Array> | undefined {
    return undefined
  }
  /** Whether a compressed body that ends early is an error: `fetch` gives what there is, and calls it whole. */
  get showsCutEncoding(): boolean {
    return false
  }

  get [HttpClientResponse.TypeId](): typeof HttpClientResponse.TypeId {
    return HttpClientResponse.TypeId
  }
  get [HttpIncomingMessage.TypeId](): typeof HttpIncomingMessage.TypeId {
    return HttpIncomingMessage.TypeId
  }
  get remoteAddress(): Option.Option<string> {
    return Option.none()
  }

  get arrayBuffer(): Reading<ArrayBuffer> {
    return Effect.map(this.bytes, copy)
  }

  get text(): Reading<string> {
    return this.#decode((bytes) => utf8.decode(bytes))
  }

  /** As in the clients of Effect, no body at all is `null`. */
  get json(): Reading<Schema.Json> {
    // What can be parsed as JSON is JSON.
    return this.#decode((bytes) => (bytes.length === 0 ? null : (JsonParser.parse(utf8.decode(bytes)) as Schema.Json)))
  }

  get urlParamsBody(): Reading<UrlParams.UrlParams> {
    // A leading "?" is form data; URLSearchParams would take it for the sign before a query.
    return this.#decode((bytes) => UrlParams.fromInput(new URLSearchParams(utf8.decode(bytes).replace(/^\?/, "%3F"))))
  }

  get formData(): Reading<FormData> {
    return Effect.flatMap(this.arrayBuffer, (bytes) =>
      Effect.tryPromise({
        try: () => new Response(bytes, { headers: { "content-type": this.headers["content-type"] ?? "" } }).formData(),
        catch: (cause) => this.unreadable(cause)
      })
    )
  }

  /** The failure of whoever reads the body. It carries the response, so that its status stays known. */
  unreadable(cause: unknown): HttpClientError.HttpClientError {
    return new HttpClientError.HttpClientError({
      reason: new HttpClientError.DecodeError({ request: this.request, response: this, cause })
    })
  }

  #decode<A>(decode: (bytes: Uint8Array) => A): Reading<A> {
    return Effect.flatMap(this.bytes, (bytes) => {
      try {
        return Effect.succeed(decode(bytes))
      } catch (cause) {
        return Effect.fail(this.unreadable(cause))
      }
    })
  }

  toJSON(): unknown {
    return HttpIncomingMessage.inspect(this, {
      _id: "HttpClientResponse",
      request: this.request.toJSON(),
      status: this.status
    })
  }

  pipe() {
    return Pipeable.pipeArguments(this, arguments)
  }
}

/** One header of any response: of ours without making all of them. */
export const headerOf = (response: HttpClientResponse.HttpClientResponse, name: string): string | undefined =>
  response instanceof WholeBodyResponse ? response.header(name) : response.headers[name]

const copy = (bytes: Uint8Array): ArrayBuffer => {
  const whole = new ArrayBuffer(bytes.length)
  new Uint8Array(whole).set(bytes)
  return whole
}
