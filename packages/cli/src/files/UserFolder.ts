/** The user's folders by the conventions of the platform, which the user alone can enter. */
import { distrustOf } from "@roster/domain/internal"
import { Effect, FileSystem, Option, Path, PlatformError } from "effect"
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

/** Creates a folder if it is missing, and closes it to other users, none of whom may own it: its content is private. */
const privateFolder = Effect.fnUntraced(
  function* (folder: string) {
    const fs = yield* FileSystem.FileSystem
    yield* fs.makeDirectory(folder, { recursive: true, mode: 0o700 })
    const { mode, uid } = yield* fs.stat(folder)
    const owner = Option.getOrElse(uid, () => 0)
    if (distrustOf({ mode: 0, uid: owner }, process.getuid?.()) !== undefined) {
      return yield* usageError(
        `${folder} belongs to another user (uid ${owner}), who could change what is kept in it.`,
        "Run the command as that user, or set HOME to a folder of this user."
      )
    }
    if ((mode & 0o077) !== 0) yield* fs.chmod(folder, 0o700)
    return folder
  },
  (effect, folder) =>
    Effect.catchIf(effect, PlatformError.isPlatformError, (error) => Effect.fail(fileProblem(folder, "written")(error)))
)

/** The path of a folder, which is created if it is missing. */
export const userFolder = (kind: "config" | "data" | "state") => Effect.flatMap(userFolderPath(kind), privateFolder)

/** A folder for one kind of files in the user's state folder, created if it is missing. */
export const stateFolder = Effect.fnUntraced(function* (name: string) {
  const path = yield* Path.Path
  return yield* privateFolder(path.join(yield* userFolder("state"), name))
})
