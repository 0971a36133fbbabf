/** The store file of a command, and the database of commands without a remote operation: jobs and backups. */
import { Effect, FileSystem, Layer, Path, References } from "effect"
import { Argument } from "effect/cli"
import { usageError } from "../errors/UsageError.ts"
import { userFolder } from "../files/UserFolder.ts"
import { settings } from "../settings/Settings.ts"
import { Output } from "../terminal/Output.ts"
import { Target } from "./Target.ts"

/** The server, loaded only by the commands that need it. */
export const server = Effect.promise(() => import("@roster/server"))

/** The path of the user's own store, in the data folder of the platform. The folder is created if it is missing. */
export const defaultStore = Effect.gen(function* () {
  const path = yield* Path.Path
  return path.join(yield* userFolder("data"), "roster.db")
})

/** The given or the default store. The default and every new store are announced, since either may be a mistake. */
export const storeFile = Effect.fnUntraced(function* (given: string | undefined) {
  const output = yield* Output
  const filename = given ?? (yield* defaultStore)
  const fs = yield* FileSystem.FileSystem
  const isNew = filename !== ":memory:" && !(yield* Effect.orElseSucceed(fs.exists(filename), () => true))
  if (isNew) yield* output.note(`[local] ${filename}, a new store`)
  else if (given === undefined) yield* output.note(`[local] ${filename}`)
  return filename
})

const refuseService = Effect.fail(
  usageError(
    "This command needs a local store: the interface of a service has no operation for it.",
    "Run it on the machine of the store, with --db FILE, and without --base-url, ROSTER_BASE_URL or a profile."
  )
)

/** The file of the store, for a command that works on an embedded store alone. The address of a service is refused. */
export const embeddedStoreFile = Effect.gen(function* () {
  // An address without a key is refused for the address.
  const on = yield* Effect.catchTag(settings, "MissingKey", () => refuseService)
  return on._tag === "Local" ? yield* storeFile(on.filename) : yield* refuseService
})

/** The database of that store, which other processes may serve at the same time. */
export const layer = Layer.unwrap(
  Effect.gen(function* () {
    const filename = yield* embeddedStoreFile
    const { Store } = yield* server
    return Store.layer({ filename }).pipe(
      // Failures reach the user as errors; the log is for operators.
      Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
      Layer.merge(Layer.succeed(Target, { name: `[local] ${filename}` }))
    )
  })
)

/** The jobs of that store. This layer runs none: `roster serve` does, and a command that waits for its own job. */
export const layerJobs = Layer.unwrap(Effect.map(server, ({ Jobs }) => Jobs.layer)).pipe(Layer.provideMerge(layer))

export const jobId = Argument.String("id").pipe(
  Argument.withDescription("Id of the job, as shown by: roster jobs list")
)
