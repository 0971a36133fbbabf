/**
 * The clock of a store, from which every time comes that is stored or compared: Effect's on SQLite, and on PostgreSQL that
 * of the database, since each of its processes has a clock of its own. Times are stored and sent as whole seconds since
 * 1970. (docs/decisions/postgres.md)
 */
import { Clock, DateTime, Effect, Function, Schema, SchemaTransformation } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { byEngine } from "./SqlDialect.ts"

/** The clock of a store. Times are whole seconds since 1970, but for `now`. */
interface StoreClock {
  /** Asks for the time. */
  readonly seconds: Effect.Effect<number, SqlError.SqlError>
  /** Asks for the time, to the millisecond, as rules compare it. */
  readonly now: Effect.Effect<DateTime.Utc, SqlError.SqlError>
  /** The time of the statement in which it stands. */
  readonly inSql: Effect.Effect<Statement.Fragment>
  /** A column of a statement that is compiled once, which `read` makes the time of. */
  readonly column: Statement.Fragment
  /** Reads `column`, given the clock of this process. */
  readonly read: (value: unknown, clock: Clock.Clock) => number
  /** How far the clock of this process is ahead. */
  readonly skew: Effect.Effect<number, SqlError.SqlError>
  /** The time as the triggers of the database see it. */
  readonly ofTriggers: Statement.Fragment
}

/** With a larger skew, in seconds, the times of logs, and dates that callers reckon, differ from those of the store. */
export const toleratedSkew = 5

const secondsOf = (millis: number): number => Math.floor(millis / 1000)

/** The clock of this process, for spans in memory, and for names and ages of files of this machine. */
// oxlint-disable-next-line eslint/no-restricted-properties -- the only place
export const processMillis = Clock.currentTimeMillis

/** The clock of this process, in whole seconds. */
export const processSeconds = Effect.map(processMillis, secondsOf)

const sqlite = (sql: SqlClient.SqlClient): StoreClock => ({
  seconds: processSeconds,
  now: Effect.map(processMillis, (now) => DateTime.makeUnsafe(now)),
  inSql: Effect.map(processSeconds, (now) => sql`${now}`),
  column: sql`NULL`,
  read: (_, clock) => secondsOf(clock.currentTimeMillisUnsafe()),
  skew: Effect.succeed(0),
  ofTriggers: sql`unixepoch()`
})

const postgres = (sql: SqlClient.SqlClient): StoreClock => {
  // Not of the transaction, which may have waited for a lock since.
  const millis = Effect.map(
    sql<{ readonly millis: number }>`
      SELECT floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint AS millis`,
    ([row]) => Number(row?.millis)
  )
  const column = sql`floor(extract(epoch FROM statement_timestamp()))::bigint`
  return {
    seconds: Effect.map(millis, secondsOf),
    now: Effect.map(millis, (now) => DateTime.makeUnsafe(now)),
    inSql: Effect.succeed(column),
    column,
    read: Number,
    skew: Effect.flatMap(millis, (there) => Effect.map(processMillis, (here) => Math.round((here - there) / 1000))),
    ofTriggers: sql`extract(epoch FROM now())`
  }
}

/** The clock of the store of a client, made once. */
export const storeClock = Function.memoize((sql: SqlClient.SqlClient): StoreClock =>
  byEngine(sql, { sqlite: () => sqlite(sql), postgres: () => postgres(sql) })
)

/** What is wrong with the clock of a machine, if its skew is too large. */
export const skewIssue = (skew: number): string | undefined =>
  Math.abs(skew) > toleratedSkew
    ? `this machine is ${Math.abs(skew)} s ${skew > 0 ? "ahead of" : "behind"} the database`
    : undefined

export const fromSeconds = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

export const toSeconds = (date: DateTime.Utc): number => Math.floor(DateTime.toEpochMillis(date) / 1000)

/** Undefined and null are both NULL. */
export const nullableSeconds = (date: DateTime.Utc | null | undefined): number | null =>
  date == null ? null : toSeconds(date)

const maximumKept = 64
const kept = new Map<number, DateTime.Utc>()

/** Keeps the last dates: rows that were written together share their times, and dates are the slowest part of a row. */
export const sharedDate = (seconds: number): DateTime.Utc => {
  let date = kept.get(seconds)
  if (date === undefined) {
    date = fromSeconds(seconds)
    if (kept.size >= maximumKept) kept.clear()
    kept.set(seconds, date)
  }
  return date
}

/** A time in a column. */
export const StoredDate = Schema.Int.pipe(
  Schema.decodeTo(Schema.DateTimeUtc, SchemaTransformation.transform({ decode: fromSeconds, encode: toSeconds }))
)
