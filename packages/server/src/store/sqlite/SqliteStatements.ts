/**
 * The statements of one connection: prepared once, kept in a bounded cache, their parameters made fit for node:sqlite.
 */
import { Predicate } from "effect"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"

/** How the rows of a statement are read: as objects or as arrays, integers as numbers or as bigint. */
export interface ReadMode {
  readonly arrays: boolean
  readonly bigints: boolean
}

/** What a statement without rows did. */
export interface RunResult {
  readonly changes: number
  readonly lastInsertRowid: bigint
}

export type Result = ReadonlyArray<object> | RunResult

interface Prepared extends ReadMode {
  readonly statement: StatementSync
  readonly returnsRows: boolean
}

/** More than an application says again and again; the many lengths of bulk `VALUES` come and go. */
const capacity = 256

/** Prepares and runs the statements of one connection. */
export const make = (database: DatabaseSync) => {
  // A Map keeps the order of insertion, so its first key is the one unused for longest, as far as it matters: while there is
  // room for all, nothing is moved.
  const cache = new Map<string, Prepared>()

  const lookup = (sql: string, mode: ReadMode): Prepared => {
    const found = cache.get(sql)
    const isFit = found !== undefined && found.arrays === mode.arrays && found.bigints === mode.bigints
    if (isFit && cache.size < capacity) return found
    if (found !== undefined) cache.delete(sql)
    const prepared = isFit ? found : prepare(database, sql, mode)
    cache.set(sql, prepared)
    if (cache.size > capacity) {
      for (const oldest of cache.keys()) {
        cache.delete(oldest)
        break
      }
    }
    return prepared
  }

  const run = (prepared: Prepared, params: ReadonlyArray<unknown>): Result => {
    const bound = params.map(bind)
    if (prepared.returnsRows) return prepared.statement.all(...bound)
    const result = prepared.statement.run(...bound)
    return { changes: Number(result.changes), lastInsertRowid: BigInt(result.lastInsertRowid) }
  }

  return {
    /** Rows, or what was done where the statement has none. */
    run: (sql: string, params: ReadonlyArray<unknown>, mode: ReadMode) => run(lookup(sql, mode), params),
    /** The same for each set of parameters, one after another: the first row of each, where the statement has rows. */
    runEach: (
      sql: string,
      parameters: ReadonlyArray<ReadonlyArray<unknown>>,
      mode: ReadMode
    ): ReadonlyArray<object> => {
      const { statement } = lookup(sql, mode)
      const rows: Array<object> = []
      for (const params of parameters) {
        // Of a statement without rows, too: nobody asks what `run` would have to say of each.
        const row = statement.get(...params.map(bind))
        if (row !== undefined) rows.push(row)
      }
      return rows
    },
    /** The same without the cache, for statements that are said once. */
    runOnce: (sql: string, params: ReadonlyArray<unknown>, mode: ReadMode) => run(prepare(database, sql, mode), params),
    /** The rows one by one, from a statement of its own: running a cached one again would start it afresh. */
    iterate: (sql: string, params: ReadonlyArray<unknown>, mode: ReadMode) => {
      const { statement } = prepare(database, sql, mode)
      return statement.iterate(...params.map(bind))
    }
  }
}

export type SqliteStatements = ReturnType<typeof make>

const prepare = (database: DatabaseSync, sql: string, mode: ReadMode): Prepared => {
  const statement = database.prepare(sql)
  // node:sqlite runs the first statement of a text and says nothing about the others.
  if (!isBlank(sql.slice(statement.sourceSQL.length))) {
    throw new TypeError("the text holds several statements, of which only the first would run. Send them one by one")
  }
  const returnsRows = statement.columns().length > 0
  // `run` throws *after* the statement has run when the last inserted rowid of the connection is beyond 2^53, even for
  // an UPDATE or a BEGIN, whose transaction would stay open. As a bigint it always fits.
  statement.setReadBigInts(mode.bigints || !returnsRows)
  if (returnsRows) statement.setReturnArrays(mode.arrays)
  return { statement, returnsRows, ...mode }
}

const isBlank = (sql: string): boolean => sql.replace(/--[^\n]*|\/\*[^]*?\*\/|[\s;]+/g, "") === ""

/**
 * A parameter as node:sqlite takes it. node:sqlite binds NULL for a Date and reads other objects as named parameters,
 * so whatever has no meaning in SQL is refused. Whole numbers travel as integers: `'x' || ?` is `x1.0` for a real.
 */
export const bind = (value: unknown, index: number): SQLInputValue => {
  if (typeof value === "string" || typeof value === "bigint" || value instanceof Uint8Array) return value
  if (typeof value === "number") return Number.isSafeInteger(value) ? BigInt(value) : value
  if (Predicate.isNullish(value)) return null
  if (Predicate.isBoolean(value)) return value ? 1n : 0n
  if (value instanceof Date) return value.toISOString()
  if (value instanceof ArrayBuffer) return new Uint8Array(value)
  throw new TypeError(`parameter ${index + 1} is of type ${typeof value}, which SQLite does not know. Encode it first`)
}
