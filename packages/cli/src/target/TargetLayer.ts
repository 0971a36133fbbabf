/** Provides the services from the target that the settings name, and loads only the code of that target. */
import { Connection } from "@roster/connect"
import { Effect, Layer, Path, Redacted, References } from "effect"
import type { HttpClient } from "effect/http"
import { keyFrom, keyOrigin, KeySource, maskedKey, MissingKey } from "../settings/ApiKeySource.ts"
import { readConfig } from "../settings/ConfigFile.ts"
import * as GlobalFlags from "../settings/GlobalFlags.ts"
import { settings, type Settings } from "../settings/Settings.ts"
import { Output } from "../terminal/Output.ts"
import { storeToOpen } from "./EmbeddedStore.ts"
import { type ForWrites, Target } from "./Target.ts"

type Wrap = (client: HttpClient.HttpClient) => HttpClient.HttpClient

const optionsFor = Effect.fnUntraced(function* ({ dryRun }: ForWrites) {
  const isPersonal = yield* GlobalFlags.debugHttpPersonal
  const wraps: ReadonlyArray<Wrap> = [
    ...(isPersonal || (yield* GlobalFlags.debugHttp)
      ? [(yield* Effect.promise(() => import("./DebugClient.ts"))).debugClient(yield* Output, isPersonal)]
      : []),
    ...(dryRun ? [(yield* Effect.promise(() => import("./DryRunClient.ts"))).dryRunClient] : [])
  ]
  return wraps.length === 0
    ? {}
    : { transformClient: (client: HttpClient.HttpClient) => wraps.reduce((inner, wrap) => wrap(inner), client) }
})

type Remote = Extract<Settings, { readonly _tag: "Remote" }>

const layerRemote = ({ key: source, ...on }: Remote, forWrites: ForWrites) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const key = yield* keyFrom(source)
      if (Redacted.value(key).trim() === "") {
        return yield* new MissingKey({ message: "The API key is empty.", baseUrl: on.baseUrl })
      }
      return Connection.layerRemote({ ...on, key }, yield* optionsFor(forWrites))
    })
  ).pipe(Layer.merge(Layer.succeed(Target, { name: on.baseUrl })))

const layerLocal = (given: string | undefined, forWrites: ForWrites) =>
  Layer.unwrap(
    Effect.gen(function* () {
      const { filename, name } = yield* storeToOpen(given, forWrites)
      const { allowedSenders = [] } = yield* readConfig
      const path = yield* Path.Path
      return Connection.layerLocal(filename, { ...(yield* optionsFor(forWrites)), store: { allowedSenders } }).pipe(
        // Failures reach the user as errors; the log is for operators.
        Layer.provide(Layer.succeed(References.MinimumLogLevel, "None")),
        Layer.merge(Layer.succeed(Target, { name: `[local] ${name}`, identity: `[local] ${path.resolve(name)}` }))
      )
    })
  )

/** For a command that changes something. With `dryRun` the first request that would change something is shown, not sent. */
export const layerForWrites = (forWrites: ForWrites) =>
  Layer.unwrap(
    Effect.map(
      settings,
      Connection.$match({
        Remote: (on) => layerRemote(on, forWrites),
        Local: ({ filename }) => layerLocal(filename, forWrites)
      })
    )
  )

export const layer = layerForWrites({ dryRun: false })

/** A service, called with this key instead of the configured one. */
export const layerWithKey = (
  { apiKeyHeader, apiKeyPrefix, baseUrl }: Connection.Given & { readonly baseUrl: string },
  key: Redacted.Redacted<string>
) => {
  const source = KeySource.Environment({ key })
  return layerRemote(Connection.Remote({ baseUrl, key: source, apiKeyHeader, apiKeyPrefix }), { dryRun: false })
}

/** Reads a key once, since stdin or a password prompt cannot repeat; gives its visible part, source and services. */
export const openKey = Effect.fnUntraced(function* (remote: Remote) {
  const key = yield* keyFrom(remote.key)
  return {
    shown: maskedKey(Redacted.value(key)),
    source: keyOrigin(remote.key),
    services: layerWithKey(remote, key)
  }
})
