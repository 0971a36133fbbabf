/** Bytes that the browser keeps as it likes, on disk as well. */
import { Effect, Stream } from "effect"

/** The bytes of a file; it fails with what `lost` gives if the browser cannot read them any more. */
export const bytesOf = <E>(file: Blob, lost: () => E): Stream.Stream<Uint8Array, E> =>
  Stream.fromReadableStream<Uint8Array, E>({ evaluate: () => file.stream(), onError: lost })

/** The bytes that are handed to the browser at once. */
const handedOver = 4 * 1024 * 1024

/** Collects a stream, of which the memory of the page holds a small part at a time. */
export const blobOf = Effect.fnUntraced(function* <E, R>(content: Stream.Stream<Uint8Array, E, R>, type: string) {
  const made: Array<Blob> = []
  let parts: Array<Uint8Array<ArrayBuffer>> = []
  let bytes = 0
  const handOver = (): void => {
    made.push(new Blob(parts))
    parts = []
    bytes = 0
  }
  yield* Stream.runForEach(content, (part) =>
    Effect.sync(() => {
      parts.push(new Uint8Array(part))
      bytes += part.length
      if (bytes > handedOver) handOver()
    })
  )
  handOver()
  return new Blob(made, { type })
})
