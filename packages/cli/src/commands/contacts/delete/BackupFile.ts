/**
 * The files that keep contacts before they are deleted.
 */
import { readBackup } from "@roster/workflows"
import { DateTime, Effect, FileSystem, Path } from "effect"
import { fileProblem } from "../../../errors/FileProblem.ts"
import { readBytes } from "../../../settings/InputFile.ts"
import { userFolder } from "../../../files/UserFolder.ts"

/** A name for a new one, in the folder of this user's state. */
export const defaultBackup = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const folder = path.join(yield* userFolder("state"), "backups")
  yield* fs
    .makeDirectory(folder, { recursive: true, mode: 0o700 })
    .pipe(Effect.mapError(fileProblem(folder, "written")))
  const time = DateTime.formatIso(yield* DateTime.now).replaceAll(/[-:]|\.\d+/g, "")
  return path.join(folder, `contacts-${time}-${crypto.randomUUID().slice(0, 8)}.json`)
})

/** The contacts in one, read anew each time that it is run. */
export const contactsIn = (file: string) => Effect.map(readBytes(file), readBackup)
