/** Opens the database file. Only SQLite may open it: closing another descriptor would drop this process's locks. */
import { Duration, Effect } from "effect"
import { accessSync, closeSync, constants, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs"
import { dirname, resolve } from "node:path"
import { pathToFileURL } from "node:url"
import { DatabaseSync } from "node:sqlite"
import { createPrivate } from "./AtomicFile.ts"
import { blockingWait, whileBusy } from "./SqliteBusy.ts"
import { isBusy, isUnwritable } from "./SqliteError.ts"
import { checkSizes, firstFault, pragma, readSchema } from "./StoreCheck.ts"
import { damaged, fromAccess, fromCause, unavailable } from "./StoreError.ts"

/** Options of a database file. */
export interface Options {
  /** The path of the file, or `":memory:"`. */
  readonly filename: string
  /** How long a statement waits for a lock of another connection (default: 5 seconds). */
  readonly busyTimeout?: Duration.Input | undefined
  /**
   * Opens an existing file and refuses to write (default: false). One that this user may only read is read too, where no
   * other process writes it.
   */
  readonly readonly?: boolean | undefined
  /** Whether no other connection, of any process, has the file open until this one closes (default: false). */
  readonly alone?: boolean | undefined
  /** Runs on each connection before its first statement, such as to register functions. */
  readonly prepare?: ((database: DatabaseSync) => void) | undefined
}

/** Far longer than any transaction of the store. */
export const defaultBusyTimeout: Duration.Input = "5 seconds"

/** SQLite's name for a database without a file. */
export const memory = ":memory:"

// Checkpoints at 32 MiB give a quarter more bulk writes than at SQLite's 1000 pages; the limit truncates a longer WAL.
const walPages = 8000
const walSizeLimit = 64 * 1024 * 1024

// The service has such a connection on each of two threads. What is not here is read from the cache of the system.
const cacheKibibytes = 16 * 1024

/** The absolute path, so that `file:` and an empty name have no special meaning for SQLite. */
export const toPath = (filename: string): string => (filename === memory ? memory : resolve(filename))

const needed = "Node 24.15 and newer, Bun and Deno have a safe one."

/** Whether this version of SQLite is safe: before 3.51.3, concurrent writes and checkpoints could damage a WAL database. */
export const isSupported = (version: string): boolean => {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number)
  return major * 1_000_000 + minor * 1_000 + patch >= 3_051_003
}

/** Opens the database file, or creates it. Closed with the scope. */
export const open = Effect.fnUntraced(function* (options: Options) {
  const { alone = false } = options
  const path = toPath(options.filename)
  const readOnly = options.readonly === true
  const timeout = Duration.toMillis(options.busyTimeout ?? defaultBusyTimeout)
  const asked = performance.now()
  const version = process.versions["sqlite"] ?? "0"
  if (!isSupported(version)) {
    return yield* unavailable(path, `SQLite ${version} can damage a database that two processes use. ${needed}`)
  }
  if (path !== memory) {
    yield* check(path, readOnly, { timeout, asked })
  }
  return yield* Effect.acquireRelease(
    // The switch to WAL needs exclusive access, for which SQLite does not always wait.
    whileBusy({ try: () => connect(path, options), catch: fromCause(path), timeout, asked }),
    // The file that was open alone can be another one by now.
    (database) => Effect.sync(() => disconnect(database, readOnly || alone))
  )
})

/** Opens a connection for reading, with its own snapshot. Closed with the scope. */
export const openReader = (path: string, timeout: number, prepare?: Options["prepare"]) =>
  Effect.acquireRelease(
    whileBusy({
      try: () => {
        const database = openToRead(path)
        prepare?.(database)
        return database
      },
      catch: fromAccess(path),
      timeout
    }),
    (database) => Effect.sync(() => database.close())
  )

/** Refuses a file that must not be opened, or creates a missing one. */
const check = Effect.fnUntraced(function* (
  path: string,
  readOnly: boolean,
  wait: { readonly timeout: number; readonly asked: number }
) {
  const { journal, size, wal } = yield* checkSizes(path)
  if (size < 0) {
    if (readOnly) return yield* unavailable(path, "There is no such file. Check the path.")
    yield* createPrivate(path)
  }
  // SQLite would open it all the same, and make files beside it that its owner could not write.
  if (!readOnly && !isAllowed(path)) return yield* fromAccess(path)({ code: "EACCES" })
  // With a rollback journal of a crash only a writing connection can read the file: `connect` reads the schema too.
  if (size > 0 && journal <= 0) {
    const look = () => {
      using database = openToRead(path)
      return firstFault(database, size, wal)
    }
    const fault = yield* whileBusy({ try: look, catch: fromCause(path), ...wait })
    if (fault !== undefined) return yield* damaged(path, fault)
  }
})

const settings = { timeout: blockingWait, enableDoubleQuotedStringLiterals: false }

/** Whether this user may write a file or a folder. */
const isAllowed = (path: string): boolean => {
  try {
    accessSync(path, constants.W_OK)
    return true
  } catch {
    return false
  }
}

/** Whether this user may write a file, and make others beside it. */
const isWritable = (path: string): boolean => isAllowed(path) && isAllowed(dirname(path))

