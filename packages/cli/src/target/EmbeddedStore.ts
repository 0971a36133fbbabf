/**
 * The store that a command works on which no service over the network has an operation for: its jobs, its backups.
 */
import { Effect, FileSystem, Layer, References } from "effect"
import { defaultStore } from "./LocalStore.ts"
import { Output } from "../terminal/Output.ts"
import { settings } from "../settings/Settings.ts"
import { Target } from "./Target.ts"
import { usageError } from "../errors/UsageError.ts"

/** The server, loaded only for the commands that need it. */
export const server = Effect.promise(() => import("@roster/server"))

/**
 * The file that is meant. Without one it is the store of the user's data folder, and says so, since somebody may have meant
 * a real service; and that it is a new one is said of any.
 */
export const storeFile = Effect.fnUntraced(function* (given: string | undefined) {
  const output = yield* Output
  const filename = given ?? (yield* defaultStore)
  // A mistyped name would look like a store in which everything is gone.
  const fs = yield* FileSystem.FileSystem
  const isNew = filename !== ":memory:" && !(yield* Effect.orElseSucceed(fs.exists(filename), () => true))
  if (isNew) yield* output.note(`[local] ${filename}, a new store`)
  else if (given === undefined) yield* output.note(`[local] ${filename}`)
  return filename
})

const elsewhere = Effect.fail(
  usageError(
    "This command needs a local store: the interface of a service has no operation for it.",
    "Run it on the machine of the store, with --db FILE, and without --base-url, ROSTER_BASE_URL or a profile."
  )
)

/** The same for a command that works on an embedded store alone: an address is refused, with the reason. */
export const embeddedStoreFile = Effect.gen(function* () {
  // An address is refused, whether there is a key for it or not.
  const on = yield* Effect.catchTag(settings, "MissingKey", () => elsewhere)
  return on._tag === "Local" ? yield* storeFile(on.filename) : yield* elsewhere
})

/** The database of that store. A process that serves it may go on meanwhile. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const filename = yield* embeddedStoreFile
    const { Store } = yield* server
    return Store.layer({ filename }).pipe(
      // What goes wrong reaches the user as an error; the log of a service is for whoever runs one.
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
      Layer.merge(Layer.succeed(Target, { name: `[local] ${filename}` }))
    )
  })
)
