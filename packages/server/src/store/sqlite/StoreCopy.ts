import { Effect } from "effect"
import { backup, DatabaseSync } from "node:sqlite"
import { Worker } from "node:worker_threads"
import { createPrivate, publish, removeDatabase } from "./AtomicFile.ts"
import { pragma } from "./StoreCheck.ts"
import { damaged, fromAccess, fromCause, type StoreError, unavailable } from "./StoreError.ts"
import { memory } from "./StoreFile.ts"

/** How to copy a database into a file. */
export interface CopyOptions {
  /** Whether the copy may replace an existing file (default: false). */
  readonly replace?: boolean | undefined
}

/** Copies the database at one moment into a file that gets its name when it is complete and checked. */
export const copyTo = Effect.fnUntraced(function* (source: DatabaseSync, path: string, options: CopyOptions = {}) {
  const draft = `${path}.partial`
  yield* copyPages(source, draft, "A backup is under way, or was cut off. If none runs, delete this file.").pipe(
    Effect.andThen(Effect.ensuring(publish(draft, path, options.replace), removeDatabase(draft))),
    Effect.uninterruptible
  )
})

/** Copies the database into a new file, which is removed again unless it passes the check of SQLite. */
export const copyPages = Effect.fnUntraced(function* (source: DatabaseSync, path: string, taken: string) {
  if (!(yield* createPrivate(path))) return yield* unavailable(path, taken)
  // A running copy cannot be stopped, and its files must not be closed.
  yield* Effect.tryPromise({
    // In one step: with several, each write of another connection would restart the copy.
    try: () => backup(source, path, { rate: 0x7fffffff }),
    catch: fromCause(path)
  }).pipe(
    Effect.andThen(Effect.try({ try: () => makePlain(path), catch: fromCause(source.location() ?? memory) })),
    Effect.andThen(checkWhole(path, source.location() ?? memory)),
    Effect.onError(() => removeDatabase(path)),
    Effect.uninterruptible
  )
})

/** Leaves WAL mode, so that the one file can be read where nothing can be written. */
const makePlain = (path: string) => {
  using database = new DatabaseSync(path)
  const mode = pragma(database, "journal_mode = DELETE")
  if (mode !== "delete") throw new TypeError(`SQLite keeps the copy in the journal mode ${mode}`)
}

/** Reads every page, row, index and reference, and posts the first fault. */
const check = `
  const { parentPort, workerData } = require("node:worker_threads")
  const { DatabaseSync } = require("node:sqlite")
  const faultOf = (database) => {
    const fault = database.prepare("PRAGMA integrity_check(1)").get().integrity_check
    if (fault !== "ok") return fault
    const row = database.prepare("PRAGMA foreign_key_check").get()
    if (row !== undefined) return "a row of " + row.table + " refers to a row of " + row.parent + " that is not there"
  }
  const database = new DatabaseSync(workerData, { readOnly: true })
  try {
    parentPort.postMessage(faultOf(database))
  } catch (error) {
    parentPort.postMessage(error.message)
  } finally {
    database.close()
  }
`

/** Checks on a worker thread, since a large file takes seconds. */
const checkWhole = (path: string, origin: string): Effect.Effect<void, StoreError> =>
  Effect.callback<void, StoreError>((resume) => {
    const worker = new Worker(check, { eval: true, workerData: path })
    worker.once("message", (fault: string | undefined) =>
      resume(fault === undefined ? Effect.void : Effect.fail(damaged(origin, fault)))
    )
    worker.once("error", (cause) => resume(Effect.fail(fromAccess(path)(cause))))
  })
