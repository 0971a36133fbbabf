/**
 * Replaces the secret of an API key from a job. At every moment there is a secret that works: the old one is deleted only
 * when nobody uses it any more. A job that was stopped resumes when it runs again, by the log of runs: provide
 * `RunFiles.layer` of `@roster/workflows/RunFiles` with a folder that outlives the job.
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

/** The job: run it as often as secrets are to change. Whether the old secret is still in use is no failure of the job. */
export const rotateKey = Effect.fn("rotateKey")(function* (name: string) {
  const secrets = yield* SecretStore
  return yield* rotateApiKey(name, {
    deliver: ({ token }) => secrets.put(name, token),
    // How long the old secret has to be unused, and how long this run waits for that.
    idle: "10 minutes",
    grace: "1 hour"
  }).pipe(
    Effect.as("rotated" as const),
    Effect.catchTag("StillInUse", ({ message }) => Effect.as(Effect.logWarning(message), "waiting" as const))
  )
})
