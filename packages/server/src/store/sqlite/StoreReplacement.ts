import { Effect } from "effect"
import { existsSync, readdirSync, renameSync, statSync } from "node:fs"
import { backup, type DatabaseSync } from "node:sqlite"
import { setTimeout } from "node:timers/promises"
import { errorCode, isBusy } from "./SqliteError.ts"
import { createPrivate, databaseSuffixes, removeDatabase, syncFolder } from "./AtomicFile.ts"
import { pragma } from "./StoreCheck.ts"
import { fromAccess, fromCause, type StoreError, unavailable } from "./StoreError.ts"
import * as StoreFile from "./StoreFile.ts"

/** In milliseconds. Writers of a busy store leave short gaps. */
const lockTimeout = 30_000

/**
 * Overwrites a database with another of the same page size in one transaction, and keeps the old content in a file.
 * Keeping the old content blocks the thread.
 */
export const replacePages = Effect.fnUntraced(
  function* (options: { readonly staged: string; readonly path: string; readonly kept: string }) {
    const { kept, path, staged } = options
    // Open until the end, so that the file stays in WAL mode, where readers do not block the replacement.
    const database = yield* StoreFile.open({ filename: path })
    const reader = yield* StoreFile.openReader(path, lockTimeout)
    const source = yield* StoreFile.openReader(staged, lockTimeout)
    if (!(yield* createPrivate(kept))) return yield* unavailable(kept, "It is there already.")
    yield* overwrite(source, path, () => {
      // The write lock is held and nothing is committed, so the old content cannot change any more.
      reader.prepare("VACUUM INTO ?").run(kept)
      syncFolder(kept)
    }).pipe(Effect.onError(() => removeDatabase(kept)))
    // Otherwise the next writer would have to checkpoint all of it.
    database.exec("PRAGMA wal_checkpoint(PASSIVE)")
  },
  Effect.scoped,
  Effect.uninterruptible
)

const overwrite = (source: DatabaseSync, path: string, onLocked: () => void) => {
  const deadline = performance.now() + lockTimeout
  // In two steps, to run `onLocked` between them.
  const rate = Math.ceil(Number(pragma(source, "page_count")) / 2)
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

/** If the copy does not get the lock, node:sqlite throws "not an error" with the code 0. */
const isLocked = (cause: unknown): boolean => isBusy(cause) || errorCode(cause) === 0

const pause = Effect.promise((signal) => setTimeout(1 + Math.random() * 4, undefined, { signal }))

/** Renames a damaged database, unless a process has it open, which would continue with the renamed file. */
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
      // The file first: without its -wal file it would look like an older store.
      for (const suffix of databaseSuffixes) if (existsSync(path + suffix)) renameSync(path + suffix, aside + suffix)
      syncFolder(path)
    },
    catch: fromAccess(path)
  })
})

/** The processes that have a database open, as far as this user can see. */
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

/** Processes can end meanwhile, and those of other users are hidden. */
const attempted = <A>(look: () => A, otherwise: A): A => {
  try {
    return look()
  } catch {
    return otherwise
  }
}
