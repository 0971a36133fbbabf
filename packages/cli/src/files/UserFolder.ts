/**
 * The folders of this user, by the conventions of the platform: for this user alone.
 */
import { Effect, FileSystem } from "effect"
import { UserDirectories } from "effect/persistence"
import { fileProblem } from "../errors/FileProblem.ts"
import { usageError } from "../errors/UsageError.ts"

/** Where a folder of this user is, whether it is there or not. */
export const userFolderPath = (kind: "config" | "data" | "state") => {
  const directories = UserDirectories.make()
  return Effect.mapError(directories[kind]("roster"), () =>
    usageError(`The ${kind} folder of this user is unknown.`, "Set HOME and try again.")
  )
}

/**
 * The same folder, made where it is missing. One that others could enter is closed to them: what is in it was never meant
 * for them.
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
