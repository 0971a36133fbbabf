/** Decodes gzip, deflate and brotli: undici's interceptor cannot read raw deflate, or show that a body was encoded. */
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { type BodySource, UndiciBody } from "./UndiciBody.ts"

/** The body has an encoding that was not asked for and cannot be read. */
export class UnsupportedEncoding extends Error {
  readonly code = "ERR_INVALID_ENCODING"
  constructor(encoding: string) {
    super(`The response has the content encoding ${JSON.stringify(encoding)}, which cannot be read.`)
  }
}

type Decompress = ReturnType<typeof createGunzip> | ReturnType<typeof createBrotliDecompress>

/** Made with the first bytes, since an answer without a body may name any encoding. */
const makeDecompress = (encoding: string, first: Uint8Array): Decompress | undefined => {
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return createGunzip()
    case "br":
      return createBrotliDecompress()
    case "deflate":
      // Some servers omit the zlib frame (RFC 9110, 8.4.1.2), which the first byte shows.
      return ((first[0] ?? 0) & 0x0f) === 0x08 ? createInflate() : createInflateRaw()
    default:
      return undefined
  }
}

/** Decodes between the connection and the body, and passes on pauses in both directions. */
export class UndiciDecoder implements BodySource {
  readonly body: UndiciBody
  readonly #encoding: string
  readonly #connection: BodySource
  #decompress: Decompress | undefined

  constructor(encoding: string, connection: BodySource, maximumBytes: number) {
    this.body = new UndiciBody(maximumBytes, this)
    this.#encoding = encoding
    this.#connection = connection
  }

  write(chunk: Uint8Array): void {
    if (this.body.done) return
    this.body.receive(chunk.length)
    const decompress = (this.#decompress ??= this.#start(chunk))
    if (decompress !== undefined && !decompress.destroyed && !decompress.write(chunk)) this.#connection.pause()
  }

  end(): void {
    if (this.#decompress === undefined) this.body.end()
    else this.#decompress.end()
  }

  fail(cause: unknown): void {
    this.body.fail(cause)
    this.#decompress?.destroy()
  }

  pause(): void {
    this.#decompress?.pause()
  }

  resume(): void {
    this.#decompress?.resume()
  }

  abort(reason: Error): void {
    this.#decompress?.destroy()
    this.#connection.abort(reason)
  }

  #start(first: Uint8Array): Decompress | undefined {
    const fail = (reason: Error) => {
      this.fail(reason)
      this.#connection.abort(reason)
    }
    const decompress = makeDecompress(this.#encoding, first)
    if (decompress === undefined) fail(new UnsupportedEncoding(this.#encoding))
    return decompress
      ?.on("data", (chunk: Uint8Array) => this.body.write(chunk))
      .on("drain", () => this.#connection.resume())
      .on("end", () => this.body.end())
      .on("error", fail)
  }
}
