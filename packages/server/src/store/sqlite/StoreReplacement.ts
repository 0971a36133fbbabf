/** Puts a database in the place of a store that nobody uses. (docs/decisions/backups.md) */
import { databaseSuffixes } from "@roster/domain/DatabaseFiles"
import { Effect } from "effect"
import {
  closeSync,
  constants,
  existsSync,
  fchmodSync,
  fchownSync,
  fstatSync,
  linkSync,
  openSync,
  renameSync,
  rmSync,
  statSync
} from "node:fs"
import type { DatabaseSync } from "node:sqlite"
import { publish, syncFolder } from "./AtomicFile.ts"
import { pragma } from "./StoreCheck.ts"
import { fromAccess, fromCause, isLocked, StoreUnavailable, unavailable } from "./StoreError.ts"
import * as StoreFile from "./StoreFile.ts"
import { usersOf, userWords } from "./StoreUsers.ts"

/** The finished database, the store whose name it takes, and the name that the old content gets. */
interface Names {
  readonly staged: string
  readonly path: string
  readonly kept: string
}

const inUse = (path: string) => {
  return new StoreUnavailable({
    filename: path,
    isLocked: true,
    message: `The store ${path} is in use by ${userWords(path)}. End what uses it, such as roster serve, and restore again.`
  })
}

/** Opens a store that no other connection has open, and keeps all others out until the scope closes. */
export const openAlone = (path: string) =>
  StoreFile.open({ filename: path, busyTimeout: 0, alone: true }).pipe(
    Effect.mapError((error) => (isLocked(error) ? inUse(path) : error))
  )

/** Replaces a store that `openAlone` has opened. A crash leaves the old store or the new one. */
export const replace = (database: DatabaseSync, { kept, path, staged }: Names) =>
  Effect.try({
    try: () => {
      // A process that waits with the old file open then finds no WAL, and SQLite refuses to write to a file that was moved.
      const mode = pragma(database, "journal_mode = DELETE")
      if (mode !== "delete") throw new TypeError(`SQLite keeps the store in the journal mode ${mode}`)
      for (const suffix of databaseSuffixes.slice(1)) rmSync(path + suffix, { force: true })
      keepOwner(path, staged)
      linkSync(path, kept)
      try {
        renameSync(staged, path)
      } catch (cause) {
        rmSync(kept)
        throw cause
      }
      syncFolder(path)
    },
    catch: fromCause(path)
  })

/** Replaces a damaged store, which SQLite cannot lock: a process that has it open would continue with the renamed file. */
export const replaceDamaged = Effect.fnUntraced(function* ({ kept, path, staged }: Names) {
  if (process.platform !== "linux") {
    return yield* unavailable(
      path,
      "It is damaged, and whether a program has it open cannot be told on this system. Stop every such " +
        "program, move the file and its -wal file away, and restore again."
    )
  }
  if (usersOf(path).length > 0) return yield* inUse(path)
  yield* Effect.try({
    try: () => {
      if (existsSync(path)) keepOwner(path, staged)
      // The file first: without its -wal file it would look like an older store.
      for (const suffix of databaseSuffixes) if (existsSync(path + suffix)) renameSync(path + suffix, kept + suffix)
    },
    catch: fromAccess(path)
  })
  yield* publish(staged, path)
})

// Windows has no such flag.
const { O_NOFOLLOW: noFollow = 0, O_RDONLY: readOnly } = constants

/**
 * A service of another user must be able to open what root has restored. That user can write to the folder, and must not get
 * another file by a link in the place of the copy.
 */
const keepOwner = (from: string, to: string) => {
  const { gid, mode, uid } = statSync(from)
  const copy = openSync(to, readOnly | noFollow)
  try {
    const stats = fstatSync(copy)
    if (!stats.isFile() || stats.nlink > 1) throw new TypeError(`${to} was replaced by a link`)
    fchownSync(copy, uid, gid)
    fchmodSync(copy, mode)
  } finally {
    closeSync(copy)
  }
}