/** The content of a WAL or a journal, which is no part of the file yet. */
const hasContent = (path: string): boolean => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0

/**
 * Opens a file that this user may only read. SQLite would make files beside it, which its owner could not write, or fail, so
 * a file that is complete is read without locks.
 */
const openUnwritable = (path: string): DatabaseSync => {
  const address = pathToFileURL(path)
  const isComplete = !["-wal", "-journal"].some((suffix) => hasContent(path + suffix))
  address.searchParams.set(isComplete ? "immutable" : "readonly_shm", "1")
  const database = new DatabaseSync(address, { ...settings, readOnly: true })
  try {
    readSchema(database)
    return database
  } catch (cause) {
    database.close()
    throw isUnwritable(cause) && !isComplete ? new Error(incomplete, { cause }) : cause
  }
}

const incomplete =
  "This user may only read it, and writes of another process are not in the file yet: read it as its owner, or when that " +
  "process has ended"

/** Opens a connection that only reads; `writable` if it may complete what a crash has left. */
const openToRead = (path: string, writable = false): DatabaseSync => {
  if (path !== memory && !isWritable(path)) return openUnwritable(path)
  const database = new DatabaseSync(path, { ...settings, readOnly: !writable })
  try {
    readSchema(database)
    return database
  } catch (cause) {
    database.close()
    if (isUnwritable(cause)) return openUnwritable(path)
    throw cause
  }
}

/**
 * Opens a connection that reads alone. It may complete what a crash has left, as SQLite does when the last connection
 * closes, and leaves what the file holds and how it is stored.
 */
const connectToRead = (path: string): DatabaseSync => {
  const database = openToRead(path, true)
  try {
    if (path !== memory && hasContent(`${path}-wal`) && isWritable(path)) assertWritable(database, path)
    pragma(database, "query_only = ON")
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

/** Opens a connection and verifies its settings: one that was ignored could cost data later. */
const connect = (path: string, options: Options): DatabaseSync => {
  const { alone = false, prepare, readonly: readOnly = false } = options
  const database = readOnly ? connectToRead(path) : new DatabaseSync(path, settings)
  try {
    // Before the first read: with a WAL it takes a lock on the file that each open connection shares.
    if (alone) pragma(database, "locking_mode = EXCLUSIVE")
    readSchema(database)
    if (!readOnly) {
      pragma(database, "journal_mode = WAL")
      pragma(database, `journal_size_limit = ${walSizeLimit}`)
      pragma(database, `wal_autocheckpoint = ${walPages}`)
      assertWritable(database, path)
    }
    // Deno does not keep the `timeout` of a database in memory.
    pragma(database, `busy_timeout = ${blockingWait}`)
    pragma(database, "synchronous = FULL")
    pragma(database, "foreign_keys = ON")
    pragma(database, "trusted_schema = OFF")
    pragma(database, `cache_size = -${cacheKibibytes}`)
    prepare?.(database)
    assertSettings(database, {
      synchronous: 2,
      foreign_keys: 1,
      busy_timeout: blockingWait,
      ...(readOnly ? {} : { journal_mode: path === memory ? "memory" : "wal" })
    })
    return database
  } catch (cause) {
    database.close()
    throw cause
  }
}

const assertSettings = (database: DatabaseSync, expected: Readonly<Record<string, unknown>>) => {
  for (const [name, value] of Object.entries(expected)) {
    const actual = pragma(database, name)
    if (actual !== value) {
      throw new TypeError(`SQLite keeps the setting ${name} at ${actual}, and the store needs ${value}`)
    }
  }
}

/** Tries to write: SQLite also opens a file that cannot be written, and fails at the first write. */
const assertWritable = (database: DatabaseSync, path: string) => {
  try {
    // The BEGIN alone silently becomes a reader.
    database.exec("BEGIN IMMEDIATE; PRAGMA user_version = 0")
    if (path !== memory) rewriteWal(`${path}-wal`)
    database.exec("ROLLBACK")
  } catch (cause) {
    // Another connection is writing, so the file is writable.
    if (!isBusy(cause)) throw cause
  }
}

const disconnect = (database: DatabaseSync, readOnly: boolean) => {
  try {
    // Updates the statistics of the planner, unless another connection is writing.
    if (!readOnly) database.exec("PRAGMA busy_timeout = 0; PRAGMA analysis_limit = 400; PRAGMA optimize")
  } catch {
    // They are optional.
  } finally {
    database.close()
  }
}

const pieceBytes = 1024 * 1024

/**
 * Rewrites and flushes the WAL of an earlier process: after a failed fsync it can hold readable commits that no later
 * fsync puts on disk. The caller holds the write lock. (docs/decisions/durability.md)
 */
const rewriteWal = (wal: string): void => {
  const size = statSync(wal, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return
  // Windows has no such flag.
  const { O_NOFOLLOW: noFollow = 0, O_RDWR: readWrite } = constants
  const file = openSync(wal, readWrite | noFollow)
  try {
    const piece = Buffer.alloc(Math.min(size, pieceBytes))
    for (let at = 0; at < size;) {
      const length = readSync(file, piece, 0, piece.length, at)
      if (length === 0) break
      at += writeSync(file, piece, 0, length, at)
    }
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
