/**
 * The key that a request carries, as its row: looked up by each request, and noted as used now and then.
 */
import type { AccessLevel } from "@roster/domain"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { timingSafeEqual } from "node:crypto"
import { unhindered } from "./AuditTrail.ts"
import type { CredentialRow } from "./CredentialRow.ts"
import { preparedQuery } from "../store/SqlDialect.ts"
import { digestOf } from "./Secret.ts"

/** The use of a key is noted at most this often, in seconds, so that reading does not cost a write each time. */
const useNotedEvery = 60

export interface KeyRow extends Pick<
  CredentialRow,
  "id" | "account" | "name" | "access_levels" | "ip_ranges" | "expires" | "secret_digest" | "secret_hint"
> {
  /** When the key was last used for the level that is asked for. */
  readonly level_last_use: number | null
}

type KeyValues = readonly [
  id: number,
  account: string,
  name: string,
  accessLevels: string,
  ipRanges: string,
  expires: number | null,
  secretDigest: Uint8Array,
  secretHint: string,
  levelLastUse: number | null
]

const keyRowOf = (values: KeyValues): KeyRow => ({
  id: values[0],
  account: values[1],
  name: values[2],
  access_levels: values[3],
  ip_ranges: values[4],
  expires: values[5],
  secret_digest: values[6],
  secret_hint: values[7],
  level_last_use: values[8]
})

/**
 * Finds a key, and when it was last used for a level. The index finds a digest, of which who guesses knows nothing; that it is
 * the right one is looked at in constant time.
 */
export const keyFinder = (sql: SqlClient.SqlClient) => {
  const find = preparedQuery(
    sql,
    sql`
      SELECT id, account, name, access_levels, ip_ranges, expires, secret_digest, secret_hint,
        credential_uses.last_use AS level_last_use
      FROM credentials LEFT JOIN credential_uses
        ON credential_uses.credential = credentials.id AND credential_uses.level = ${"level"}
      WHERE credentials.secret_digest = ${"digest"} AND credentials.kind = 'ApiKey'`
  )
  return (key: string, level: AccessLevel) => {
    const digest = digestOf(key)
    return Effect.map(find([level, digest]), (rows) => {
      // The columns that are asked for.
      const [values] = rows as ReadonlyArray<KeyValues>
      return values !== undefined && timingSafeEqual(values[6], digest) ? keyRowOf(values) : undefined
    })
  }
}

/**
 * Notes that a key was used, and for what. The second statement is what the next look goes by: should only the first be
 * carried out, both are due again. In a transaction they could not be given up while another program holds the store.
 */
export const noteUse = (
  sql: SqlClient.SqlClient,
  { id }: KeyRow,
  level: AccessLevel,
  now: number
): Effect.Effect<void> =>
  Effect.andThen(
    sql`UPDATE credentials SET last_use = ${now} WHERE id = ${id}`,
    sql`
      INSERT INTO credential_uses ${sql.insert({ credential: id, level, last_use: now })}
      ON CONFLICT (credential, level) DO UPDATE SET last_use = excluded.last_use`
  ).pipe(unhindered("the use of a key could not be noted"))

/** Whether the use of a key is noted as it is. */
export const isNoted = ({ level_last_use }: KeyRow, now: number): boolean =>
  level_last_use !== null && level_last_use > now - useNotedEvery
