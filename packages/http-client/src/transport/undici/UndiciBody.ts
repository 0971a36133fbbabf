/**
 * The body of a response between the connection that brings it and whoever reads it: as a whole, which is bounded, or as
 * a stream, which is held back. While nobody reads, only a little is kept.
 */
import { Array as Arr, Cause, Effect, type Pull } from "effect"
import { ResponseTooLarge } from "../BodyLimit.ts"

/** How many bytes wait for a reader before the connection is paused. */
const highWaterMark = 64 * 1024

/** What the bytes come from. */
export interface BodySource {
  pause(): void
  resume(): void
  /** Closes the connection. */
  abort(reason: Error): void
}

type BodyEnd = { readonly failed: false } | { readonly failed: true; readonly cause: unknown }

export class UndiciBody {
  readonly #maximumBytes: number
  readonly #source: BodySource
  #chunks: Array<Uint8Array> = []
  #held = 0
  #received = 0
  #paused = false
  #use: "none" | "whole" | "stream" = "none"
  #end: BodyEnd | undefined
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

  // The side of the connection.

  /** Counts bytes as they came over the wire, where they are not those of the body. */
  receive(length: number): void {
    this.#received += length
    this.#checkSize()
  }

  write(chunk: Uint8Array): void {
    if (this.#end !== undefined || chunk.length === 0) return
    this.#chunks.push(chunk)
    this.#held += chunk.length
    if (this.#use === "whole") return this.#checkSize()
    if (this.#held >= highWaterMark && !this.#paused) {
      this.#paused = true
      this.#source.pause()
    }
    this.#wake()
  }

  end(): void {
    this.#finish({ failed: false })
  }

  fail(cause: unknown): void {
    this.#finish({ failed: true, cause })
  }

  // The side of the reader.

  /** Every byte there is. Interrupting the last one who waits for it closes the connection. */
  whole<E>(onFailure: (cause: unknown) => E): Effect.Effect<ReadonlyArray<Uint8Array>, E> {
    return Effect.suspend(() => {
      if (this.#use === "stream") return Effect.fail(onFailure(new Error("The body has been read as a stream.")))
      this.#use = "whole"
      this.#checkSize()
      this.#resume()
      if (this.#end === undefined) return Effect.flatMap(this.#wait, () => this.whole(onFailure))
      return this.#end.failed ? Effect.fail(onFailure(this.#end.cause)) : Effect.succeed(this.#chunks)
    })
  }

  /** Every byte there is, if all have come and nobody is to wait: nothing otherwise, and nothing has changed. */
  get arrived(): ReadonlyArray<Uint8Array> | undefined {
    if (this.#use === "stream" || this.#end?.failed !== false) return undefined
    if (Math.max(this.#held, this.#received) > this.#maximumBytes) return undefined
    this.#use = "whole"
    return this.#chunks
  }

  /** What has come since it was asked for last. */
  pull<E>(onFailure: (cause: unknown) => E): Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, E> {
    return Effect.suspend((): Pull.Pull<Arr.NonEmptyReadonlyArray<Uint8Array>, E> => {
      if (this.#use === "whole") return Effect.fail(onFailure(new Error("The body is being read as a whole.")))
      this.#use = "stream"
      const chunks = this.#chunks
      if (Arr.isArrayNonEmpty(chunks)) {
        this.#chunks = []
        this.#held = 0
        this.#resume()
        return Effect.succeed(chunks)
      }
      if (this.#end === undefined) return Effect.flatMap(this.#wait, () => this.pull(onFailure))
      return this.#end.failed ? Effect.fail(onFailure(this.#end.cause)) : Cause.done()
    })
  }

  /** The bytes, once they have been read as a whole. */
  get collected(): ReadonlyArray<Uint8Array> | undefined {
    return this.#use === "whole" && this.#end?.failed === false ? this.#chunks : undefined
  }

  /** Whoever had the response is gone: closes the connection if nobody has begun to read. */
  abandon(): void {
    if (this.#use === "none") this.close()
  }

  /** Closes the connection unless all has come. */
  close(reason = new Error("The body was not read to its end.")): void {
    if (this.#end === undefined) this.#abort(reason)
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
    if (this.#use !== "whole" || Math.max(this.#held, this.#received) <= this.#maximumBytes) return
    const reason = new ResponseTooLarge({ maximumBytes: this.#maximumBytes })
    this.#chunks = []
    this.#held = this.#received = 0
    if (this.#end === undefined) this.#abort(reason)
    // All had come before it was asked for, and was more than may be read.
    else if (!this.#end.failed) this.#end = { failed: true, cause: reason }
  }

  #abort(reason: Error): void {
    this.#finish({ failed: true, cause: reason })
    this.#source.abort(reason)
  }

  #finish(end: BodyEnd): void {
    if (this.#end !== undefined) return
    this.#end = end
    this.#onDone?.()
    this.#wake()
  }

  /** Readers go on when undici has returned: it must not be called again from inside its parser. */
  #wake(): void {
    if (this.#waiting.size === 0) return
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    queueMicrotask(() => {
      for (const ready of waiting) ready()
    })
  }
}
