/** The layers of the services, each on a fresh store that allows senders of `example.com`. */
import * as NodeServices from "@effect/platform-node/NodeServices"
import type { ContactsService, RunsService } from "@roster/domain"
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
import { RunLog } from "@roster/workflows"
import { Context, Effect, FileSystem, Layer, Path, type Redacted } from "effect"

/** The options of a store that is tested. On a machine that is busy no rule is stopped, since a scan that is cut counts fewer. */
export const testedStore = { allowedSenders: ["*@example.com"], ruleDeadline: "10 minutes" } as const

/** A database file in a temporary folder of the scope. */
const freshFile = Effect.gen(function* () {
  const fileSystem = yield* FileSystem.FileSystem
  const path = yield* Path.Path
  return path.join(yield* fileSystem.makeTempDirectoryScoped({ prefix: "roster-" }), "roster.db")
})

/** Services with the log of their runs, which the service records itself if it is one of ours. */
export const withRuns = <A, E, R>(services: Layer.Layer<A | ContactsService | RunsService, E, R>) =>
  Layer.provideMerge(RunLog.layer, services)

/** The SQL layer in memory. */
export const layerMemory = serverMemory(testedStore)

/** What differs from the store of the conformance suite. */
type Options = Omit<StoreOptions, "filename" | "allowedSenders">

const sqlOn = (filename: string, options?: Options) => SqlServices.layer({ ...testedStore, ...options, filename })

const embeddedOn = (filename: string, options?: Options) =>
  RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
    Layer.provide(EmbeddedHttpClient.layer({ ...testedStore, ...options, filename }))
  )

/** The service that a test started, for what needs its address or key: another client, or settings. */
export class ServedRoster extends Context.Service<
  ServedRoster,
  {
    /** The base address, on a free port of this machine. */
    readonly baseUrl: string
    /** The administrator key; none on a store that had one already. */
    readonly apiKey: Redacted.Redacted<string> | undefined
  }
>()("@roster/testing/ServiceLayers") {}

/** The HTTP client in front of a server on a store, over a real socket, with the administrator key of the fresh store. */
export const servedOn = (store: StoreOptions | PostgresStoreOptions) =>
  Layer.unwrap(
    Effect.gen(function* () {
      let apiKey: Redacted.Redacted<string> | undefined
      const server = yield* Layer.build(
        RosterServer.layer({
          port: 0,
          store: { ...testedStore, ...store },
          onAdministratorKey: (key) =>
            Effect.sync(() => {
              apiKey = key
            })
        })
      )
      const { address } = Context.get(server, RosterServer.RosterServer)
      const served = { baseUrl: address, apiKey }
      return Layer.merge(withRuns(RosterClient.layer(served)), Layer.succeed(ServedRoster, served))
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

/**
 * Socket, client and key in one: the HTTP client in front of a server on a new file, with `ServedRoster` and the log of
 * runs.
 */
export const layerServed = layerServedWith({})
