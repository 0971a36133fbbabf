/**
 * Why a database file is not opened, in words that say what to do about it.
 */
import { Predicate, Schema } from "effect"
import { dirname } from "node:path"
import { lockHolder } from "./LockHolder.ts"
import { errorCode, isBusy, isDamage } from "./SqliteError.ts"

/**
 * The file is there and is not a whole SQLite database. Nothing was written to it.
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreDamaged extends Schema.TaggedError<StoreDamaged>()("StoreDamaged", {
  filename: Schema.String,
  /** What is wrong with it, in the words of SQLite. */
  detail: Schema.String,
  message: Schema.String
}) {}

/**
 * The file cannot be opened, created or used: a wrong path, a missing permission, a lock, a version of SQLite.
 *
 * @category errors
 * @since 0.1.0
 */
export class StoreUnavailable extends Schema.TaggedError<StoreUnavailable>()("StoreUnavailable", {
  filename: Schema.String,
  message: Schema.String
}) {}

/**
 * @category constructors
 * @since 0.1.0
 */
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

/**
 * @category constructors
 * @since 0.1.0
 */
export const unavailable = (filename: string, detail: string) =>
  new StoreUnavailable({ filename, message: `The store ${filename} cannot be used. ${detail}` })

/**
 * What SQLite or the file system threw while it created, opened or read the file.
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromCause =
  (path: string) =>
  (cause: unknown): StoreDamaged | StoreUnavailable => {
    const detail = messageOf(cause)
    // A header or a schema that SQLite cannot read comes as a plain SQLITE_ERROR.
    return isDamage(cause) || detail === "unsupported file format" || detail.startsWith("malformed database schema")
      ? damaged(path, detail)
      : fromAccess(path)(cause)
  }

/**
 * The same where the content of the file has no part in it.
 *
 * @category conversions
 * @since 0.1.0
 */
export const fromAccess =
  (path: string) =>
  (cause: unknown): StoreUnavailable => {
    const code = systemCode(cause)
    if (isBusy(cause)) {
      return unavailable(path, `It is locked by ${lockHolder(path)}. End that process, or wait longer for it.`)
    }
    if (code === "ENOENT" || code === "ENOTDIR") {
      return unavailable(path, `There is no folder ${dirname(path)}. Create it first.`)
    }
    if (code === "EACCES" || code === "EPERM" || code === "EROFS" || errorCode(cause) === 8) {
      return unavailable(path, "This user may not write the file and its folder. Change the permissions or the user.")
    }
    return unavailable(path, `${messageOf(cause)}. Check the path, the permissions and the disk.`)
  }

/**
 * The name that the file system gives to a failure, such as `ENOENT`.
 *
 * @category guards
 * @since 0.1.0
 */
export const systemCode = (cause: unknown): unknown => (Predicate.hasProperty(cause, "code") ? cause.code : undefined)

const messageOf = (cause: unknown): string => (Predicate.isError(cause) ? cause.message : "unknown cause")
