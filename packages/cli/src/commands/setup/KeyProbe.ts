/** What a service says of a key: what it may do, and the version that whoever has a key is told. */
import { versionHeader } from "@roster/api"
import { RosterClient } from "@roster/http-client"
import { probeAccess } from "@roster/workflows"
import { Effect } from "effect"
import { HttpClient } from "effect/http"
import type { Settings } from "../../settings/Settings.ts"
import { openKey } from "../../target/TargetLayer.ts"

/** Probes the key of the settings, which is read once. */
export const probeKey = Effect.fnUntraced(function* (on: Extract<Settings, { readonly _tag: "Remote" }>) {
  const { services, ...key } = yield* openKey(on)
  let version: string | undefined
  const ask = probeAccess().pipe(
    RosterClient.withClientTransform(
      HttpClient.tap(({ headers }) =>
        Effect.sync(() => {
          version ??= headers[versionHeader]
        })
      )
    ),
    Effect.provide(services)
  )
  return { ...key, ask: Effect.map(ask, (levels) => ({ levels, version })) }
})
