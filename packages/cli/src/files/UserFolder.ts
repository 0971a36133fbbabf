/** The user's folders by the conventions of the platform, which the user alone can enter. */
import { Effect, FileSystem, Path } from "effect"
import { UserDirectories } from "effect/persistence"
import { fileProblem } from "../errors/FileProblem.ts"
import { usageError } from "../errors/UsageError.ts"

/** The path of a folder, which need not exist. */
export const userFolderPath = (kind: "config" | "data" | "state") => {
  const directories = UserDirectories.make()
  return Effect.mapError(directories[kind]("roster"), () =>
    usageError(`The ${kind} folder of this user is unknown.`, "Set HOME and try again.")
  )
}

/**
 * The path of a folder, which is created if it is missing. Permissions of other users are removed: its content is private.
 */
export const userFolder = Effect.fnUntraced(function* (kind: "config" | "data" | "state") {
  const fs = yield* FileSystem.FileSystem
  const folder = yield* userFolderPath(kind)
  yield* Effect.gen(function* () {
    yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
    const { mode } = yield* fs.stat(folder)
    if ((mode & 0o077) !== 0) yield* fs.chmod(folder, 0o700)
  }).pipe(Effect.mapError(fileProblem(folder, "written")))
  return folder
})

/** A folder for one kind of files in the user's state folder, made if it is missing. */
export const stateFolder = Effect.fnUntraced(function* (name: string) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(yield* userFolder("state"), name)
  yield* fs
    .makeDirectory(folder, { recursive: true, mode: 0o700 })
    .pipe(Effect.mapError(fileProblem(folder, "written")))
  return folder
})
