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

/** Creates a folder if it is missing, and removes the permissions of other users: its content is private. */
const privateFolder = Effect.fnUntraced(function* (folder: string) {
  const fs = yield* FileSystem.FileSystem
  yield* Effect.gen(function* () {
    yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
    const { mode } = yield* fs.stat(folder)
    if ((mode & 0o077) !== 0) yield* fs.chmod(folder, 0o700)
  }).pipe(Effect.mapError(fileProblem(folder, "written")))
  return folder
})

/** The path of a folder, which is created if it is missing. */
export const userFolder = (kind: "config" | "data" | "state") => Effect.flatMap(userFolderPath(kind), privateFolder)

/** A folder for one kind of files in the user's state folder, created if it is missing. */
export const stateFolder = Effect.fnUntraced(function* (name: string) {
  const path = yield* Path.Path
  return yield* privateFolder(path.join(yield* userFolder("state"), name))
})
