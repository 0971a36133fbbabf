/**
 * What node:sqlite throws, as the `SqlError` of `effect/sql`.
 */
import { Predicate } from "effect"
import { SqlError } from "effect/sql"
import { lockHolder } from "./LockHolder.ts"

/** SQLite's extended result code of whatever node:sqlite threw, or undefined where SQLite had no part in it. */
export const errorCode = (cause: unknown): number | undefined =>
  Predicate.hasProperty(cause, "errcode") && Predicate.isNumber(cause.errcode) ? cause.errcode : undefined

/** The low byte of an extended code is the primary one: SQLITE_BUSY_RECOVERY (261) is a SQLITE_BUSY (5). */
const primaryCode = (cause: unknown): number | undefined => {
  const code = errorCode(cause)
  return code === undefined ? undefined : code & 0xff
}

/**
 * Whether another connection holds the lock. Waiting helps, but for BUSY_SNAPSHOT (517): a transaction that began as a
 * reader and is out of date must start again.
 */
export const isBusy = (cause: unknown): boolean => primaryCode(cause) === 5 && errorCode(cause) !== 517

/** Who holds the lock of a file, in words that a length of time follows. */
export const heldBy = (filename: string): string => `${lockHolder(filename)} held ${filename}`

/**
 * Adds to what node:sqlite threw who holds the lock, in words.
 */
export const withHolder = (cause: Error, filename: string): Error => Object.assign(cause, { holder: heldBy(filename) })

/**
 * Who holds the lock, where that was added.
 */
export const holderOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "holder") && Predicate.isString(cause.holder) ? cause.holder : undefined

/** Whether a statement failed because the disk, or the limit set by `max_page_count`, is full. */
export const isDiskFull = (error: SqlError.SqlError): boolean => primaryCode(error.reason.cause) === 13

/**
 * Whether a sync failed, of the WAL or of a folder: SQLITE_IOERR_FSYNC or SQLITE_IOERR_DIR_FSYNC. Nobody knows then what is
 * on the disk, and the sync that succeeds afterwards says nothing about it.
 */
export const isUnsynced = (cause: unknown): boolean => [1034, 1290].includes(errorCode(cause) ?? 0)

/** Whether a connection refuses to write: SQLITE_READONLY, as after a sync that failed. */
export const isReadOnly = (error: SqlError.SqlError): boolean => primaryCode(error.reason.cause) === 8

/** Whether a statement met a part of the file that is damaged: SQLITE_CORRUPT or SQLITE_NOTADB. */
export const isDamaged = (error: SqlError.SqlError): boolean => isDamage(error.reason.cause)

/** The same, asked of what node:sqlite threw. */
export const isDamage = (cause: unknown): boolean => [11, 26].includes(primaryCode(cause) ?? 0)

// PRIMARYKEY and ROWID conflicts have codes of their own; to a caller, and to PostgreSQL, they are unique violations.
const uniqueCode = 2067
const uniqueCodes: ReadonlyArray<number | undefined> = [uniqueCode, 1555, 2579]

/**
 * The `SqlError` for what node:sqlite threw. The cause is kept as it was thrown; SQLite's messages name tables and
 * columns, never values.
 */
export const toSqlError = (cause: unknown, operation: string): SqlError.SqlError => {
  const code = errorCode(cause)
  const detail =
    Predicate.hasProperty(cause, "code") && cause.code === "ERR_OUT_OF_RANGE"
      ? "a whole number beyond 2^53 cannot be read as a number. Provide SqlClient.SafeIntegers to read integers as bigint"
      : Predicate.isError(cause)
        ? cause.message
        : "unknown cause"
  // node:sqlite calls the code `errcode`, where the classifier of effect looks for `errno`.
  if (Predicate.isError(cause) && code !== undefined) {
    Object.assign(cause, { errno: uniqueCodes.includes(code) ? uniqueCode : code })
  }
  const message = `SQLite could not ${operation}: ${detail}`
  return new SqlError.SqlError({ reason: SqlError.classifySqliteError(cause, { message, operation }) })
}
