import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { layer, type SqliteClientOptions } from "../../../src/store/sqlite/SqliteClient.ts"

/** A path for a database in a folder of its own, which is removed with the scope. */
export const freshPath = Effect.map(
  Effect.acquireRelease(
    Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-"))),
    (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
  ),
  (folder) => join(folder, "roster.db")
)

/** The client of a database that closes with the scope. */
export const openSql = (options: SqliteClientOptions) =>
  Effect.map(Layer.build(layer(options)), Context.get(SqlClient.SqlClient))

/** Opens, uses and closes. */
export const useSql = <A, E, R>(
  options: SqliteClientOptions,
  use: (sql: SqlClient.SqlClient) => Effect.Effect<A, E, R>
) => Effect.scoped(Effect.flatMap(openSql(options), use))
