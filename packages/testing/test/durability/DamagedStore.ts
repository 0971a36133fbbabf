/** The files of a store as bytes, to be damaged and written elsewhere. */
import { Store } from "@roster/server"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"

/** The bytes of a database and of its WAL, if there is one. */
export interface StoreImage {
  readonly database: Buffer | undefined
  readonly wal: Buffer | undefined
}

/** Reading a file in WAL mode leaves an empty WAL beside it, which means nothing. */
const bytesOf = (path: string): Buffer | undefined => {
  const bytes = existsSync(path) ? readFileSync(path) : undefined
  return bytes?.length === 0 && path.endsWith("-wal") ? undefined : bytes
}

export const imageOf = (filename: string): StoreImage => ({
  database: bytesOf(filename),
  wal: bytesOf(`${filename}-wal`)
})

/** Writes an image into a temporary folder of the scope and returns the path of the database. */
export const layDown = Effect.fnUntraced(function* ({ database, wal }: StoreImage) {
  const folder = yield* Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-damaged-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  )
  const filename = join(folder, "roster.db")
  if (database !== undefined) writeFileSync(filename, database, { mode: 0o600 })
  if (wal !== undefined) writeFileSync(`${filename}-wal`, wal, { mode: 0o600 })
  return filename
})

/** The names of the first contacts of a store, which tell how much of it survived. */
export const namesOf = (mark: string, count: number): ReadonlyArray<string> =>
  Array.from({ length: count }, (_, index) => `${mark}${index + 1}`)

const add = Effect.fnUntraced(function* (mark: string, from: number, to: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO contacts (account, identity, email, status, first_name, custom_fields, source, date_added)
    WITH RECURSIVE n(i) AS (SELECT ${from} UNION ALL SELECT i + 1 FROM n WHERE i < ${to})
    SELECT '', ${mark} || i, ${mark} || i, 'Active', 'First', '{}', 'ContactApi', 1 FROM n`
})

/**
 * A store as a crash leaves it, with 300 contacts in the file and three commits of 100 more in the WAL, and the same
 * store after it was closed. Some pages are free.
 */
export const storeImages = Effect.fnUntraced(function* (mark: string) {
  const filename = yield* layDown({ database: undefined, wal: undefined })
  const crashed = yield* Effect.gen(function* () {
    const sql = yield* SqlClient.SqlClient
    yield* add(mark, 1, 300)
    yield* sql`CREATE TABLE bulk (x)`
    yield* sql`INSERT INTO bulk VALUES (${new Uint8Array(40_000)})`
    yield* sql`DROP TABLE bulk`
    yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`
    for (const from of [301, 401, 501]) yield* add(mark, from, from + 99)
    return imageOf(filename)
  }).pipe(Effect.provide(Store.layer({ filename })))
  return { crashed, closed: imageOf(filename) }
}, Effect.orDie)

/** Opens a store and reads its contacts. */
export const readNames = (filename: string) =>
  SqlClient.SqlClient.pipe(
    Effect.flatMap((sql) => sql<{ readonly email: string }>`SELECT email FROM contacts ORDER BY id`),
    Effect.map((rows) => rows.map(({ email }) => email)),
    Effect.provide(Store.layer({ filename }))
  )
