/** Looks for damage in a database before a store opens it. It reads a large one only in part. */
import { Effect } from "effect"
import { statSync } from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { damaged, fromAccess, unavailable } from "./StoreError.ts"

// Opening checks every page up to this size, at 1.5 ms per MiB, or 4.5 ms with a WAL; above, header and schema only.
const fullCheckLimit = 64 * 1024 * 1024

// One page of the smallest size that SQLite allows.
const smallest = 512

/** Gives the sizes, -1 if missing. Refuses damage before SQLite would delete the WAL beside an empty file. */
export const checkSizes = Effect.fnUntraced(function* (path: string) {
  // The WAL first: of a store that another process is creating, the file is filled before the WAL.
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

/** The first fault that SQLite finds, or `undefined`. */
export const firstFault = (database: DatabaseSync, size: number, wal: number): string | undefined => {
  readSchema(database)
  if (size > fullCheckLimit) return undefined
  // Nothing ties a WAL to its file: with the WAL of another store only rows and indexes disagree.
  const fault = pragma(database, wal > 0 ? "integrity_check(1)" : "quick_check(1)")
  return fault === "ok" ? undefined : String(fault)
}

/** Reads the header and the whole schema. */
export const readSchema = (database: DatabaseSync) => database.prepare("SELECT count(*) FROM sqlite_schema").get()

/** The first value of a pragma. */
export const pragma = (database: DatabaseSync, text: string): unknown =>
  Object.values(database.prepare(`PRAGMA ${text}`).get() ?? {})[0]

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
