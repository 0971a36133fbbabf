/**
 * Replaces the secret of an API key from a job. At every moment there is a secret that works: the old one is deleted only
 * when nobody uses it any more. A job that was stopped resumes when it runs again.
 */
import { rotateApiKey, type RotationJournal, RotationRecord } from "@roster/workflows"
import { Context, Effect, Option, type Redacted, type Schema } from "effect"
import { KeyValueStore } from "effect/persistence"

/** Where programs take their secrets from, such as the secret manager of a cloud. */
export class SecretStore extends Context.Service<
  SecretStore,
  {
    /** Keeps a secret; it must survive the process once this has ended. */
    readonly put: (name: string, secret: Redacted.Redacted<string>) => Effect.Effect<void>
  }
>()("@roster/examples/SecretStore") {}

/** The journal of a rotation, which holds no secret, in the key-value store of the application. */
const journalOf = Effect.fnUntraced(function* (name: string) {
  const records = KeyValueStore.toSchemaStore(yield* KeyValueStore.KeyValueStore, RotationRecord)
  const journal: RotationJournal<KeyValueStore.KeyValueStoreError | Schema.SchemaError> = {
    load: Effect.map(records.get(name), Option.getOrUndefined),
    save: (record) => records.set(name, record),
    clear: records.remove(name)
  }
  return journal
})

/** The job: run it as often as secrets are to change. Whether the old secret is still in use is no failure of the job. */
export const rotateKey = Effect.fn("rotateKey")(function* (name: string) {
  const secrets = yield* SecretStore
  return yield* rotateApiKey(name, {
    journal: yield* journalOf(name),
    deliver: ({ token }) => secrets.put(name, token),
    // How long the old secret has to be unused, and how long this run waits for that.
    idle: "10 minutes",
    grace: "1 hour"
  }).pipe(
    Effect.as("rotated" as const),
    Effect.catchTag("StillInUse", ({ message }) => Effect.as(Effect.logWarning(message), "waiting" as const))
  )
})
