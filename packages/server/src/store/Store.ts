import { redactLayerSpans } from "@roster/domain"
import { Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { latestMigration, migrate } from "./Migrations.ts"
import * as SqliteClient from "./sqlite/SqliteClient.ts"
import { registerFunctions } from "./sqlite/SqliteFunctions.ts"
import { fromStatement, type StoreError, unavailable } from "./sqlite/StoreError.ts"
import * as StoreFile from "./sqlite/StoreFile.ts"
import type { LockContention } from "./sqlite/LockContention.ts"
import { nameOf, type PostgresOptions } from "./postgres/PostgresParts.ts"
import { describe } from "./postgres/PostgresError.ts"
import * as WrongKeys from "./postgres/WrongKeys.ts"
import { newer, refuseForeign } from "./StoreContents.ts"

/** The last migration of the store, or 0. */
const lastMigration = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const [table] = yield* sql.onDialectOrElse({
    pg: () => sql`SELECT 1 AS found WHERE to_regclass('migrations') IS NOT NULL`,
    orElse: () => sql`SELECT name FROM sqlite_schema WHERE name = 'migrations'`
  })
  if (table === undefined) return 0
  const [row] = yield* sql<{ readonly latest: number | null }>`SELECT max(migration_id) AS latest FROM migrations`
  return Number(row?.latest ?? 0)
})

/** Reads first, so that opening an up-to-date store never waits for the write lock. */
const migrateStore = Effect.fnUntraced(function* (filename: string) {
  if ((yield* lastMigration) < latestMigration) yield* migrate
  const sql = yield* SqlClient.SqlClient
  yield* sql.onDialectOrElse({ pg: () => WrongKeys.createTable(sql), orElse: () => Effect.void })
  // Data of a later version can have a meaning that this version does not know.
  const latest = yield* lastMigration
  if (latest > latestMigration) return yield* unavailable(filename, newer(latest))
})

/** Why nothing was asked of a PostgreSQL. */
const cannotConnect = (error: SqlError.SqlError): string => {
  const why = describe(error) ?? "it cannot be reached"
  return `${why.charAt(0).toUpperCase()}${why.slice(1)}.`
}

const isUnreachable = ({ reason }: SqlError.SqlError): boolean =>
  reason._tag === "ConnectionError" || reason._tag === "AuthenticationError"

const migrated = (name: string) =>
  Layer.effectDiscard(
    migrateStore(name).pipe(
      Effect.mapError((error) => {
        if (error._tag === "StoreUnavailable") return error
        const doing = "Its tables cannot be brought up to date"
        if (SqlError.isSqlError(error) && isUnreachable(error)) return unavailable(name, cannotConnect(error))
        return SqlError.isSqlError(error)
          ? fromStatement(name, doing)(error)
          : unavailable(name, `${doing}: ${error.message}`)
      })
    )
  )

/** Provides the database of a store on PostgreSQL with its tables migrated. Stores in files do not load its client. */
export const layerPostgres = (options: PostgresOptions): Layer.Layer<SqlClient.SqlClient, StoreError> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const name = nameOf(options)
      const { layer } = yield* Effect.tryPromise({
        try: () => import("./postgres/PostgresClient.ts"),
        catch: () => unavailable(name, "Its client is missing. Install it: npm install @effect/sql-pg")
      })
      const client = Effect.mapError(Layer.build(layer(options)), (error) => unavailable(name, error.message))
      return Layer.provideMerge(migrated(name), Layer.effectContext(client))
    })
  ).pipe(redactLayerSpans)

/** Provides the database of a store with its tables migrated. Work on the embedded store alone needs nothing else. */
export const layer = ({
  filename,
  contention
}: {
  /** The database file, created if missing, or `:memory:`. */
  readonly filename: string
  /** Shared with other threads of this process on the same store. */
  readonly contention?: LockContention | undefined
}): Layer.Layer<SqlClient.SqlClient | SqliteClient.SqliteClient, StoreError> =>
  migrated(filename).pipe(
    Layer.provideMerge(SqliteClient.layer({ filename, prepare: registerFunctions, contention })),
    // Before anything is written to the file.
    Layer.provide(Layer.effectDiscard(refuseForeign(StoreFile.toPath(filename)))),
    redactLayerSpans
  )
