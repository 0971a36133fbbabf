import type { AccessLevel } from "@roster/domain"
import { Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { timingSafeEqual } from "node:crypto"
import { preparedQuery } from "../store/SqlDialect.ts"
import { bestEffort } from "./AuditTrail.ts"
import { isInSpans, type Span, spansOf } from "../network/IpRanges.ts"
import { type CredentialRow, ipRangesOf } from "./CredentialRow.ts"
import { digestOf } from "./Secret.ts"

/** Seconds between two records of the use of a key, so that reads do not each cost a write. */
const useRecordedEvery = 60

/** The keys whose ranges stay parsed; those of a key are at most 256. */
const maximumParsed = 256

export interface KeyRow extends Pick<
  CredentialRow,
  "id" | "account" | "name" | "access_levels" | "ip_ranges" | "expires" | "secret_digest" | "secret_hint"
> {
  /** The last use of the key for the level that was looked up with it. */
  readonly level_last_use: number | null
}

/** Makes the lookup of a key and its last use for a level: by digest in the index, then in constant time. */
export const keyLookup = (sql: SqlClient.SqlClient) => {
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
      if (rows[0] === undefined) return undefined
      const [id, account, name, access_levels, ip_ranges, expires, secret_digest, secret_hint, level_last_use] = rows[0]
      const row = { id, account, name, access_levels, ip_ranges, expires, secret_digest, secret_hint, level_last_use }
      // A statement knows the columns of its rows, the client does not.
      const key = row as KeyRow
      return timingSafeEqual(key.secret_digest, digest) ? key : undefined
    })
  }
}

/** Makes the check whether a key may be used from an address. The ranges of a key are parsed once, not by each request. */
export const makeRangeCheck = () => {
  const parsed = new Map<string, ReadonlyArray<Span>>()
  const parse = (row: Pick<KeyRow, "ip_ranges">) => {
    const spans = spansOf(ipRangesOf(row))
    const [oldest] = parsed.keys()
    if (parsed.size >= maximumParsed && oldest !== undefined) parsed.delete(oldest)
    parsed.set(row.ip_ranges, spans)
    return spans
  }
  return (row: Pick<KeyRow, "ip_ranges">, peer: string): boolean =>
    row.ip_ranges === "[]" || isInSpans(peer, parsed.get(row.ip_ranges) ?? parse(row))
}

/**
 * Records the use of a key for a level. Not in a transaction, which could not time out on a lock: lookups read the
 * second statement, so that both are repeated if only the first ran.
 */
export const recordUse = (
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
  ).pipe(bestEffort("the use of a key could not be noted"))

/** Whether the recorded use of a key is recent enough. */
export const isUseRecorded = ({ level_last_use }: KeyRow, now: number): boolean =>
  level_last_use !== null && level_last_use > now - useRecordedEvery
