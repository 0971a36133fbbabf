/**
 * The database file: found whole or refused, created readable by its owner alone, opened with settings that are read
 * back. All that is learnt of the content is learnt through SQLite: closing any other descriptor of the file would drop
 * the locks that this process holds on it, and with them what keeps several processes apart.
 */
import { Duration, Effect } from "effect"
import { closeSync, fsyncSync, openSync, readSync, statSync, writeSync } from "node:fs"
import { resolve } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { createPrivate } from "./AtomicFile.ts"
import { blockingWait, whileBusy } from "./SqliteBusy.ts"
import { isBusy } from "./SqliteError.ts"
import { checkSizes, firstFault, pragma, readSchema } from "./StoreCheck.ts"
import { damaged, fromAccess, fromCause, unavailable } from "./StoreError.ts"

export interface Options {
  /** The path of the file, or `":memory:"`. */
  readonly filename: string
  /** How long a statement waits for a lock that another connection holds: 5 seconds unless told. */
  readonly busyTimeout?: Duration.Input | undefined
  /** Opens an existing file and refuses to write. */
  readonly readonly?: boolean | undefined
  /** Prepares each connection before its first statement: functions of our own, say. */
  readonly prepare?: ((database: DatabaseSync) => void) | undefined
}

/** Far longer than any transaction of the store takes. */
export const defaultBusyTimeout: Duration.Input = "5 seconds"

/** The name that SQLite gives to a database without a file. */
export const memory = ":memory:"

// The pages of 4 KiB that may gather in the WAL before they are moved to the file: 32 MiB, and a quarter more bulk
// writes per second than with SQLite's 1000. A long reader lets the WAL grow; the size limit cuts it back afterwards.
const walPages = 8000
const walSizeLimit = 64 * 1024 * 1024

/** The path that SQLite gets: absolute, so that `file:` and an empty name have no special meaning. */
export const toPath = (filename: string): string => (filename === memory ? memory : resolve(filename))

/**
 * Whether this version of SQLite can be trusted with the file: before 3.51.3, two connections that write and checkpoint
 * at the same time could damage a database in WAL mode.
 */
export const isSupported = (version: string): boolean => {
  const [major = 0, minor = 0, patch = 0] = version.split(".").map(Number)
  return major * 1_000_000 + minor * 1_000 + patch >= 3_051_003
}

/** Opens the database file, and creates it where it is missing. Closed with the scope. */
export const open = Effect.fnUntraced(function* (options: Options) {
  const path = toPath(options.filename)
  const readOnly = options.readonly === true
  const timeout = Duration.toMillis(options.busyTimeout ?? defaultBusyTimeout)
  const asked = performance.now()
  const version = process.versions["sqlite"] ?? "0"
  if (!isSupported(version)) {
    return yield* unavailable(path, `SQLite ${version} can damage a database that two processes use. Use Node 26.`)
  }
  if (path !== memory) {
    yield* check(path, readOnly, { timeout, asked })
  }
  return yield* Effect.acquireRelease(
    // The switch to WAL needs the file alone, and SQLite does not always wait for that.
    whileBusy({ try: () => connect(path, readOnly, options.prepare), catch: fromCause(path), timeout, asked }),
    (database) => Effect.sync(() => disconnect(database, readOnly))
  )
})

/** A second connection for reading, as a snapshot of its own. Closed with the scope. */
export const openReader = (path: string, timeout: number, prepare?: Options["prepare"]) =>
  Effect.acquireRelease(
    whileBusy({
      try: () => {
        const database = new DatabaseSync(path, { readOnly: true, timeout: blockingWait })
        prepare?.(database)
        return database
      },
      catch: fromAccess(path),
      timeout
    }),
    (database) => Effect.sync(() => database.close())
  )

/** Refuses what must not be opened, before anything is written; a missing file is created. */
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
  // With a journal left by a crash only a connection that writes can read the file: `connect` reads the schema too.
  if (size > 0 && journal <= 0) {
    const fault = yield* whileBusy({ try: () => firstFault(path, size, wal), catch: fromCause(path), ...wait })
    if (fault !== undefined) return yield* damaged(path, fault)
  }
})

/** Opens a connection, sets what it needs and reads it back: a setting that did not take would cost data later. */
const connect = (path: string, readOnly: boolean, prepare: Options["prepare"]): DatabaseSync => {
  const database = new DatabaseSync(path, { readOnly, timeout: blockingWait, enableDoubleQuotedStringLiterals: false })
  try {
    readSchema(database)
    if (!readOnly) {
      pragma(database, "journal_mode = WAL")
      pragma(database, `journal_size_limit = ${walSizeLimit}`)
      pragma(database, `wal_autocheckpoint = ${walPages}`)
      assertWritable(database, path)
    }
    pragma(database, "synchronous = FULL")
    pragma(database, "foreign_keys = ON")
    pragma(database, "trusted_schema = OFF")
    pragma(database, "cache_size = -65536")
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

/** A file that may not be written, or whose header forbids it, opens all the same and fails at the first write. */
const assertWritable = (database: DatabaseSync, path: string) => {
  try {
    // Without the pragma nothing would be tried: SQLite quietly makes a reader of the BEGIN.
    database.exec("BEGIN IMMEDIATE; PRAGMA user_version = 0")
    if (path !== memory) rewriteWal(`${path}-wal`)
    database.exec("ROLLBACK")
  } catch (cause) {
    // Another connection is writing, so the file can be written.
    if (!isBusy(cause)) throw cause
  }
}

const disconnect = (database: DatabaseSync, readOnly: boolean) => {
  try {
    // Statistics for the planner where they are out of date, unless another connection is writing.
    if (!readOnly) database.exec("PRAGMA busy_timeout = 0; PRAGMA analysis_limit = 400; PRAGMA optimize")
  } catch {
    // The next start can do without.
  } finally {
    database.close()
  }
}

const pieceBytes = 1024 * 1024

/**
 * Writes what a WAL holds once more, and syncs it. A process whose sync failed leaves commits behind that can be read and
 * are not on the disk, which no further sync would put there: what is written behind them would be lost with them.
 * (docs/decisions/durability.md)
 *
 * **Gotchas**
 *
 * The caller holds the lock for writing, so that nobody else changes the file meanwhile.
 */
const rewriteWal = (wal: string): void => {
  const size = statSync(wal, { throwIfNoEntry: false })?.size ?? 0
  if (size === 0) return
  const file = openSync(wal, "r+")
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
