/** The file of profiles in the user's configuration folder: private, replaced atomically and under a lock. */
import { SavedRules } from "@roster/domain"
import { Effect, Option, Path, Predicate, Record, Schema } from "effect"
import { writeLine } from "../files/AtomicFile.ts"
import { withLock } from "../files/FileLock.ts"
import { readTrusted } from "../files/TrustedFile.ts"
import { Profile, ProfileName } from "./Profile.ts"
import { usageError } from "../errors/UsageError.ts"
import { userFolder, userFolderPath } from "../files/UserFolder.ts"

/** The version of the file that this program reads and writes. A file without one has it. */
const fileVersion = 1

export const Configuration = Schema.Struct({
  version: Schema.optionalKey(Schema.Literal(fileVersion)),
  /** The profile in use by default. */
  profile: Schema.optionalKey(ProfileName),
  profiles: Schema.Record(Schema.String, Profile),
  /** Rules by their names. */
  rules: Schema.optionalKey(SavedRules)
})
export type Configuration = typeof Configuration.Type

const parse = Schema.decodeEffect(Schema.fromJsonString(Schema.Unknown))
const decode = Schema.decodeUnknownEffect(Configuration)
const encode = Schema.encodeEffect(Configuration)

const fileName = "config.json"

export const configPath = Effect.gen(function* () {
  const path = yield* Path.Path
  return path.join(yield* userFolderPath("config"), fileName)
})

interface Found {
  readonly config: Configuration
  /** The whole JSON value of the file, with fields that this version does not know. */
  readonly json: unknown
  /** The file itself, where `config.json` may be a symbolic link; `undefined` if there is none. */
  readonly path: string | undefined
}

const nothing: Found = { config: { profiles: {} }, json: {}, path: undefined }

const find = Effect.gen(function* () {
  const place = yield* Effect.option(configPath)
  if (Option.isNone(place)) return nothing
  const file = place.value
  const found = yield* readTrusted(file)
  if (found === undefined) return nothing
  // The errors quote nothing of the file, which may contain a key.
  const unreadable = () =>
    usageError(`${file} is not a profiles file.`, "Correct it, or move it and run: roster auth login")
  const json = yield* Effect.mapError(parse(found.text), unreadable)
  if (Predicate.hasProperty(json, "version") && json.version !== fileVersion) {
    return yield* usageError(
      `${file} has a version that this program does not know.`,
      "Use a newer roster, or move the file and run: roster auth login"
    )
  }
  return { config: yield* Effect.mapError(decode(json), unreadable), json, path: found.path } satisfies Found
})

/** The content of the file; empty if the file or the folder does not exist. */
export const readConfig = Effect.map(find, ({ config }) => config)

/** Adds those fields of the file that are not among the known ones: another version of this program wrote them. */
const withUnknown = (known: object, json: unknown, fields: object): object =>
  Predicate.isObject(json) ? { ...Record.filter(json, (_, name) => !Object.hasOwn(known, name)), ...fields } : fields

/** The JSON text of a changed configuration. */
const configText = Effect.fnUntraced(function* (after: Configuration, json: unknown) {
  const { profile, profiles, rules = {} } = yield* Effect.orDie(encode(after))
  const before = Predicate.hasProperty(json, "profiles") ? json.profiles : undefined
  const whole = withUnknown(Configuration.fields, json, {
    version: fileVersion,
    ...(profile === undefined ? {} : { profile }),
    ...(Object.keys(rules).length === 0 ? {} : { rules }),
    profiles: Record.map(profiles, (fields, name) =>
      withUnknown(Profile.fields, Predicate.hasProperty(before, name) ? before[name] : undefined, fields)
    )
  })
  return JSON.stringify(whole)
})

/** Changes the file, while no other command does. */
export const changeConfig = Effect.fnUntraced(function* <E, R>(
  change: (before: Configuration) => Effect.Effect<Configuration, E, R>
) {
  const path = yield* Path.Path
  // A folder that others can write is refused: to take their permission would make what they wrote look trusted.
  const { path: existing } = yield* find
  const folder = yield* userFolder("config")
  const file = existing ?? path.join(folder, fileName)
  const replace = Effect.gen(function* () {
    const { config, json } = yield* find
    const after = yield* change(config)
    // A killed command leaves keys in its temporary file: under a fixed name the next command overwrites it.
    yield* writeLine(file, yield* configText(after, json), { force: true, temporary: `${file}.new` })
    return after
  })
  return yield* withLock(file, replace)
})
