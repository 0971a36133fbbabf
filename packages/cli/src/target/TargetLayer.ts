/** Provides the services from the target that the settings name, and loads only the code of that target. */
import { Effect, Layer, Redacted } from "effect"
import { keyFrom, keyOrigin, KeySource, maskedKey } from "../settings/ApiKeySource.ts"
import { type Given, settings, Settings } from "../settings/Settings.ts"

const remoteTarget = Effect.promise(() => import("./RemoteTarget.ts"))
const localTarget = Effect.promise(() => import("./LocalTarget.ts"))

/** For a command that changes something. With `dryRun` the first request that would change something is shown, not sent. */
export const layerForWrites = ({ dryRun }: { readonly dryRun: boolean }) =>
  Layer.unwrap(
    Effect.map(
      settings,
      Settings.$match({
        Remote: (remote) => Layer.unwrap(Effect.map(remoteTarget, ({ layer }) => layer(remote, { dryRun }))),
        Local: ({ filename }) => Layer.unwrap(Effect.map(localTarget, ({ layer }) => layer(filename, { dryRun })))
      })
    )
  )

export const layer = layerForWrites({ dryRun: false })

/** A service, called with this key instead of the configured one. */
export const layerWithKey = (
  { apiKeyHeader, apiKeyPrefix, baseUrl }: Given & { readonly baseUrl: string },
  key: Redacted.Redacted<string>
) => {
  const remote = Settings.Remote({ baseUrl, key: KeySource.Environment({ key }), apiKeyHeader, apiKeyPrefix })
  return Layer.unwrap(Effect.map(remoteTarget, ({ layer }) => layer(remote, { dryRun: false })))
}

/** Reads a key once, since stdin or a password prompt cannot repeat; gives its visible part, source and services. */
export const openKey = Effect.fnUntraced(function* (remote: Extract<Settings, { readonly _tag: "Remote" }>) {
  const key = yield* keyFrom(remote.key)
  return {
    shown: maskedKey(Redacted.value(key)),
    source: keyOrigin(remote.key),
    services: layerWithKey(remote, key)
  }
})
