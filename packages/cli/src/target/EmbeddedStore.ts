/** The store file of a command, and the database of commands without a remote operation: lists and backups. */
import { Effect, FileSystem, Layer, Path, References, Schema } from "effect"
import { usageError } from "../errors/UsageError.ts"
import { userFolder, userFolderPath } from "../files/UserFolder.ts"
import { settings } from "../settings/Settings.ts"
import { Output } from "../terminal/Output.ts"
import { type ForWrites, Target } from "./Target.ts"

/** The server, loaded only by the commands that need it. */
export const server = Effect.promise(() => import("@roster/server"))

const fileName = "roster.db"

/** The path of the user's own store, in the data folder of the platform. */
export const defaultStorePath = Effect.gen(function* () {
  const path = yield* Path.Path
  return path.join(yield* userFolderPath("data"), fileName)
})

/** The path of the user's own store, whose folder is created if it is missing. */
export const defaultStore = Effect.gen(function* () {
  const path = yield* Path.Path
  return path.join(yield* userFolder("data"), fileName)
})

/** A store without a file. */
export const memory = ":memory:"

/** A command that only reads, changes or deletes was led to a store that does not exist. Exit code 5. */
export class NoStore extends Schema.TaggedError<NoStore>()("NoStore", { filename: Schema.String }) {
  override get message(): string {
    return `There is no store at ${this.filename} yet.`
  }
}

/** Whether there is a store at this path. */
export const storeExists = Effect.fnUntraced(function* (filename: string) {
  const fs = yield* FileSystem.FileSystem
  return filename === memory || (yield* Effect.orElseSucceed(fs.exists(filename), () => true))
})

/** The path of the given or the default store, and whether it is there. */
export const storeAt = Effect.fnUntraced(function* (given: string | undefined) {
  const filename = given ?? (yield* defaultStorePath)
  return { filename, exists: yield* storeExists(filename) }
})

/** The store that the settings lead to; `undefined` if that is a service, or not there. */
export const existingStore = Effect.gen(function* () {
  const on = yield* settings
  if (on._tag !== "Local") return undefined
  const { exists, filename } = yield* storeAt(on.filename)
  return exists ? filename : undefined
})

/** The given or the default store. The default and every new store are announced, since either may be a mistake. */
export const storeFile = Effect.fnUntraced(function* (given: string | undefined) {
  const output = yield* Output
  const filename = given ?? (yield* defaultStore)
  if (!(yield* storeExists(filename))) yield* output.noteTarget(`[local] ${filename}, a new store`)
  else if (given === undefined) yield* output.noteTarget(`[local] ${filename}`)
  return filename
})

/** The name of that store, and the file to open: a dry run opens an empty store in memory in place of one that is not made. */
export const storeToOpen = Effect.fnUntraced(function* (given: string | undefined, { dryRun, makesStore }: ForWrites) {
  const { exists, filename: name } = yield* storeAt(given)
  if (!exists && makesStore !== true) return yield* new NoStore({ filename: name })
  if (exists || dryRun !== true) {
    const filename = yield* storeFile(given)
    return { name: filename, filename }
  }
  yield* (yield* Output).noteTarget(`[local] ${name} does not exist yet, and is not created by a dry run`)
  return { name, filename: memory }
})

const storeLayer = (filename: string) =>
  Layer.unwrap(
    Effect.map(server, ({ Store }) =>
      // Failures reach the user as errors; the log is for operators.
      Layer.provide(Store.layer({ filename, readOnly: true }), Layer.succeed(References.MinimumLogLevel, "None"))
    )
  )

/** The refusal of a service that has no operation for what only a store can do. */
export const refuseService = Effect.fail(
  usageError(
    "This command needs a local store: the interface of a service has no operation for it.",
    "Run it on the machine of the store, with --db FILE, and without --base-url, ROSTER_BASE_URL or a profile."
  )
)

/** The store of the settings, for a command that works on an embedded store alone. The address of a service is refused. */
const localStore = Effect.gen(function* () {
  // An address without a key is refused for the address.
  const on = yield* Effect.catchTag(settings, "MissingKey", () => refuseService)
  return on._tag === "Local" ? on.filename : yield* refuseService
})

/** The file of that store. */
export const embeddedStoreFile = (forWrites: ForWrites) =>
  Effect.map(
    Effect.flatMap(localStore, (given) => storeToOpen(given, forWrites)),
    ({ filename }) => filename
  )

/** The database of that store, to read it, which other processes may serve at the same time. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const { filename, name } = yield* storeToOpen(yield* localStore, {})
    return Layer.merge(storeLayer(filename), Layer.succeed(Target, { name: `[local] ${name}` }))
  })
)
