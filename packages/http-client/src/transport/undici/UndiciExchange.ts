/** One request on undici, from its dispatch to the end of its response, its interruption or its failure. */
import { Context, Effect, Exit, type Fiber, Predicate } from "effect"
import { Cookies, Headers, HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { Dispatcher } from "undici"
import { BufferedResponse, encodingOf } from "../BufferedResponse.ts"
import { ProxyUnreachable } from "../ProxyUnreachable.ts"
import { CurrentRequestPhase, type RequestPhase } from "../RequestPhase.ts"
import { decompressed } from "./Decompression.ts"
import { type BodySource, UndiciBody } from "./UndiciBody.ts"
import { type RequestContent, UndiciUpload } from "./UndiciUpload.ts"

/** The connection that a request has been given to. */
export interface Link {
  /** Gives up connecting. */
  abort(reason: Error): void
  /** The request is over. */
  release(exchange: UndiciExchange): void
}

export interface ExchangeOptions {
  readonly request: HttpClientRequest.HttpClientRequest
  /** The whole address, without a fragment. */
  readonly url: string
  readonly content: RequestContent
  readonly maximumBytes: number
  /** Host and port of the proxy that may pass the request on. */
  readonly proxy: string | undefined
  /** The fiber that sends the request and reads the response. */
  readonly fiber: Fiber.Fiber<unknown, unknown>
  readonly resume: (
    effect: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>
  ) => void
}

export class UndiciExchange implements Dispatcher.DispatchHandler, BodySource {
  readonly #options: ExchangeOptions
  readonly #upload: UndiciUpload | undefined
  readonly #phase: RequestPhase | undefined
  #link: Link | undefined
  #controller: Dispatcher.DispatchController | undefined
  #body: UndiciBody | undefined
  #aborted: Error | undefined
  #failure: { readonly cause: unknown } | undefined
  #over = false

  constructor(options: ExchangeOptions) {
    this.#options = options
    this.#phase = Context.get(options.fiber.context, CurrentRequestPhase)
    // One attempt may send several requests; it counts as sent once one of them was.
    if (this.#phase !== undefined && this.#phase.sent === undefined) this.#phase.sent = false
    const { body } = options.content
    if (body instanceof UndiciUpload) {
      body.onFailure = (cause) => this.#uploadFailed(cause)
      this.#upload = body
    }
  }

  /** Why the request was given up. */
  get aborted(): Error | undefined {
    return this.#aborted
  }

  /** A connection takes the request out of the queue; `false` if it was given up. */
  assign(link: Link): boolean {
    if (this.#aborted !== undefined || this.#over) return false
    this.#link = link
    return true
  }

  /** The fiber that waits for the head was interrupted. */
  interrupt(): void {
    this.abort(new Interrupted("The request was interrupted."))
  }

  // What undici calls.

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller
    if (this.#phase !== undefined) this.#phase.sent = true
    if (this.#aborted !== undefined) controller.abort(this.#aborted)
  }

  onResponseStart(
    _: Dispatcher.DispatchController,
    status: number,
    headers: Record<string, string | Array<string> | undefined>
  ): void {
    if (status < 200 || this.#over) return
    const { maximumBytes, request, url } = this.#options
    const body = new UndiciBody(maximumBytes, this)
    this.#body = body
    const setCookie = headers["set-cookie"]
    const cookies = setCookie === undefined ? Cookies.empty : Cookies.fromSetCookie(setCookie)
    const head = { request, url, status, headers: Headers.fromInput(headers), cookies }
    const encoding = encodingOf(head.headers)
    const decoded = encoding === "" ? body : decompressed(encoding, body, maximumBytes)
    queueMicrotask(() => this.#deliver(new BufferedResponse(head, decoded), body))
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#phase !== undefined) this.#phase.receivedBytes = (this.#phase.receivedBytes ?? 0) + chunk.length
    this.#body?.write(chunk)
  }

  onResponseEnd(): void {
    this.#finish()
    this.#body?.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return
    this.#finish()
    const cause =
      this.#failure === undefined
        ? explain(error, this.#controller !== undefined, this.#options.proxy)
        : this.#failure.cause
    if (this.#body !== undefined) return this.#body.fail(cause)
    if (this.#aborted !== undefined && this.#failure === undefined) return
    const { request, resume } = this.#options
    const reason =
      this.#controller === undefined && refused.has(codeOf(error) ?? "")
        ? new HttpClientError.EncodeError({ request, cause, description: error.message })
        : new HttpClientError.TransportError({ request, cause })
    queueMicrotask(() => resume(Effect.fail(new HttpClientError.HttpClientError({ reason }))))
  }

  // For the body.

  pause(): void {
    this.#controller?.pause()
  }

  resume(): void {
    this.#controller?.resume()
  }

  /** Closes the connection or gives up connecting; a request that waits is never sent. */
  abort(reason: Error): void {
    if (this.#over || this.#aborted !== undefined) return
    this.#aborted = reason
    if (this.#controller !== undefined) this.#controller.abort(reason)
    else this.#link?.abort(reason)
  }

  /** Called later, since undici's parser must not be called from inside itself. */
  #deliver(response: BufferedResponse, body: UndiciBody): void {
    if (!body.done) {
      const removeObserver = this.#options.fiber.addObserver((exit) => {
        if (Exit.hasInterrupts(exit)) body.abandon()
      })
      body.onDone = removeObserver
    }
    this.#options.resume(Effect.succeed(response))
  }

  #uploadFailed(cause: unknown): void {
    if (this.#over) return
    this.#failure = { cause }
    this.abort(new Interrupted("The stream of the request body failed."))
  }

  #finish(): void {
    this.#over = true
    this.#link?.release(this)
    this.#link = undefined
    this.#upload?.destroy()
  }
}

/** The request was given up. Only undici and a reader of the body see it. */
class Interrupted extends Error {
  readonly code = "UND_ERR_ABORTED"
}

/** Codes of broken connections, not of refused ones or untrusted peers. */
const broken = new Set([
  "ECONNRESET",
  "ECONNABORTED",
  "EPIPE",
  "ETIMEDOUT",
  "UND_ERR_SOCKET",
  "UND_ERR_PRX_CONN",
  "UND_ERR_HEADERS_TIMEOUT"
])

/** Codes of requests that undici does not write. */
const refused = new Set(["UND_ERR_INVALID_ARG", "UND_ERR_NOT_SUPPORTED", "UND_ERR_REQ_CONTENT_LENGTH_MISMATCH"])

const codeOf = (error: unknown): string | undefined =>
  Predicate.hasProperty(error, "code") && typeof error.code === "string" ? error.code : undefined

/** The connection broke before the request was written; `syscall` marks it like one that was never made. */
export class NotSent extends Error {
  readonly code: string
  readonly syscall = "connect"
  constructor(code: string, cause: unknown) {
    super(`The connection broke with ${code} before the request was sent.`, { cause })
    this.code = code
  }
}

/** The response is not HTTP/1.1. undici 8.12.4 loses the codes of llhttp, which begin like this one. */
class NotHttp extends Error {
  readonly code = "HPE_INVALID_RESPONSE"
  constructor(cause: Error) {
    super(cause.message, { cause })
  }
}

/** The error of undici, or a more specific one. `begun` tells whether the request was being written. */
const explain = (error: Error, begun: boolean, proxy: string | undefined): Error => {
  const code = codeOf(error)
  // undici says this of a request without a tunnel.
  if (proxy !== undefined && error.message.startsWith("Proxy Authentication Required")) {
    return new ProxyUnreachable(proxy, error, 407)
  }
  if (error.name === "HTTPParserError") return new NotHttp(error)
  if (begun || code === undefined || !broken.has(code)) return error
  return Predicate.hasProperty(error, "syscall") && error.syscall === "connect" ? error : new NotSent(code, error)
}
