/** The file of profiles in the user's configuration folder: private, replaced atomically and under a lock. */
import { Effect, FileSystem, Option, Path, Schema } from "effect"
import { writeLine } from "../files/AtomicFile.ts"
import { readOptional, withLock } from "../files/FileLock.ts"
import { Profile, ProfileName } from "./Profile.ts"
import { usageError } from "../errors/UsageError.ts"
import { userFolder, userFolderPath } from "../files/UserFolder.ts"

export const Configuration = Schema.Struct({
  /** The profile in use by default. */
  profile: Schema.optionalKey(ProfileName),
  profiles: Schema.Record(Schema.String, Profile)
})
export type Configuration = typeof Configuration.Type

const text = Schema.fromJsonString(Configuration)
const decode = Schema.decodeEffect(text)
const encode = Schema.encodeEffect(text)

const fileName = "config.json"

const none: Configuration = { profiles: {} }

export const configPath = Effect.gen(function* () {
  const path = yield* Path.Path
  return path.join(yield* userFolderPath("config"), fileName)
})

/** The content of the file; empty if the file or the folder does not exist. */
export const readConfig = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const place = yield* Effect.option(configPath)
  if (Option.isNone(place)) return none
  const file = place.value
  const content = yield* readOptional(fs, file)
  if (Option.isNone(content)) return none
  // The error quotes nothing of the file, which may contain a key.
  return yield* Effect.mapError(decode(content.value), () =>
    usageError(`${file} is not a profiles file.`, "Correct it, or move it and run: roster auth login")
  )
})

/** Changes the file, while no other command does. */
export const changeConfig = Effect.fnUntraced(function* <E, R>(
  change: (before: Configuration) => Effect.Effect<Configuration, E, R>
) {
  const path = yield* Path.Path
  const file = path.join(yield* userFolder("config"), fileName)
  const replace = Effect.gen(function* () {
    const after = yield* change(yield* readConfig)
    // A killed command leaves keys in its temporary file: under a fixed name the next command overwrites it.
    yield* writeLine(file, yield* Effect.orDie(encode(after)), { force: true, temporary: `${file}.new` })
    return after
  })
  return yield* withLock(file, replace)
})
