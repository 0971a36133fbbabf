/**
 * Putting another database in the place of one that may be in use.
 */
import { Effect } from "effect"
import { existsSync, readdirSync, renameSync, statSync } from "node:fs"
import { backup, type DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import { errorCode, isBusy } from "./SqliteError.ts"
import { createPrivate, databaseSuffixes, removeDatabase, syncFolder } from "./AtomicFile.ts"
import { fromAccess, fromCause, type StoreError, unavailable } from "./StoreError.ts"
import * as StoreFile from "./StoreFile.ts"

// Writers of a busy store leave gaps, though short ones.
const patience = 30_000

/**
 * Writes the pages of one database over those of another, in one transaction of SQLite: whoever reads or writes the other
 * one meanwhile, in whatever process, sees it wholly as it was or wholly as it is. What it held before goes to a file of
 * its own, exactly up to the moment from which on nothing but the new content is written to.
 *
 * **Gotchas**
 *
 * Keeping the old content blocks the thread for as long as SQLite takes to write it down. Both need the same page size.
 */
export const replacePages = Effect.fnUntraced(
  function* (options: { readonly staged: string; readonly path: string; readonly kept: string }) {
    const { kept, path, staged } = options
    // Open until the end, so that the file stays in WAL mode, where nobody who reads is in the way.
    const database = yield* StoreFile.open({ filename: path })
    const reader = yield* StoreFile.openReader(path, patience)
    const source = yield* StoreFile.openReader(staged, patience)
    if (!(yield* createPrivate(kept))) return yield* unavailable(kept, "It is there already.")
    yield* overwrite(source, path, () => {
      // The lock is held and nothing is committed: this is the last moment of the old content, and nobody can add to it.
      reader.prepare("VACUUM INTO ?").run(kept)
      syncFolder(kept)
    }).pipe(Effect.onError(() => removeDatabase(kept)))
    // Otherwise the next writer would have to move all of it from the WAL to the file.
    database.exec("PRAGMA wal_checkpoint(PASSIVE)")
  },
  Effect.scoped,
  Effect.uninterruptible
)

const overwrite = (source: DatabaseSync, path: string, onLocked: () => void) => {
  const deadline = performance.now() + patience
  // In two steps, so that there is a moment between them: a store has far more pages than one.
  const { page_count: pages } = source.prepare("PRAGMA page_count").get() ?? {}
  const rate = Math.ceil(Number(pages) / 2)
  const attempt: Effect.Effect<void, StoreError> = Effect.suspend(() => {
    let locked = false
    const progress = () => {
      if (locked) return
      locked = true
      onLocked()
    }
    return Effect.tryPromise({
      try: () => backup(source, path, { rate, progress }),
      catch: (cause) => (!locked && isLocked(cause) ? "Locked" : fromCause(path)(cause))
    }).pipe(
      Effect.asVoid,
      Effect.catchIf(
        (error) => error === "Locked",
        () =>
          performance.now() < deadline
            ? Effect.andThen(pause, attempt)
            : unavailable(path, "Other programs write to it without a pause. Try again, or stop one of them.")
      )
    )
  })
  return attempt
}

/** node:sqlite has no word of its own for a lock that the copy did not get: "not an error", with the code 0. */
const isLocked = (cause: unknown): boolean => isBusy(cause) || errorCode(cause) === 0

const pause = Effect.promise((signal) => setTimeout(1 + Math.random() * 4, undefined, { signal }))

/**
 * Renames a database that cannot be read, with the files beside it. Refused while a program has it open: it would go on
 * with the file under the new name.
 */
export const quarantine = Effect.fnUntraced(function* (path: string, aside: string) {
  if (process.platform !== "linux") {
    return yield* unavailable(
      path,
      "It is damaged, and whether a program has it open cannot be told on this system. Stop every such program, move the file and its -wal file away, and restore again."
    )
  }
  const users = usersOf(path)
  if (users.length > 0) {
    return yield* unavailable(path, `It is damaged, and in use: end process ${users.join(", ")} and restore again.`)
  }
  yield* Effect.try({
    try: () => {
      // The file goes first: without its -wal file it would look like a store of an earlier day.
      for (const suffix of databaseSuffixes) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
      syncFolder(path)
    },
    catch: fromAccess(path)
  })
})

/** The processes that have a database open, as far as this user may see. */
const usersOf = (path: string): ReadonlyArray<string> => {
  const files = databaseSuffixes.flatMap((suffix) => identityOf(path + suffix) ?? [])
  return attempted(() => readdirSync("/proc"), []).filter(
    (pid) =>
      /^\d+$/.test(pid) &&
      attempted(() => readdirSync(`/proc/${pid}/fd`), []).some((fd) =>
        files.includes(identityOf(`/proc/${pid}/fd/${fd}`) ?? "")
      )
  )
}

const identityOf = (path: string): string | undefined =>
  attempted(() => {
    const { dev, ino } = statSync(path)
    return `${dev} ${ino}`
  }, undefined)

/** A process may end, and those of others are not shown. */
const attempted = <A>(look: () => A, otherwise: A): A => {
  try {
    return look()
  } catch {
    return otherwise
  }
}
