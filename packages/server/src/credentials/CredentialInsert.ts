/**
 * Writing a new credential.
 */
import { Effect, Redacted } from "effect"
import type { SqlClient } from "effect/sql"
import type { Bounds } from "./CredentialScope.ts"
import type { CredentialRow } from "./CredentialRow.ts"
import { type CredentialKind, digestOf, hintOf } from "./Secret.ts"

/** Writes a credential; the secret itself goes no further than its digest. */
export const insertCredential = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  credential: {
    readonly account: string
    readonly kind: CredentialKind
    readonly name: string
    readonly identity: string
    readonly bounds: Bounds
    readonly now: number
    readonly secret: Redacted.Redacted<string>
  }
) {
  const secret = Redacted.value(credential.secret)
  const [row] = yield* sql<CredentialRow>`
    INSERT INTO credentials ${sql.insert({
      account: credential.account,
      kind: credential.kind,
      name: credential.name,
      identity: credential.identity,
      access_levels: JSON.stringify(credential.bounds.levels),
      ip_ranges: JSON.stringify(credential.bounds.ranges),
      date_created: credential.now,
      expires: credential.bounds.expires,
      secret_digest: digestOf(secret),
      secret_hint: hintOf(credential.kind, secret)
    })} RETURNING *`
  return row ?? (yield* Effect.die(new Error("an insert gave no row")))
})
