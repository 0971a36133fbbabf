/**
 * A lock that one process has, and that its system gives back however the process ends. Windows removes the file of a lock
 * late, since it removes none that is open.
 */
import { Predicate } from "effect"
import { closeSync, constants, fstatSync, lstatSync, openSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"

/** The locks that this process holds, or is about to take. */
const held = new Set<string>()

const isWindows = process.platform === "win32"

// Windows has no such flag.
const { O_CREAT: create, O_NOFOLLOW: noFollow = 0, O_RDWR: readWrite } = constants

const removeLock = (lock: string): void => {
  try {
    rmSync(lock, { force: true })
  } catch {
    // Windows removes no database that a process has open; the next holder removes it.
  }
}

/**
 * Takes a lock, and returns what gives it back; `undefined` if another holds it. The system's own lock is on the file,
 * which Node offers by SQLite alone, and ends with the process that took it, however that ends.
 *
 * Only the holder removes the file. So its name leads to the file of `descriptor` from the opening to the comparison, or
 * has left it for good: the database, opened in between, is that file or the lock is given back.
 */
export const takeLock = (lock: string): (() => void) | undefined => {
  if (held.has(lock)) return undefined
  held.add(lock)
  let database: DatabaseSync | undefined
  let descriptor: number | undefined
  const close = () => {
    database?.close()
    // Last, and by the holder alone: closing a descriptor drops the locks of its whole process on the file.
    if (descriptor !== undefined) closeSync(descriptor)
    held.delete(lock)
  }
  try {
    descriptor = openSync(lock, create | readWrite | noFollow, 0o600)
    database = new DatabaseSync(lock)
    // In memory, since a journal would be a file too.
    database.exec("PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE")
    const { ino } = fstatSync(descriptor, { bigint: true })
    if (lstatSync(lock, { bigint: true, throwIfNoEntry: false })?.ino === ino) {
      return () => {
        if (!isWindows) removeLock(lock)
        close()
        if (isWindows) removeLock(lock)
      }
    }
    close()
    return undefined
  } catch (cause) {
    close()
    if (codeOf(cause) === busy) return undefined
    throw cause
  }
}

/** SQLITE_BUSY. */
const busy = 5

const codeOf = (cause: unknown): unknown => (Predicate.hasProperty(cause, "errcode") ? cause.errcode : undefined)
