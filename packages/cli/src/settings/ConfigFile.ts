/**
 * The file of profiles, in the configuration folder of the user: read by its owner alone, replaced as a whole, by one
 * command at a time.
 */
import { Effect, FileSystem, Option, Path, Schema } from "effect"
import { fileProblem } from "../errors/FileProblem.ts"
import { readOptional, withLock } from "../files/FileLock.ts"
import { Profile, ProfileName } from "./Profile.ts"
import { usageError } from "../errors/UsageError.ts"
import { userFolder, userFolderPath } from "../files/UserFolder.ts"

export const Configuration = Schema.Struct({
  /** The profile in use where none is named. */
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

/** What the file says; nothing where there is none, or where this user has no folder for it. */
export const readConfig = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  const place = yield* Effect.option(configPath)
  if (Option.isNone(place)) return none
  const file = place.value
  const content = yield* readOptional(fs, file)
  if (Option.isNone(content)) return none
  // What is wrong is not quoted: there may be a key in it.
  return yield* Effect.mapError(decode(content.value), () =>
    usageError(`${file} is not a profiles file.`, "Correct it, or move it and run: roster auth login")
  )
})

/** Changes the file. It is written beside the old one and takes its name when it is on the disk. */
export const changeConfig = Effect.fnUntraced(function* <E, R>(
  change: (before: Configuration) => Effect.Effect<Configuration, E, R>
) {
  const fs = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  const file = path.join(yield* userFolder("config"), fileName)
  const replace = Effect.gen(function* () {
    const after = yield* change(yield* readConfig)
    const content = new TextEncoder().encode(`${yield* Effect.orDie(encode(after))}\n`)
    // One name will do while the lock is held, and what a killed command left there is written over.
    const draft = `${file}.new`
    yield* Effect.scoped(
      Effect.gen(function* () {
        const open = yield* fs.open(draft, { flag: "w", mode: 0o600 })
        yield* open.writeAll(content)
        yield* open.sync
      })
    ).pipe(
      Effect.andThen(fs.rename(draft, file)),
      Effect.onError(() => Effect.ignore(fs.remove(draft, { force: true }))),
      Effect.mapError(fileProblem(file, "written"))
    )
    return after
  })
  return yield* withLock(file, replace)
})
