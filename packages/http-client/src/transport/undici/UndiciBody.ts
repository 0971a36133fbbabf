/** The body of a response, read as a whole up to a limit, or as a stream that pauses the connection. */
import { ResponseTooLarge } from "@roster/domain"
import { joinBytes } from "@roster/domain/internal"
import { Array as Arr, Cause, Effect, Exit, type Pull, Stream } from "effect"
import type { ResponseBody } from "../BufferedResponse.ts"

/** The number of unread bytes at which the connection is paused. */
const highWaterMark = 64 * 1024

/** The source of the bytes. */
export interface BodySource {
  pause(): void
  resume(): void
  /** Closes the connection. */
  abort(reason: Error): void
}

const readInChunks = new Error("The body has been read in chunks.")

export class UndiciBody implements ResponseBody {
  readonly detectsTruncation = true
  readonly #maximumBytes: number
  readonly #source: BodySource
  #chunks: Array<Uint8Array> = []
  #onChunk: ((chunk: Uint8Array) => void) | undefined
  #held = 0
  #paused = false
  #use: "none" | "whole" | "stream" = "none"
  #end: Exit.Exit<void, unknown> | undefined
  readonly #waiting = new Set<() => void>()
  #onDone: (() => void) | undefined

  constructor(maximumBytes: number, source: BodySource) {
    this.#maximumBytes = maximumBytes
    this.#source = source
  }

  get done(): boolean {
    return this.#end !== undefined
  }

  /** Runs once, when nothing more will come. */
  set onDone(onDone: () => void) {
    this.#onDone = onDone
  }

  // For the connection.

  write(chunk: Uint8Array): void {
    if (this.#end !== undefined || chunk.length === 0) return
    this.#held += chunk.length
    if (this.#onChunk === undefined) this.#chunks.push(chunk)
    else this.#onChunk(chunk)
    if (this.#use === "whole") return this.#checkSize()
    if (this.#held >= highWaterMark && !this.#paused) {
      this.#paused = true
      this.#source.pause()
    }
    this.#wake()
  }

  end(): void {
    this.#finish(Exit.void)
  }

  fail(cause: unknown): void {
    this.#finish(Exit.fail(cause))
  }

  // For the reader.

  get bytes(): Effect.Effect<Uint8Array, unknown> {
    return Effect.suspend(() => {
      if (this.#onChunk !== undefined) return Effect.fail<unknown>(readInChunks)
      return Effect.map(this.#whole(), () => {
        const bytes = joinBytes(this.#chunks)
        this.#chunks = [bytes]
        return bytes
      })
    })
  }

  each(use: (chunk: Uint8Array) => void): Effect.Effect<void, unknown> {
    return Effect.suspend(() => {
      if (this.#use === "none") {
        for (const chunk of this.#chunks) use(chunk)
        this.#chunks = []
        this.#onChunk = use
      }
      return this.#onChunk === use ? this.#whole() : Effect.map(this.bytes, use)
    })
  }

  /** Waits for the end of the body. Interrupting the last fiber that does so closes the connection. */
  #whole(): Effect.Effect<void, unknown> {
    if (this.#use === "stream") return Effect.fail<unknown>(new Error("The body has been read as a stream."))
    this.#use = "whole"
    this.#checkSize()
    this.#resume()
    if (this.#end === undefined) return Effect.flatMap(this.#wait, () => this.#whole())
    return this.#end
  }

  /** Can be read once, unless the body has been read as a whole. Leaving it before its end closes the connection. */
  get stream(): Stream.Stream<Uint8Array, unknown> {
    return Stream.suspend(() => {
      if (this.#onChunk !== undefined) return Stream.fail<unknown>(readInChunks)
      return this.#use === "whole" && this.#end !== undefined && Exit.isSuccess(this.#end)
        ? Stream.fromIterable(this.#chunks)
        : Stream.ensuring(
            Stream.fromPull(Effect.succeed(Effect.suspend(() => this.#pull()))),
            Effect.sync(() => this.close())
          )
    })
  }

  /** The chunks that have come since the last call. */
  #pull(): Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, unknown> {
    if (this.#use === "whole") return Effect.fail<unknown>(new Error("The body is being read as a whole."))
    this.#use = "stream"
    const chunks = this.#chunks
    if (Arr.isArrayNonEmpty(chunks)) {
      this.#chunks = []
      this.#held = 0
      this.#resume()
      return Effect.succeed(chunks)
    }
    if (this.#end === undefined) return Effect.flatMap(this.#wait, () => this.#pull())
    return Effect.flatMap(this.#end, () => Cause.done())
  }

  /** Closes the connection of an interrupted fiber unless the body is being read. */
  abandon(): void {
    if (this.#use === "none") this.close()
  }

  /** Closes the connection unless all has come. */
  close(): void {
    if (this.#end === undefined) this.#abort(new Error("The body was not read to its end."))
  }

  get #wait(): Effect.Effect<void> {
    return Effect.callback((resume) => {
      const ready = () => resume(Effect.void)
      this.#waiting.add(ready)
      return Effect.sync(() => {
        this.#waiting.delete(ready)
        if (this.#waiting.size === 0) this.close()
      })
    })
  }

  #resume(): void {
    if (!this.#paused) return
    this.#paused = false
    this.#source.resume()
  }

  #checkSize(): void {
    if (this.#use !== "whole" || this.#held <= this.#maximumBytes) return
    const reason = new ResponseTooLarge({ maximumBytes: this.#maximumBytes })
    this.#chunks = []
    this.#held = 0
    if (this.#end === undefined) this.#abort(reason)
    // The whole body arrived before it was asked for.
    else if (Exit.isSuccess(this.#end)) this.#end = Exit.fail(reason)
  }

  #abort(reason: Error): void {
    this.fail(reason)
    this.#source.abort(reason)
  }

  #finish(end: Exit.Exit<void, unknown>): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#onDone?.()
    this.#wake()
  }

  /** Runs readers later, since undici's parser must not be called from inside itself. */
  #wake(): void {
    if (this.#waiting.size === 0) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    queueMicrotask(() => {
      for (const ready of waiting) ready()
    })
  }
}
