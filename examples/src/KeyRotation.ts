/**
 * Replaces the secret of an API key from a job, which ends at once. The old secret works for a week from then on and ends by
 * itself. A job that was killed leaves nothing to clean up: the next one goes on by the names of the keys.
 */
import { rotateApiKey } from "@roster/workflows"
import { Context, Effect, type Redacted } from "effect"

/** Where programs take their secrets from, such as the secret manager of a cloud. */
export class SecretStore extends Context.Service<
  SecretStore,
  {
    /** Keeps a secret; it must survive the process once this has ended. */
    readonly put: (name: string, secret: Redacted.Redacted<string>) => Effect.Effect<void>
  }
>()("@roster/examples/SecretStore") {}

/** The job: run it as often as secrets are to change. */
export const rotateKey = Effect.fn("rotateKey")(function* (name: string) {
  const secrets = yield* SecretStore
  return yield* rotateApiKey(name, { deliver: ({ token }) => secrets.put(name, token), grace: "7 days" })
})
