/** The layers of the services, each on a fresh store that allows senders of `example.com`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import { RosterClient } from "@roster/http-client"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import {
  EmbeddedHttpClient,
  layerMemory as serverMemory,
  type PostgresStoreOptions,
  RosterServer,
  SqlServices,
  type StoreOptions
} from "@roster/server"
import { Context, Effect, FileSystem, Layer, Path, type Redacted } from "effect"

const allowedSenders = ["*@example.com"]

/** A database file in a temporary folder of the scope. */
const freshFile = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return path.join(yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-" }), "roster.db")
})

/** The SQL layer in memory. */
export const layerMemory = serverMemory({ allowedSenders })

/** What differs from the store of the conformance suite. */
type Options = Omit<StoreOptions, "filename" | "allowedSenders">

const sqlOn = (filename: string, options?: Options) => SqlServices.layer({ ...options, filename, allowedSenders })

const embeddedOn = (filename: string, options?: Options) =>
  RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
    Layer.provide(EmbeddedHttpClient.layer({ ...options, filename, allowedSenders }))
  )

/** The HTTP client in front of a server on a store, over a real socket, with the administrator key of the fresh store. */
export const servedOn = (store: StoreOptions | PostgresStoreOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      let apiKey: Redacted.Redacted<string> | undefined
      const server = yield* Layer.build(
        RosterServer.layer({
          port: 0,
          store: { ...store, allowedSenders },
          onAdministratorKey: (key) =>
            Effect.sync(() => {
              apiKey = key
            })
        })
      )
      const { address } = Context.get(server, RosterServer.RosterServer)
      return RosterClient.layer({ baseUrl: address, apiKey })
    })
  ).pipe(Layer.provide([UndiciHttpClient.layer(), NodeServices.layer]))

/** The layers on a new database file of a given name, for tests that look into it. */
export const layersOn = {
  "SQL on a file": sqlOn,
  "HTTP client, server, SQL on a file, in one process": embeddedOn,
  "HTTP client, server, SQL on a file, over a socket": (filename: string, options?: Options) =>
    servedOn({ ...options, filename })
} as const

/** The SQL layer on a file. */
export const layerFile = Layer.unwrap(Effect.map(freshFile, (filename) => sqlOn(filename))).pipe(
  Layer.provide(NodeServices.layer)
)

/** The HTTP client in front of an in-process server, without a socket. */
export const layerEmbedded = Layer.unwrap(Effect.map(freshFile, (filename) => embeddedOn(filename))).pipe(
  Layer.provide(NodeServices.layer)
)

/** The HTTP client in front of a server on a new file, with options of its store. */
export const layerServedWith = (options: Options) =>
  Layer.unwrap(Effect.map(freshFile, (filename) => servedOn({ ...options, filename }))).pipe(
    Layer.provide(NodeServices.layer)
  )

/** The HTTP client in front of a server on a new file. */
export const layerServed = layerServedWith({})
