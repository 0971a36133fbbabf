/** Decompresses gzip, deflate and brotli: undici's interceptor cannot read raw deflate, or show that a body was encoded. */
import { Effect, identity, Option, Sink, Stream } from "effect"
import { pipeline } from "node:stream"
import { createBrotliDecompress, createGunzip, createInflate, createInflateRaw } from "node:zlib"
import { isDecodable, type ResponseBody, streamedBody, UnsupportedEncoding } from "../BufferedResponse.ts"

const makeDecompress = (encoding: string, first: Uint8Array) => {
  if (encoding === "br") return createBrotliDecompress()
  if (encoding !== "deflate") return createGunzip()
  // Some servers omit the zlib frame (RFC 9110, 8.4.1.2), which the first byte shows.
  return ((first[0] ?? 0) & 0x0f) === 0x08 ? createInflate() : createInflateRaw()
}

const decompress = (encoding: string, stream: Stream.Stream<Uint8Array, unknown>) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const [first, rest] = yield* Stream.peel(
        Stream.filter(stream, ({ length }) => length > 0),
        Sink.head<Uint8Array>()
      )
      // An answer without a body may name any encoding.
      if (Option.isNone(first)) return Stream.empty
      if (!isDecodable(encoding)) return Stream.fail(new UnsupportedEncoding(encoding))
      const chunks = Stream.toAsyncIterableWith(Stream.prepend(rest, [first.value]), yield* Effect.context<never>())
      // The reader of the last stream sees the errors.
      const decoded = pipeline(chunks, makeDecompress(encoding, first.value), () => {})
      return Stream.fromAsyncIterable<Uint8Array, unknown>(decoded, identity)
    })
  )

/** A body that is decompressed as it is read. In memory the limit holds for what was sent and for what comes of it. */
export const decompressed = (encoding: string, body: ResponseBody, maximumBytes: number): ResponseBody => ({
  ...streamedBody(decompress(encoding, Stream.fromEffect(body.bytes)), maximumBytes),
  stream: decompress(encoding, body.stream),
  detectsTruncation: body.detectsTruncation
})
