/**
 * The file of the store that belongs to the user: in the data folder of the platform, for this user alone.
 */
import { Effect, FileSystem, Path } from "effect"
import { UserDirectories } from "effect/persistence"
import { fileProblem } from "./FileProblem.ts"
import { usageError } from "./UsageError.ts"

/**
 * Its path, once its folder is there.
 *
 * @category files
 * @since 0.1.0
 */
export const defaultStore = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = yield* UserDirectories.make()
    .data("roster")
    .pipe(
      Effect.mapError(() =>
        usageError("The data folder of this user is not known.", "Set HOME, or name a file with --db.")
      )
    )
  yield* fs
    .makeDirectory(folder, { recursive: true, mode: 0o700 })
    .pipe(Effect.mapError(fileProblem(folder, "written")))
  return path.join(folder, "roster.db")
})
