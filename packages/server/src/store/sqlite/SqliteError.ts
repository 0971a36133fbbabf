/** The errors of node:sqlite: what they mean, and as the `SqlError` of `effect/sql`. */
import { Predicate } from "effect"
import { SqlError } from "effect/sql"

/** SQLite's extended result code of an error, or `undefined` if it is not from SQLite. */
export const errorCode = (cause: unknown): number | undefined =>
  Predicate.hasProperty(cause, "errcode") && Predicate.isNumber(cause.errcode) ? cause.errcode : undefined

/** The low byte of an extended code is the primary one: SQLITE_BUSY_RECOVERY (261) is a SQLITE_BUSY (5). */
const primaryCode = (cause: unknown): number | undefined => {
  const code = errorCode(cause)
  return code === undefined ? undefined : code & 0xff
}

/**
 * Whether waiting for the lock helps. It does not for BUSY_SNAPSHOT (517): an outdated reader must start again. A file that
 * a restore has replaced since it was opened is READONLY_DBMOVED (1032).
 */
export const isBusy = (cause: unknown): boolean =>
  (primaryCode(cause) === 5 && errorCode(cause) !== 517) || errorCode(cause) === 1032

/** Says whose lock it was, for a message that continues with the time. */
export const heldBy = (filename: string): string => `another process held ${filename}`

/** Adds to an error whose lock it was. */
export const withHolder = (cause: Error, filename: string): Error => Object.assign(cause, { holder: heldBy(filename) })

/** Whose lock it was, if `withHolder` added it. */
export const holderOf = (cause: unknown): string | undefined =>
  Predicate.hasProperty(cause, "holder") && Predicate.isString(cause.holder) ? cause.holder : undefined

/** Adds to the error of a write that its file was opened to be read alone. */
export const withReadOnly = (cause: unknown): unknown =>
  Predicate.isError(cause) ? Object.assign(cause, { openedToRead: true }) : cause

/** Whether a write failed since its file was opened to be read alone. */
export const isOpenedToRead = (error: SqlError.SqlError): boolean =>
  isReadOnly(error) && Predicate.hasProperty(error.reason.cause, "openedToRead")

/** Whether a statement failed because the disk, or the limit set by `max_page_count`, is full. */
export const isDiskFull = (error: SqlError.SqlError): boolean => primaryCode(error.reason.cause) === 13

/** Whether an fsync failed (SQLITE_IOERR_FSYNC, SQLITE_IOERR_DIR_FSYNC), which a later successful one does not undo. */
export const isUnsynced = (cause: unknown): boolean => [1034, 1290].includes(errorCode(cause) ?? 0)

/** Whether SQLite cannot write: SQLITE_READONLY. */
export const isReadOnlyFile = (cause: unknown): boolean => primaryCode(cause) === 8

/** Whether a connection refuses to write, as after a failed fsync. */
export const isReadOnly = (error: SqlError.SqlError): boolean => isReadOnlyFile(error.reason.cause)

/** Whether a file cannot be read because this user may not write it, or make files beside it. */
export const isUnwritable = (cause: unknown): boolean => [8, 14].includes(primaryCode(cause) ?? 0)

/** Whether the cause of an error is damage in the file: SQLITE_CORRUPT or SQLITE_NOTADB. */
export const isDamage = (cause: unknown): boolean => [11, 26].includes(primaryCode(cause) ?? 0)

// PRIMARYKEY and ROWID conflicts have their own codes. For callers, as in PostgreSQL, they are unique violations.
const uniqueCode = 2067
const uniqueCodes: ReadonlyArray<number | undefined> = [uniqueCode, 1555, 2579]

export const messageOf = (cause: unknown): string => (Predicate.isError(cause) ? cause.message : "unknown cause")

/** The `SqlError` of an error of node:sqlite, with it as cause. SQLite's messages name tables and columns, never values. */
export const toSqlError = (cause: unknown, operation: string): SqlError.SqlError => {
  const code = errorCode(cause)
  const detail =
    Predicate.hasProperty(cause, "code") && cause.code === "ERR_OUT_OF_RANGE"
      ? "a whole number beyond 2^53 cannot be read as a number. Provide SqlClient.SafeIntegers to read integers as bigint"
      : messageOf(cause)
  // node:sqlite names the code `errcode`, and the classifier of Effect reads `errno`.
  if (Predicate.isError(cause) && code !== undefined) {
    Object.assign(cause, { errno: uniqueCodes.includes(code) ? uniqueCode : code })
  }
  const message = `SQLite could not ${operation}: ${detail}`
  return new SqlError.SqlError({ reason: SqlError.classifySqliteError(cause, { message, operation }) })
}
