/** Finds the key of a request by its digest, checks its addresses and levels, and records its use. */
import type { AccessLevel } from "@roster/domain"
import { type Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { preparedQuery } from "../store/SqlDialect.ts"
import { storeClock } from "../store/StoreClock.ts"
import { bestEffort } from "./AuditTrail.ts"
import { isInNetworks, parseRanges } from "../network/IpRanges.ts"
import { parseIpRanges, type RawCredentialRow } from "./CredentialRow.ts"

/** Seconds between two records of the use of a key, so that reads do not each cost a write. */
const useRecordedEvery = 60

/** The keys whose ranges stay parsed; those of a key are at most 256. */
const maximumParsed = 256

/** The keys and levels whose last record is remembered; a use of another one is recorded again. */
const maximumRemembered = 10_000

export interface KeyRow extends Pick<
  RawCredentialRow,
  "id" | "account" | "name" | "access_levels" | "ip_ranges" | "expires" | "secret_hint"
> {
  /** The time at which it was looked up, in seconds. */
  readonly now: number
}

/** Whether a key has a level. Asked by every request: names of levels hold no quotes, so nothing is parsed. */
export const hasLevel = (row: Pick<KeyRow, "access_levels">, level: AccessLevel): boolean =>
  row.access_levels.includes(`"${level}"`)

/** Makes the lookup of a key by its digest, so that its timing tells nothing about the key. */
export const keyLookup = (sql: SqlClient.SqlClient) => {
  const { column, read } = storeClock(sql)
  const find = preparedQuery(
    sql,
    sql`
      SELECT id, account, name, access_levels, ip_ranges, expires, secret_hint, ${column}
      FROM credentials WHERE secret_digest = ${"digest"} AND kind = 'ApiKey'`
  )
  return (digest: Uint8Array, clock: Clock.Clock) =>
    Effect.map(find([digest]), ([found]) => {
      if (found === undefined) return undefined
      const { 0: id, 1: account, 2: name, 3: access_levels, 4: ip_ranges, 5: expires, 6: secret_hint, 7: time } = found
      // A statement knows the columns of its rows, the client does not.
      return { id, account, name, access_levels, ip_ranges, expires, secret_hint, now: read(time, clock) } as KeyRow
    })
}

/** Removes the oldest entry of a map that has become larger than it may be, and gives what was removed. */
export const keepLatest = <A>(map: Map<string, A>, maximum: number): A | undefined => {
  const [oldest] = map
  if (map.size <= maximum || oldest === undefined) return undefined
  map.delete(oldest[0])
  return oldest[1]
}

/** Makes the check whether a key may be used from an address. The ranges of a key are parsed once, not by each request. */
export const makeRangeCheck = () => {
  const parsed = new Map<string, ReturnType<typeof parseRanges>>()
  const parse = (row: Pick<KeyRow, "ip_ranges">) => {
    const networks = parseRanges(parseIpRanges(row.ip_ranges))
    parsed.set(row.ip_ranges, networks)
    keepLatest(parsed, maximumParsed)
    return networks
  }
  return (row: Pick<KeyRow, "ip_ranges">, peer: string): boolean =>
    row.ip_ranges === "[]" || isInNetworks(peer, parsed.get(row.ip_ranges) ?? parse(row))
}

/**
 * Makes the function that records the use of a key for a level, if this process has not begun to within a minute;
 * `undefined` if it has. It is written beside the credentials, which decisions read, and not in a transaction, which could
 * not time out on a lock.
 */
export const makeUseRecorder = (sql: SqlClient.SqlClient) => {
  // When each record began, oldest first: of requests that come together one records the use, and the others do not wait.
  const recorded = new Map<string, number>()
  return ({ id, now }: KeyRow, level: AccessLevel): Effect.Effect<void> | undefined => {
    const use = `${id} ${level}`
    if ((recorded.get(use) ?? -Infinity) > now - useRecordedEvery) return undefined
    recorded.delete(use)
    recorded.set(use, now)
    keepLatest(recorded, maximumRemembered)
    return sql`
      INSERT INTO credential_uses ${sql.insert({ credential: id, level, last_use: now })}
      ON CONFLICT (credential, level) DO UPDATE SET last_use = excluded.last_use`.pipe(
      Effect.onError(() => Effect.sync(() => recorded.delete(use))),
      bestEffort("the use of a key could not be noted")
    )
  }
}
