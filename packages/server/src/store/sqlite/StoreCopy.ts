/** Copies of a database at one moment, for backups. A copy gets its name when it is complete and checked. */
import { Effect } from "effect"
import { pathToFileURL } from "node:url"
import { Worker } from "node:worker_threads"
import { createPrivate, publish, removeDatabase } from "./AtomicFile.ts"
import { checkSizes } from "./StoreCheck.ts"
import { damaged, fromAccess, fromCause, type StoreError, unavailable } from "./StoreError.ts"

/** Where a copy goes. */
export interface Copying {
  /** Its name while it is written, beside the target. */
  readonly draft: string
  readonly target: string
  /** Whether the copy may replace an existing file (default: false). */
  readonly replace?: boolean | undefined
  /** Whether this process has the database open alone, and nothing in its WAL (default: false). */
  readonly isAlone?: boolean | undefined
}

/** Copies a database at one moment into a file that gets its name when it is complete and checked. */
export const copyTo = (source: string, { draft, isAlone, replace, target }: Copying) =>
  copy(source, draft, isAlone).pipe(
    Effect.andThen(Effect.ensuring(publish(draft, target, replace), removeDatabase(draft))),
    Effect.uninterruptible
  )

/** Copies a database into a new file without a WAL, which is removed again unless it passes the check of SQLite. */
export const copy = Effect.fnUntraced(function* (source: string, path: string, isAlone = false) {
  const from = yield* addressOf(source, isAlone)
  if (!(yield* createPrivate(path))) return yield* unavailable(path, "It is there already.")
  // A running copy cannot be stopped, and its files must not be closed.
  yield* copyOnThread({ from, source, path }).pipe(
    Effect.onError(() => removeDatabase(path)),
    Effect.uninterruptible
  )
})

/**
 * The address of a file to read, as immutable if unused, or if nobody else can use it: SQLite cannot create files beside it on
 * a read-only medium, nor read one that is locked.
 */
export const addressOf = (path: string, isAlone = false) =>
  Effect.map(checkSizes(path), ({ journal, wal }) => {
    const file = pathToFileURL(path)
    if (isAlone || (wal < 0 && journal < 0)) file.searchParams.set("immutable", "1")
    return file
  })

/** Copies, then reads every page, row, index and reference of the copy, and posts the first fault. */
const thread = `
  const { parentPort, workerData } = require("node:worker_threads")
  const { DatabaseSync } = require("node:sqlite")
  const on = (file, use) => {
    const database = new DatabaseSync(file, { readOnly: true, timeout: 5000 })
    try {
      return use(database)
    } finally {
      database.close()
    }
  }
  const faultOf = (database) => {
    const fault = database.prepare("PRAGMA integrity_check(1)").get().integrity_check
    if (fault !== "ok") return fault
    const row = database.prepare("PRAGMA foreign_key_check").get()
    if (row !== undefined) return "a row of " + row.table + " refers to a row of " + row.parent + " that is not there"
  }
  on(new URL(workerData.from), (database) => database.prepare("VACUUM INTO ?").run(workerData.path))
  parentPort.postMessage(on(workerData.path, faultOf))
`

/** A large file takes seconds. */
const copyOnThread = ({ from, path, source }: { readonly from: URL; readonly source: string; readonly path: string }) =>
  Effect.callback<void, StoreError>((resume) => {
    const worker = new Worker(thread, { eval: true, workerData: { from: from.href, path } })
    worker.once("message", (fault: string | undefined) =>
      resume(fault === undefined ? Effect.void : Effect.fail(damaged(source, fault)))
    )
    worker.once("error", (cause) => {
      const error = fromCause(source)(cause)
      resume(Effect.fail(error._tag === "StoreDamaged" ? error : fromAccess(path)(cause)))
    })
  })
