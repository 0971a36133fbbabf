/** The bytes of what the browser keeps as it likes, on disk as well. */
import { Effect, Stream } from "effect"
import { ImportProblem } from "./ImportCalls.ts"

/** A file cannot be read any more. */
export const lost = () =>
  new ImportProblem({ message: "The browser cannot read the file any more. It was changed or moved; choose it again." })

/** The bytes of a file. */
export const bytesOf = (file: Blob): Stream.Stream<Uint8Array, ImportProblem> =>
  Stream.fromReadableStream<Uint8Array, ImportProblem>({ evaluate: () => file.stream(), onError: lost })

/** Collects a stream. */
export const blobOf = Effect.fnUntraced(function* <E>(content: Stream.Stream<Uint8Array, E>, type: string) {
  return new Blob(
    (yield* Stream.runCollect(content)).map((part) => new Uint8Array(part)),
    { type }
  )
})
