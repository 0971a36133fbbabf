/**
 * What a key may is asked again in the transaction of each write: it may have been deleted, narrowed or have expired
 * while the request was received or waited. (docs/decisions/access.md)
 */
import { AccessDenied, type AccessLevel, ServiceError, Unauthorized } from "@roster/domain"
import { Clock, Effect } from "effect"
import type { SqlClient } from "effect/sql"
import { isInRanges } from "../network/IpRanges.ts"
import { inTransaction } from "../store/sqlite/GroupCommit.ts"
import { storeClock } from "../store/StoreClock.ts"
import { Caller } from "./Caller.ts"
import { parseIpRanges, type RawCredentialRow } from "./CredentialRow.ts"
import { hasLevel } from "./KeyLookup.ts"

interface Permissions extends Pick<RawCredentialRow, "access_levels" | "ip_ranges"> {
  /** When they were looked up, as `storeClock` reads it. */
  readonly time: unknown
}

/** Finds out what a key may now, from an address; `undefined` if there is no such key or it has expired. */
const permissionsOf = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, id: number) {
  const { column, inSql } = storeClock(sql)
  const [row] = yield* sql<Permissions>`
    SELECT access_levels, ip_ranges, ${column} AS time FROM credentials
    WHERE id = ${id} AND kind = 'ApiKey' AND (expires IS NULL OR expires > ${yield* inSql})`
  return row
})

const mayFrom = (row: Permissions, level: AccessLevel, peer: string | undefined): boolean =>
  (peer === undefined || row.ip_ranges === "[]" || isInRanges(peer, parseIpRanges(row.ip_ranges))) &&
  (level === "None" || hasLevel(row, level))

/** Whether a key exists, has not expired, and has a level and an address. */
export const mayKey = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  id: number,
  level: AccessLevel,
  peer: string
) {
  const row = yield* permissionsOf(sql, id)
  return row !== undefined && mayFrom(row, level, peer)
})

/**
 * Fails unless the caller's key, as it is now, may do what it was accepted for, or has another level. Gives the time at which it was
 * looked up, in seconds, if the caller has a key.
 */
export const checkCaller = Effect.fnUntraced(function* (
  sql: SqlClient.SqlClient,
  operation: string,
  level?: AccessLevel
) {
  const { key, peer } = yield* Caller
  if (key === undefined) return undefined
  const row = yield* permissionsOf(sql, key.id)
  if (row === undefined) return yield* new ServiceError({ operation, reason: new Unauthorized({}) })
  const { level: accepted = "None" } = key
  const required = level ?? accepted
  if (!mayFrom(row, required, peer)) {
    return yield* new ServiceError({ operation, reason: new AccessDenied({ required }) })
  }
  return storeClock(sql).read(row.time, yield* Clock.Clock)
})

/** Runs a write in a transaction, if its caller may still make it. */
export const asCaller = <A, E, R>(sql: SqlClient.SqlClient, operation: string, write: Effect.Effect<A, E, R>) =>
  inTransaction(sql, Effect.andThen(checkCaller(sql, operation), write))

/** Does the same with a write that needs the time, in seconds, which comes with what the caller may. */
export const asCallerAt = <A, E, R>(
  sql: SqlClient.SqlClient,
  operation: string,
  write: (now: number) => Effect.Effect<A, E, R>
) =>
  inTransaction(
    sql,
    Effect.flatMap(checkCaller(sql, operation), (time) =>
      time === undefined ? Effect.flatMap(storeClock(sql).seconds, write) : write(time)
    )
  )
