/** Private temporary files, and what is said if one cannot be used. */
import { Effect, FileSystem, Path, PlatformError, Sink } from "effect"
import { fileProblem } from "../errors/FileProblem.ts"

/** Explains the failures of an effect that reads or writes a temporary file; `what` is kept in it. */
export const temporaryProblem =
  (what: string) =>
  <A, E, R>(effect: Effect.Effect<A, E | PlatformError.PlatformError, R>) =>
    Effect.catchIf(effect, PlatformError.isPlatformError, (error) =>
      Effect.fail(fileProblem(`A temporary file for ${what}`, "written")(error))
    )

/** The path of a temporary file that goes with the scope. */
export const temporaryPath = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return path.join(yield* fs.makeTempDirectoryScoped({ prefix: "roster-" }), name)
})

/** Writes a temporary file for its owner alone. */
export const temporarySink = (
  file: string
): Sink.Sink<void, Uint8Array, never, PlatformError.PlatformError, FileSystem.FileSystem> =>
  Sink.unwrap(Effect.map(FileSystem.FileSystem, (fs) => fs.sink(file, { flag: "wx", mode: 0o600 })))
