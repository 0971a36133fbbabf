/** The prepared statements of a SQLite connection, kept for the next call, and how their parameters are bound. */
import { Predicate } from "effect"
import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite"

/** Whether rows are arrays or objects, and integers bigint or numbers. */
export interface ReadMode {
  readonly arrays: boolean
  readonly bigints: boolean
}

export type Result = ReadonlyArray<object> | { readonly changes: number; readonly lastInsertRowid: bigint }

interface Prepared extends ReadMode {
  readonly statement: StatementSync
  readonly returnsRows: boolean
}

/** More than the recurring statements of an application; bulk `VALUES` of many lengths are evicted. */
const capacity = 256

/** Prepares and runs the statements of one connection. */
export const make = (database: DatabaseSync) => {
  // An LRU cache: a Map keeps the order of insertion. Below its capacity nothing is moved.
  const cache = new Map<string, Prepared>()

  const lookup = (sql: string, mode: ReadMode): Prepared => {
    const found = cache.get(sql)
    const isFit = found !== undefined && found.arrays === mode.arrays && found.bigints === mode.bigints
    if (isFit && cache.size < capacity) return found
    if (found !== undefined) cache.delete(sql)
    const prepared = isFit ? found : prepare(database, sql, mode)
    cache.set(sql, prepared)
    const [oldest] = cache.keys()
    if (cache.size > capacity && oldest !== undefined) cache.delete(oldest)
    return prepared
  }

  const run = (prepared: Prepared, params: ReadonlyArray<unknown>): Result => {
    const bound = params.map(bind)
    if (prepared.returnsRows) return prepared.statement.all(...bound)
    const result = prepared.statement.run(...bound)
    return { changes: Number(result.changes), lastInsertRowid: BigInt(result.lastInsertRowid) }
  }

  return {
    /** Gives the rows, or the changes of a statement without rows. */
    run: (sql: string, params: ReadonlyArray<unknown>, mode: ReadMode) => run(lookup(sql, mode), params),
    /** Runs a statement for each set of parameters, and gives the id of the row that was last inserted after each. */
    runEach: (sql: string, parameters: Iterable<ReadonlyArray<unknown>>, mode: ReadMode): ReadonlyArray<number> => {
      const { statement } = lookup(sql, mode)
      return Array.from(parameters, (params) => Number(statement.run(...params.map(bind)).lastInsertRowid))
    },
    /** `run` without the cache. */
    runOnce: (sql: string, params: ReadonlyArray<unknown>, mode: ReadMode) => run(prepare(database, sql, mode), params),
    /** Iterates over the rows with a new statement, since running a cached one again would restart it. */
    iterate: (sql: string, params: ReadonlyArray<unknown>, mode: ReadMode) => {
      const { statement } = prepare(database, sql, mode)
      return statement.iterate(...params.map(bind))
    }
  }
}

export type SqliteStatements = ReturnType<typeof make>

const prepare = (database: DatabaseSync, sql: string, mode: ReadMode): Prepared => {
  const statement = database.prepare(sql)
  // node:sqlite silently runs only the first statement of a text.
  if (!isBlank(sql.slice(statement.sourceSQL.length))) {
    throw new TypeError("the text holds several statements, of which only the first would run. Send them one by one")
  }
  const returnsRows = statement.columns().length > 0
  // If the last inserted rowid is beyond 2^53, `run` throws after the statement has run, unless integers are bigints.
  statement.setReadBigInts(mode.bigints || !returnsRows)
  if (returnsRows) statement.setReturnArrays(mode.arrays)
  return { statement, returnsRows, ...mode }
}

const isBlank = (sql: string): boolean => sql.replace(/--[^\n]*|\/\*[^]*?\*\/|[\s;]+/g, "") === ""

/**
 * Converts a parameter for node:sqlite, which would bind NULL for a Date and read other objects as named parameters; values
 * without a meaning in SQL are refused. Whole numbers become integers: `'x' || ?` is `x1.0` for a real.
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
