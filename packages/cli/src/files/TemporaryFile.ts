/** A private temporary file for input that can be read only once. */
import { Effect, FileSystem, Path, PlatformError, Stream } from "effect"
import { fileProblem } from "../errors/FileProblem.ts"

/** Copies a stream to a temporary file that its owner alone can read, and returns its path. The file is removed with the scope. */
export const temporaryCopy = Effect.fnUntraced(
  function* <E, R>(content: Stream.Stream<Uint8Array, E, R>) {
    const fs = yield* FileSystem.FileSystem
    const path = yield* Path.Path
    const copy = path.join(yield* fs.makeTempDirectoryScoped({ prefix: "roster-import-" }), "content")
    yield* Effect.scoped(
      Effect.gen(function* () {
        const file = yield* fs.open(copy, { flag: "wx", mode: 0o600 })
        yield* Stream.runForEach(content, (part) => file.writeAll(part))
      })
    )
    return copy
  },
  Effect.catchIf(PlatformError.isPlatformError, (error) =>
    Effect.fail(fileProblem("A temporary file for what comes from a pipe", "written")(error))
  )
)
