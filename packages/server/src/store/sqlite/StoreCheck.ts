/**
 * What is learnt of a database file before it is opened to be written: its sizes, and that it is whole.
 */
import { Effect } from "effect"
import { statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { blockingWait } from "./SqliteBusy.ts"
import { damaged, fromAccess, unavailable } from "./StoreError.ts"

// Up to here every page is checked at open, at about 1.5 ms per MiB, and three times that beside a WAL. A larger file has
// its header and its schema read, as a full check would take seconds at each start; SQLite reports other damage when a
// query meets it.
const fullCheckLimit = 64 * 1024 * 1024

// One page of the smallest size that SQLite allows.
const smallest = 512

/**
 * Refuses what its sizes give away, before SQLite sees it: beside an empty file it would delete the WAL. Answers with the
 * sizes, -1 for what is not there.
 */
export const checkSizes = Effect.fnUntraced(function* (path: string) {
  // First the WAL, then the file: a store that another process is creating has its file filled before its WAL.
  const wal = yield* sizeOf(`${path}-wal`)
  const journal = yield* sizeOf(`${path}-journal`)
  const size = yield* sizeOf(path)
  if (wal > 0 && size <= 0) {
    return yield* damaged(path, "the file is empty or missing while its -wal file holds data")
  }
  // SQLite takes a file of one byte for an empty one.
  if (size > 0 && size < smallest) {
    return yield* damaged(path, `it has ${size} bytes, and the smallest database has ${smallest}`)
  }
  return { size, wal, journal }
})

/** Why the file cannot be a whole database, as SQLite sees it; `undefined` where it sees nothing. */
export const firstFault = (path: string, size: number, wal: number): string | undefined => {
  using database = new DatabaseSync(path, { readOnly: true, timeout: blockingWait })
  readSchema(database)
  if (size > fullCheckLimit) return undefined
  // Nothing ties a WAL to its file: pages of another store would fit, and only that rows and indexes disagree tells.
  const fault = pragma(database, wal > 0 ? "integrity_check(1)" : "quick_check(1)")
  return fault === "ok" ? undefined : String(fault)
}

/** Reads the header and every definition in the schema. */
export const readSchema = (database: DatabaseSync) => database.prepare("SELECT count(*) FROM sqlite_schema").get()

/** The first value that a pragma answers with. */
export const pragma = (database: DatabaseSync, text: string): unknown =>
  Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0]

/** The size of a file, or -1 where there is none. */
const sizeOf = (path: string) =>
  Effect.suspend(() => {
    try {
      const stats = statSync(path, { throwIfNoEntry: false })
      if (stats?.isDirectory() === true) {
        return unavailable(path, "The path is a directory. Name a file in it.")
      }
      return Effect.succeed(stats?.size ?? -1)
    } catch (cause) {
      return fromAccess(path)(cause)
    }
  })
