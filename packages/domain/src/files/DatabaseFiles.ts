/** Which files are a SQLite database or belong to one, so that no other file takes their place. (docs/decisions/files.md) */
import { Effect } from "effect"

/** The endings of the files of a database. The file itself comes first. */
export const databaseSuffixes: ReadonlyArray<string> = ["", "-wal", "-shm", "-journal"]

/** How many bytes of a file `FileLook.head` reads. */
export const databaseHeadBytes = 20

/** How to look at files. */
export interface FileLook<R = never> {
  /** Whether there is anything at a path, also behind a link. */
  readonly exists: (path: string) => Effect.Effect<boolean, never, R>
  /** The first bytes of a file, or of the one that a link leads to; none of what is no file or cannot be read. */
  readonly head: (path: string) => Effect.Effect<Uint8Array, never, R>
}

/** How databases, their WAL, their journal and their shared memory begin, in Latin-1. (https://www.sqlite.org/fileformat.html) */
const database = /^SQLite format 3\0/
const usedDatabase = /^SQLite format 3\0..\x02/s
const parts = [/^7\x7f\x06[\x82\x83]/, /^\xd9\xd5\x05\xf9\x20\xa1\x63\xd7/, /^(?:\x18\xe2\x2d\0|\0\x2d\xe2\x18)\0{4}/]

const ofDatabase = /^(.+)-(?:wal|shm|journal)$/i

/**
 * Whether a path is that of a SQLite database, or of a file that belongs to one, even one that is not there yet. Such a
 * file is never replaced: writes that were acknowledged can be in it alone. With `isCopy`, what is to be written there is a
 * database itself, which may take the place of a database that has no WAL, such as an earlier backup.
 */
export const isOfDatabase = Effect.fnUntraced(function* <R>(
  target: string,
  { exists, head }: FileLook<R>,
  { isCopy = false }: { readonly isCopy?: boolean } = {}
) {
  const begins = (path: string, forms: ReadonlyArray<RegExp>) =>
    Effect.map(head(path), (bytes) => {
      const text = String.fromCharCode(...bytes)
      return forms.some((form) => form.test(text))
    })
  const [, owner] = ofDatabase.exec(target) ?? []
  for (const path of owner === undefined ? [target] : [owner, target]) {
    // Known without opening it: closing a file drops the locks that this process has on it.
    for (const suffix of ["-wal", "-shm"]) if (yield* exists(path + suffix)) return true
  }
  // A journal that another database has left there would be rolled back into the new one.
  if (isCopy && (yield* exists(`${target}-journal`))) return true
  if (owner !== undefined && (yield* begins(owner, [database]))) return true
  return yield* begins(target, [isCopy ? usedDatabase : database, ...parts])
})
