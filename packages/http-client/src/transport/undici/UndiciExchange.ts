/**
 * One request on undici, from its dispatch to the last byte of its answer, and the ways it can be given up.
 */
import { Context, Effect, Exit, type Fiber } from "effect"
import { HttpClientError, type HttpClientRequest, type HttpClientResponse } from "effect/http"
import type { Dispatcher } from "undici"
import { CurrentRequestPhase, type RequestPhase } from "../RequestPhase.ts"
import type { Address } from "./UndiciAddress.ts"
import { type BodySource, UndiciBody } from "./UndiciBody.ts"
import { UndiciDecoder } from "./UndiciDecoder.ts"
import { explain, Interrupted, isRefusal } from "./UndiciFailure.ts"
import { UndiciResponse } from "./UndiciResponse.ts"
import { type RequestContent, UndiciUpload } from "./UndiciUpload.ts"

/** The connection that a request has been given to. */
export interface Link {
  /** Gives up connecting. */
  abort(reason: Error): void
  /** The request is about to be written. */
  expectHead(): void
  /** The request is over. */
  release(exchange: UndiciExchange): void
}

/** Closes the connections of responses that were forgotten before their body had come. */
const forgotten = new FinalizationRegistry<UndiciBody>((body) => body.close())

export class UndiciExchange implements Dispatcher.DispatchHandler, BodySource {
  readonly #request: HttpClientRequest.HttpClientRequest
  readonly #address: Address
  readonly #maximumBytes: number
  readonly #fiber: Fiber.Fiber<unknown, unknown>
  readonly #upload: UndiciUpload | undefined
  readonly #phase: RequestPhase | undefined
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
    readonly address: Address
    readonly content: RequestContent
    readonly maximumBytes: number
    /** The one that sends the request, and has the response. */
    readonly fiber: Fiber.Fiber<unknown, unknown>
    readonly resume: (
      effect: Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>
    ) => void
  }) {
    this.#request = options.request
    this.#address = options.address
    this.#maximumBytes = options.maximumBytes
    this.#fiber = options.fiber
    this.#resume = options.resume
    this.#phase = Context.get(options.fiber.context, CurrentRequestPhase)
    if (this.#phase !== undefined) this.#phase.sent = false
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
    if (this.#phase !== undefined) this.#phase.sent = true
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
    const response = new UndiciResponse(this.#request, this.#address.href, status, headers, body)
    queueMicrotask(() => this.#deliver(response, body))
  }

  onResponseData(_: Dispatcher.DispatchController, chunk: Uint8Array): void {
    if (this.#phase !== undefined) this.#phase.receivedBytes = (this.#phase.receivedBytes ?? 0) + chunk.length
    this.#sink?.write(chunk)
  }

  onResponseEnd(): void {
    this.#finish()
    this.#sink?.end()
  }

  onResponseError(_: Dispatcher.DispatchController, error: Error): void {
    if (this.#over) return
    this.#finish()
    const cause = this.#failure === undefined ? explain(error, this.#controller !== undefined) : this.#failure.cause
    if (this.#sink !== undefined) return this.#sink.fail(cause)
    if (this.#aborted !== undefined && this.#failure === undefined) return
    const reason =
      this.#controller === undefined && isRefusal(error)
        ? new HttpClientError.EncodeError({ request: this.#request, cause, description: error.message })
        : new HttpClientError.TransportError({ request: this.#request, cause })
    queueMicrotask(() => this.#fail(reason))
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
      forgotten.register(response, body, body)
      const removeObserver = this.#fiber.addObserver((exit) => {
        if (Exit.hasInterrupts(exit)) body.abandon()
      })
      body.onDone = () => {
        removeObserver()
        // What is registered stays in memory, with all its bytes, until the next full collection of garbage.
        forgotten.unregister(body)
      }
    }
    this.#resume(Effect.succeed(response))
  }

  #fail(reason: HttpClientError.HttpClientError["reason"]): void {
    this.#resume(Effect.fail(new HttpClientError.HttpClientError({ reason })))
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
