/**
 * A key as it may be shown: where it comes from, and what tells it from others.
 */
import { Effect, Redacted } from "effect"
import { maskedKey } from "./Profile.ts"
import { KeySource, type Settings } from "./Settings.ts"

export const keyOrigin = KeySource.$match({
  Environment: () => "ROSTER_API_KEY",
  Profile: ({ name }) => `the profile ${name}`,
  File: ({ path }) => (path === "-" ? "standard input" : path),
  Command: ({ name }) => `a command of the profile ${name}`
})

/**
 * Reads the key of a service once, since standard input can be read only once and a command of the profile may ask for a
 * password: what is shown of it, and the services by it.
 */
export const openKey = Effect.fnUntraced(function* (on: Extract<Settings, { readonly _tag: "Remote" }>) {
  const { keyFrom, layer } = yield* Effect.promise(() => import("../target/RemoteTarget.ts"))
  const key = yield* keyFrom(on.key)
  return {
    shown: maskedKey(Redacted.value(key)),
    source: keyOrigin(on.key),
    services: layer({ ...on, key: KeySource.Environment({ key }) }, { dryRun: false })
  }
})
