/** What lies in a database file: a store, one of a later version, or the database of another program. */
import { Duration, Effect } from "effect"
import { existsSync, statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { blockingWait, whileBusy } from "./SqliteBusy.ts"
import { fromCause, isLocked, unavailable } from "./StoreError.ts"
import { defaultBusyTimeout } from "./StoreFile.ts"
import { addressOf } from "./StoreCopy.ts"

/** Whether there is a store, or a WAL of one. */
export const isThere = (path: string): boolean => existsSync(path) || existsSync(`${path}-wal`)

/** Whether two paths name one file. */
export const isSame = (one: string, other: string): boolean => {
  const [first, second] = [one, other].map((path) => statSync(path, { throwIfNoEntry: false }))
  return one === other || (first !== undefined && first.dev === second?.dev && first.ino === second.ino)
}

/** Opens a file read-only. */
export const openReadOnly = Effect.fnUntraced(function* (path: string) {
  const address = yield* addressOf(path)
  return yield* Effect.acquireRelease(
    Effect.try({ try: () => openAddress(address, 1000), catch: fromCause(path) }),
    (database) => Effect.sync(() => database.close())
  )
})

const openAddress = (address: URL, timeout: number) => new DatabaseSync(address, { readOnly: true, timeout })

const tablesOf = (database: DatabaseSync): ReadonlyArray<unknown> =>
  database
    .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
    .all()
    .map(({ name }) => name)

const isOurs = (tables: ReadonlyArray<unknown>): boolean => tables.includes("migrations") && tables.includes("contacts")

/** Whether a file can be read as a store. */
export const isStore = (path: string) =>
  Effect.flatMap(openReadOnly(path), (database) => Effect.try(() => isOurs(tablesOf(database)))).pipe(
    Effect.scoped,
    Effect.orElseSucceed(() => false)
  )

/** The contents of an open database file. A database without tables, or of another program, has no contacts. */
export const contentsOf = (database: DatabaseSync, path: string) =>
  Effect.try({
    try: () => {
      const tables = tablesOf(database)
      const isRoster = isOurs(tables)
      const numberIn = (table: string, value: string): number =>
        isRoster ? Number(database.prepare(`SELECT ${value} AS number FROM ${table}`).get()?.["number"]) : 0
      return {
        isEmpty: tables.length === 0,
        isRoster,
        /** The last migration that it has run. */
        migration: isRoster ? migrationOf(database) : 0,
        contacts: numberIn("contacts", "count(*)")
      }
    },
    catch: fromCause(path)
  })

const migrationOf = (database: DatabaseSync): number =>
  Number(database.prepare("SELECT max(migration_id) AS number FROM migrations").get()?.["number"] ?? 0)

/**
 * Refuses the database of another program, and gives the last migration of a store: 0 where there is none yet, `undefined`
 * where only opening it tells.
 */
export const refuseForeign = Effect.fnUntraced(function* (path: string) {
  if (!isThere(path)) return 0
  const found = yield* Effect.flatMap(addressOf(path), (address) =>
    whileBusy({
      try: () => {
        using database = openAddress(address, blockingWait)
        const tables = tablesOf(database)
        return { tables, migration: tables.includes("migrations") ? migrationOf(database) : 0 }
      },
      catch: fromCause(path),
      timeout: Duration.toMillis(defaultBusyTimeout)
    })
  ).pipe(
    // Opening a damaged file reports it.
    Effect.catchIf(
      (error) => !isLocked(error),
      () => Effect.undefined
    )
  )
  // A store that another process is creating has only this table at first.
  if (found !== undefined && found.tables.length > 0 && !found.tables.includes("migrations")) {
    return yield* unavailable(path, "It is the database of another program. Check the path.")
  }
  return found?.migration
})
