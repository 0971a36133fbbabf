/** The first key of a store, without which no other could be created over the network. */
import { AccessLevel } from "@roster/domain"
import { Data, Effect, Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { timingSafeEqual } from "node:crypto"
import { dialect } from "../store/SqlDialect.ts"
import { storeClock } from "../store/StoreClock.ts"
import { recordDone } from "./AuditTrail.ts"
import { findCredentials, insertCredential, unset } from "./CredentialRow.ts"
import { digestOf, makeSecret } from "./Secret.ts"

const name = "administrator"

/** Whether a secret is that of an API key of the main account. */
export type IsKey = (secret: Redacted.Redacted<string>) => boolean

/** The secret could not be delivered. */
export class KeyDeliveryFailed<E> extends Data.TaggedError("KeyDeliveryFailed")<{ readonly error: E }> {}

/**
 * Creates a key of every level if the store holds none. Undelivered secrets leave no key: both share a transaction.
 * `onCommitted` runs at every start, since the one that committed may have been killed before.
 */
export const ensureAdministratorKey = Effect.fnUntraced(function* <E, R>(
  onCreated: (secret: Redacted.Redacted<string>) => Effect.Effect<void, E, R>,
  onCommitted: (isKey: IsKey) => Effect.Effect<void, E, R> = () => Effect.void
) {
  const sql = yield* SqlClient.SqlClient
  const create = Effect.gen(function* () {
    yield* dialect(sql).lockAccounts([""])
    const [known] = yield* sql`SELECT id FROM credentials WHERE kind = 'ApiKey' AND account = '' LIMIT 1`
    if (known !== undefined) return
    const secret = yield* makeSecret("ApiKey")
    const levels = AccessLevel.literals.filter((level) => level !== "None")
    const key = { account: "", kind: "ApiKey", name, identity: name, dateCreated: yield* storeClock(sql).now } as const
    yield* insertCredential(sql, { ...unset, ...key, accessLevels: levels }, secret)
    yield* recordDone(sql, {
      actor: { _tag: "Owner" },
      peer: undefined,
      account: "",
      operation: "securityApikeysPost",
      subject: name,
      details: { levelsAdded: levels }
    })
    yield* Effect.mapError(onCreated(secret), (error) => new KeyDeliveryFailed({ error }))
  })
  yield* sql.withTransaction(create)
  const keys = yield* findCredentials(sql, sql`kind = 'ApiKey' AND account = ''`)
  const isKey: IsKey = (secret) => {
    const digest = digestOf(Redacted.value(secret))
    return keys.some(({ secretDigest }) => timingSafeEqual(secretDigest, digest))
  }
  yield* Effect.mapError(onCommitted(isKey), (error) => new KeyDeliveryFailed({ error }))
})
