/** Request bodies for undici. A stream runs on demand, with backpressure, until the request is over. */
import { Cause, Context, Effect, Exit, type Fiber, Stream } from "effect"
import { type HttpBody, HttpClientError, type HttpClientRequest } from "effect/http"
import { Readable } from "node:stream"
import { CurrentRequestPhase } from "../RequestPhase.ts"

/** Forms up to this size, in bytes of their files, are sent with a length; larger ones are not copied into memory. */
const wholeForm = 1024 * 1024

export class UndiciUpload extends Readable {
  readonly #stream: Stream.Stream<Uint8Array, unknown>
  readonly #context: Context.Context<never>
  #fiber: Fiber.Fiber<void, unknown> | undefined
  #started = false
  #wanted: (() => void) | undefined
  /** Called with the error of the stream. */
  onFailure: (cause: unknown) => void = () => {}

  constructor(stream: Stream.Stream<Uint8Array, unknown>, context: Context.Context<never>) {
    super({ highWaterMark: 64 * 1024 })
    this.#stream = stream
    this.#context = context
  }

  override _read(): void {
    if (!this.#started) return this.#start()
    const wanted = this.#wanted
    this.#wanted = undefined
    wanted?.()
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#fiber?.interruptUnsafe()
    callback(error)
  }

  #start(): void {
    this.#started = true
    const run = Stream.runForEachArray(this.#stream, (chunks) =>
      Effect.callback<void>((resume) => {
        let room = true
        for (const chunk of chunks) if (chunk.length > 0) room = this.push(chunk)
        if (room) resume(Effect.void)
        else this.#wanted = () => resume(Effect.void)
      })
    )
    // Requests that the stream itself makes do not count for the phase.
    const context = Context.add(this.#context, CurrentRequestPhase, undefined)
    this.#fiber = Effect.runForkWith(context)(run)
    this.#fiber.addObserver((exit) => {
      if (this.destroyed) return
      if (Exit.isSuccess(exit)) this.push(null)
      else this.onFailure(Cause.squash(exit.cause))
    })
  }
}

/** The body for undici, and its content type unless the request has one. */
export interface RequestContent {
  readonly body: string | Uint8Array | UndiciUpload | null
  readonly contentType: string | undefined
}

const encodeError = (request: HttpClientRequest.HttpClientRequest, description: string, cause?: unknown) =>
  new HttpClientError.HttpClientError({ reason: new HttpClientError.EncodeError({ request, description, cause }) })

export const requestContent = (
  request: HttpClientRequest.HttpClientRequest,
  context: Context.Context<never>
): Effect.Effect<RequestContent, HttpClientError.HttpClientError> => {
  const { body } = request
  switch (body._tag) {
    case "Empty":
      return Effect.succeed({ body: null, contentType: undefined })
    case "Stream":
      return Effect.succeed({ body: new UndiciUpload(body.stream, context), contentType: body.contentType })
    case "FormData":
      return formContent(request, body, context)
    case "Raw":
    case "Uint8Array": {
      const { body: raw, contentType } = body
      if (typeof raw === "string" || raw instanceof Uint8Array) return Effect.succeed({ body: raw, contentType })
      if (raw instanceof ArrayBuffer) return Effect.succeed({ body: new Uint8Array(raw), contentType })
      return Effect.fail(encodeError(request, "a raw body must be a string or bytes"))
    }
  }
}

const formContent = (
  request: HttpClientRequest.HttpClientRequest,
  { formData }: HttpBody.FormData,
  context: Context.Context<never>
): Effect.Effect<RequestContent, HttpClientError.HttpClientError> => {
  // The platform's own serialisation: the boundary is in its content type.
  const form = new Response(formData)
  const contentType = form.headers.get("content-type") ?? undefined
  const onError = (cause: unknown) => encodeError(request, "the form cannot be read", cause)
  let size = 0
  for (const [, value] of formData) if (typeof value !== "string") size += value.size
  if (size > wholeForm && form.body !== null) {
    const source = form.body
    const stream = Stream.fromReadableStream({ evaluate: () => source, onError })
    return Effect.succeed({ body: new UndiciUpload(stream, context), contentType })
  }
  return Effect.map(Effect.tryPromise({ try: () => form.bytes(), catch: onError }), (body) => ({ body, contentType }))
}
