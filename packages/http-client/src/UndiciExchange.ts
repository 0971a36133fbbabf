/**
 * One request on undici, from its dispatch to the last byte of its answer, and the ways it can be given up.
 */
import { Context, Effect, Exit, type Fiber, Predicate } from "effect"
import { HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { Dispatcher } from "undici"
import { AttemptProgress, type Progress } from "./AttemptProgress.ts"
import { type BodySource, UndiciBody } from "./UndiciBody.ts"
import { UndiciDecoder } from "./UndiciDecoder.ts"
import { UndiciResponse } from "./UndiciResponse.ts"
import { type RequestContent, UndiciUpload } from "./UndiciUpload.ts"

/**
 * The connection that a request has been given to.
 *
 * @internal
 */
export interface Link {
  /** Gives up connecting. */
  abort(reason: Error): void
  /** The request is about to be written. */
  expectHead(): void
  /** The request is over. */
  release(exchange: UndiciExchange): void
}

/**
 * The request was given up by interruption. Seen by nobody but undici, and by whoever still reads the body.
 */
class Interrupted extends Error {
  readonly code = "UND_ERR_ABORTED"
}

/** Codes of a connection that broke, as opposed to one that was refused, and to a peer that must not be trusted. */
const broken = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_PRX_CONN",
  "UND_ERR_HEADERS_TIMEOUT"
])

/** Requests that undici will not write. */
const refused = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"])

const codeOf = (error: unknown): string | undefined =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : undefined

/**
 * The connection broke before a byte of the request was written: during the handshake of TLS, or on an idle connection.
 * `syscall` says so in the way of a connection that never came about, since for the server it is the same.
 *
 * @category errors
 * @since 0.1.0
 */
export class NeverSent extends Error {
  readonly code: string
  readonly syscall = "connect"
  constructor(code: string, cause: unknown) {
    super(`The connection broke with ${code} before the request was sent.`, { cause })
    this.code = code
  }
}

/**
 * The answer is not HTTP/1.1. The codes of llhttp, which begin like this one, are lost in undici 8.12.4.
 *
 * @category errors
 * @since 0.1.0
 */
export class NotHttp extends Error {
  readonly code = "HPE_INVALID_RESPONSE"
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/** Closes the connections of responses that were forgotten before their body had come. */
const forgotten = new FinalizationRegistry<UndiciBody>((body) => body.close())

/**
 * @internal
 */
export class UndiciExchange implements Dispatcher.DispatchHandler, BodySource {
  readonly #request: HttpClientRequest.HttpClientRequest
  readonly #url: URL
  readonly #maximumBytes: number
  readonly #fiber: Fiber.Fiber<unknown, unknown>
  readonly #upload: UndiciUpload | undefined
  readonly #progress: Progress | undefined
  readonly #resume: (
    effect: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>
  ) => void
  #link: Link | undefined
  #controller: Dispatcher.DispatchController | undefined
  #sink: UndiciBody | UndiciDecoder | undefined
  #aborted: Error | undefined
  #failure: { readonly cause: unknown } | undefined
  #over = false

  constructor(options: {
    readonly request: HttpClientRequest.HttpClientRequest
    readonly url: URL
    readonly content: RequestContent
    readonly maximumBytes: number
    /** The one that sends the request, and has the response. */
    readonly fiber: Fiber.Fiber<unknown, unknown>
    readonly resume: (
      effect: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>
    ) => void
  }) {
    this.#request = options.request
    this.#url = options.url
    this.#maximumBytes = options.maximumBytes
    this.#fiber = options.fiber
    this.#resume = options.resume
    this.#progress = Context.get(options.fiber.context, AttemptProgress)
    if (this.#progress !== undefined) this.#progress.sent = false
    const { body } = options.content
    if (body instanceof UndiciUpload) {
      body.onFailure = (cause) => this.#uploadFailed(cause)
      this.#upload = body
    }
  }

  /** Why the request was given up, if it was. */
  get aborted(): Error | undefined {
    return this.#aborted
  }

  /** A connection takes the request out of the queue; `false` if nobody wants it any more. */
  assign(link: Link): boolean {
    if (this.#aborted !== undefined || this.#over) return false
    this.#link = link
    return true
  }

  /** The fiber that waits for the head is interrupted. */
  interrupt(): void {
    this.abort(new Interrupted("The request was interrupted."))
  }

  // What undici tells.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#progress !== undefined) this.#progress.sent = true
    this.#link?.expectHead()
    if (this.#aborted !== undefined) controller.abort(this.#aborted)
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | Array<string> | undefined>
  ): void {
    if (status < 200 || this.#over) return
    const encoding = String(headers["content-encoding"] ?? "")
      .trim()
      .toLowerCase()
    const makeBody = (source: BodySource) => new UndiciBody(this.#maximumBytes, source)
    this.#sink =
      encoding === "" || encoding === "identity" ? makeBody(this) : new UndiciDecoder(encoding, this, makeBody)
    const body = this.#sink instanceof UndiciDecoder ? this.#sink.body : this.#sink
    const response = new UndiciResponse(this.#request, this.#url, status, headers, body)
    queueMicrotask(() => this.#deliver(response, body))
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#progress !== undefined) this.#progress.receivedBytes = (this.#progress.receivedBytes ?? 0) + chunk.length
    this.#sink?.write(chunk)
  }

  onResponseEnd(): void {
    this.#finish()
    this.#sink?.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return
    this.#finish()
    const cause = this.#failure === undefined ? this.#explain(error) : this.#failure.cause
    if (this.#sink !== undefined) return this.#sink.fail(cause)
    if (this.#aborted !== undefined && this.#failure === undefined) return
    const code = codeOf(error)
    const reason =
      this.#controller === undefined && code !== undefined && refused.has(code)
        ? new HttpClientError.EncodeError({ request: this.#request, cause, description: error.message })
        : new HttpClientError.TransportError({ request: this.#request, cause })
    queueMicrotask(() => this.#resume(Effect.fail(new HttpClientError.HttpClientError({ reason }))))
  }

  // What the body asks for.

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  /** Closes the connection, or what is to become it; a request that waits is never sent. */
  abort(reason: Error): void {
    if (this.#over || this.#aborted !== undefined) return
    this.#aborted = reason
    if (this.#controller !== undefined) this.#controller.abort(reason)
    else this.#link?.abort(reason)
  }

  /** Nothing runs before undici has returned: it must not be called again from inside its parser. */
  #deliver(response: UndiciResponse, body: UndiciBody): void {
    if (!body.done) {
      forgotten.register(response, body)
      body.onDone = this.#fiber.addObserver((exit) => {
        if (Exit.hasInterrupts(exit)) body.abandon()
      })
    }
    this.#resume(Effect.succeed(response))
  }

  #uploadFailed(cause: unknown): void {
    if (this.#over) return
    this.#failure = { cause }
    this.abort(new Interrupted("The stream of the request body failed."))
  }

  #explain(error: Error): Error {
    const code = codeOf(error)
    if (error.name === "HTTPParserError") return new NotHttp(error)
    if (this.#controller !== undefined || code === undefined || !broken.has(code)) return error
    return Predicate.hasProperty(error, "syscall") && error.syscall === "connect" ? error : new NeverSent(code, error)
  }

  #finish(): void {
    this.#over = true
    this.#link?.release(this)
    this.#link = undefined
    this.#upload?.destroy()
  }
}
