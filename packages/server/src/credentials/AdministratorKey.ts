/** The first key of a store, without which no other could be created over the network. */
import { AccessLevel } from "@roster/domain"
import { Data, Effect, type Redacted } from "effect"
import { SqlClient } from "effect/sql"
import { nowSeconds } from "../store/Timestamps.ts"
import { recordDone } from "./AuditTrail.ts"
import { insertCredential } from "./CredentialRow.ts"
import { makeSecret } from "./Secret.ts"

const name = "administrator"

/** The secret could not be delivered. */
export class NotHandedOver<E> extends Data.TaggedError("NotHandedOver")<{ readonly error: E }> {}

/** Creates a key of every level if the store holds none. Undelivered secrets leave no key: both share a transaction. */
export const ensureAdministratorKey = Effect.fnUntraced(function* <E, R>(
  onCreated: (secret: Redacted.Redacted<string>) => Effect.Effect<void, E, R>
) {
  const sql = yield* SqlClient.SqlClient
  const create = Effect.gen(function* () {
    const [key] = yield* sql`SELECT id FROM credentials WHERE kind = 'ApiKey' AND account = '' LIMIT 1`
    if (key !== undefined) return
    const secret = makeSecret("ApiKey")
    const levels = AccessLevel.literals.filter((level) => level !== "None")
    yield* insertCredential(sql, {
      account: "",
      kind: "ApiKey",
      name,
      identity: name,
      scope: { levels, expires: null, ranges: [] },
      now: yield* nowSeconds,
      secret
    })
    yield* recordDone(sql, {
      actor: { _tag: "Owner" },
      peer: undefined,
      account: "",
      operation: "securityApikeysPost",
      subject: name,
      details: { levelsAdded: levels }
    })
    yield* Effect.mapError(onCreated(secret), (error) => new NotHandedOver({ error }))
  })
  yield* sql.withTransaction(create)
})
