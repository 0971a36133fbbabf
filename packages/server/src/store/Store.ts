/**
 * The database of a store, its tables brought up to date: all that what works on the embedded store alone needs.
 */
import { redactLayerSpans } from "@roster/domain"
import { Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { latestMigration, migrate } from "./Migrations.ts"
import * as SqliteClient from "./sqlite/SqliteClient.ts"
import { registerFunctions } from "./sqlite/SqliteFunctions.ts"
import { fromStatement, type StoreError, unavailable } from "./sqlite/StoreError.ts"
import * as StoreFile from "./sqlite/StoreFile.ts"
import type { LockContention } from "./sqlite/LockContention.ts"
import { newer, refuseForeign } from "./StoreContents.ts"

/** The last step that the tables have taken, 0 where there are none. */
const lastStep = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql`SELECT name FROM sqlite_schema WHERE name = 'migrations'`
  if (table === undefined) return 0
  const [row] = yield* sql<{ readonly latest: number | null }>`SELECT max(migration_id) AS latest FROM migrations`
  return Number(row?.latest ?? 0)
})

/** Looks first: whoever only reads a store that is up to date waits for nobody who writes to it. */
const bringUpToDate = Effect.fnUntraced(function* (filename: string) {
  if ((yield* lastStep) < latestMigration) yield* migrate
  // What a later version wrote may mean something that this one does not know.
  const latest = yield* lastStep
  if (latest > latestMigration) return yield* unavailable(filename, newer(latest))
})

export const layer = ({
  filename,
  contention
}: {
  /** The database file, made where it is not there; `:memory:` keeps nothing. */
  readonly filename: string
  /** What other threads of this process on the store know of it, too. */
  readonly contention?: LockContention | undefined
}): Layer.Layer<SqlClient.SqlClient | SqliteClient.SqliteClient, StoreError> =>
  Layer.effectDiscard(
    bringUpToDate(filename).pipe(
      Effect.mapError((error) => {
        if (error._tag === "StoreUnavailable") return error
        const doing = "Its tables cannot be brought up to date"
        return SqlError.isSqlError(error)
          ? fromStatement(filename, doing)(error)
          : unavailable(filename, `${doing}: ${error.message}`)
      })
    )
  ).pipe(
    Layer.provideMerge(SqliteClient.layer({ filename, prepare: registerFunctions, contention })),
    // Before anything is written to it.
    Layer.provide(Layer.effectDiscard(refuseForeign(StoreFile.toPath(filename)))),
    redactLayerSpans
  )
