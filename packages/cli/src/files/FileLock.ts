/** Files that commands share: any command reads them, one at a time writes them. */
import { Effect, type FileSystem, Predicate, Schedule } from "effect"
import { closeSync, constants, fstatSync, lstatSync, openSync, rmSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { fileProblem } from "../errors/FileProblem.ts"
import { type UsageError, usageError } from "../errors/UsageError.ts"

/** The text of a file; `None` if it does not exist. */
export const readOptional = (fs: FileSystem.FileSystem, file: string) =>
  fs.readFileString(file).pipe(
    Effect.asSome,
    Effect.catchIf(
      (error) => error.reason._tag === "NotFound",
      () => Effect.succeedNone
    ),
    Effect.mapError(fileProblem(file, "read"))
  )

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

/** SQLITE_BUSY, and SQLITE_NOTADB. */
const [busy, notADatabase] = [5, 26]

const codeOf = (cause: unknown): unknown => (Predicate.hasProperty(cause, "errcode") ? cause.errcode : undefined)

const lockProblem =
  (lock: string, message: string) =>
  (cause: unknown): UsageError =>
    codeOf(cause) === notADatabase
      ? usageError(message, `If no older roster is running, it has left ${lock}: delete it.`)
      : fileProblem(lock, "written")(cause)

/** Looks again for five seconds, far longer than any command holds the lock of a small file. */
const whileWaiting = Schedule.spaced("20 millis").pipe(Schedule.while(({ attempt }) => attempt < 250))

/** Looks again after a moment, in which the last holder may be removing the file. */
const atOnce = Schedule.spaced("20 millis").pipe(Schedule.while(({ attempt }) => attempt < 3))

/**
 * Runs an effect under the lock of a file, which is a file beside it. Without `message`, it waits for another command; with
 * it, it fails with that message.
 */
export const withLock = <A, E, R>(file: string, write: Effect.Effect<A, E, R>, message?: string) => {
  const lock = `${file}.lock`
  const said = message ?? `Another command is writing ${file}.`
  const taken = usageError(said, "Try again when it has ended.")
  return Effect.acquireUseRelease(
    Effect.try({ try: () => takeLock(lock), catch: lockProblem(lock, said) }).pipe(
      Effect.filterOrFail(Predicate.isNotUndefined, () => taken),
      Effect.retry({
        while: (error) => error === taken,
        schedule: message === undefined ? whileWaiting : atOnce
      })
    ),
    () => write,
    (giveBack) => Effect.sync(giveBack)
  )
}
