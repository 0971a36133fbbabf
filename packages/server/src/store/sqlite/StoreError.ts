/** The errors of opening a store, made of those of SQLite. */
import { Predicate, Schema } from "effect"
import type { SqlError } from "effect/sql"
import { dirname } from "node:path"
import { heldBy, holderOf, isBusy, isDamage, isReadOnlyFile, messageOf } from "./SqliteError.ts"

/** The file is damaged or is not a SQLite database. Nothing was written to it. */
export class StoreDamaged extends Schema.TaggedError<StoreDamaged>()("StoreDamaged", {
  /** The path of the database file. */
  filename: Schema.String,
  /** The fault that SQLite found. */
  detail: Schema.String,
  message: Schema.String
}) {}

/** The store cannot be opened, created or used: a wrong path, a missing permission, a lock, an earlier or later version. */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  /** The path of the database file. */
  filename: Schema.String,
  /** Whether another process held its lock for too long. */
  isLocked: Schema.optionalKey(Schema.Boolean),
  /** Whether it is of an earlier version, and was not upgraded since it was opened to be read. */
  isOlder: Schema.optionalKey(Schema.Boolean),
  message: Schema.String
}) {}

/** Why a store cannot be used. */
export type StoreError = StoreDamaged | StoreUnavailable

export const isStoreError = (error: unknown): error is StoreError =>
  error instanceof StoreDamaged || error instanceof StoreUnavailable

/** Whether another process kept a store locked for too long. */
export const isLocked = (error: StoreError): boolean => error._tag === "StoreUnavailable" && error.isLocked === true

export const damaged = (filename: string, found: string) => {
  const detail = found.replace(/^\*\*\* in database \w+ \*\*\*\s*/, "")
  return new StoreDamaged({
    filename,
    detail,
    message:
      `${filename} is damaged or is not a SQLite database (${detail}). It was left as it is. ` +
      "Restore a backup in its place (roster restore FILE), or give another name to start an empty store."
  })
}

export const unavailable = (filename: string, detail: string) =>
  new StoreUnavailable({ filename, message: `The store ${filename} cannot be used. ${detail}` })

/** The error of SQLite or the file system while a file was created, opened or read. */
export const fromCause =
  (path: string) =>
  (cause: unknown): StoreError => {
    const detail = messageOf(cause)
    // A header or a schema that SQLite cannot read comes as a plain SQLITE_ERROR.
    return isDamage(cause) || detail === "unsupported file format" || detail.startsWith("malformed database schema")
      ? damaged(path, detail)
      : fromAccess(path)(cause)
  }

/** The error of an operation that does not read the content of the file. */
export const fromAccess =
  (path: string) =>
  (cause: unknown): StoreUnavailable => {
    const code = systemCode(cause)
    if (isBusy(cause)) {
      const holder = holderOf(cause) ?? heldBy(path)
      return new StoreUnavailable({
        filename: path,
        isLocked: true,
        message: `The store is locked: ${holder} for too long. End that process and try again.`
      })
    }
    if (code === "ENOENT" || code === "ENOTDIR") {
      return unavailable(path, `There is no folder ${dirname(path)}. Create it first.`)
    }
    if (code === "EACCES" || code === "EPERM" || code === "EROFS" || isReadOnlyFile(cause)) {
      return unavailable(path, "This user may not write the file and its folder. Change the permissions or the user.")
    }
    return unavailable(path, `${messageOf(cause)}. Check the path, the permissions and the disk.`)
  }

/** The error of a statement that prepares the store. What it was doing precedes the message, except for locks and damage. */
export const fromStatement =
  (path: string, doing: string) =>
  (error: SqlError.SqlError): StoreError => {
    const { cause } = error.reason
    return isBusy(cause) || isDamage(cause) ? fromCause(path)(cause) : unavailable(path, `${doing}: ${error.message}`)
  }

/** The code of a system error, such as `ENOENT`. */
export const systemCode = (cause: unknown): unknown => (Predicate.hasProperty(cause, "code") ? cause.code : undefined)
