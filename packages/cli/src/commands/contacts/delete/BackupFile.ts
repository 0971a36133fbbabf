/** Backup files, which keep contacts before they are deleted. */
import { readBackup } from "@roster/workflows"
import { DateTime, Effect, Path } from "effect"
import { readBytes } from "../../../settings/InputFile.ts"
import { stateFolder } from "../../../files/UserFolder.ts"

/** A name for a new backup in the user's state folder. */
export const defaultBackup = Effect.gen(function* () {
  const path = yield* Path.Path
  const time = DateTime.formatIso(yield* DateTime.now).replaceAll(/[-:]|\.\d+/g, "")
  return path.join(yield* stateFolder("backups"), `contacts-${time}-${crypto.randomUUID().slice(0, 8)}.json`)
})

/** The contacts in a backup, read anew each time that the stream runs. */
export const contactsIn = (file: string) => Effect.map(readBytes(file), readBackup)
