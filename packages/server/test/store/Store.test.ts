import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Path } from "effect"
import { SqlClient } from "effect/sql"
import { DatabaseSync } from "node:sqlite"
import * as Store from "../../src/store/Store.ts"

describe("a store", () => {
  it.effect("of a later version is refused and not changed", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const filename = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "roster.db")
      const withStore = <A, E>(effect: Effect.Effect<A, E, SqlClient.SqlClient>) =>
        Effect.provide(effect, Store.layer({ filename }))
      // SQLite counts rows when it closes a store.
      const tables = SqlClient.SqlClient.pipe(
        Effect.flatMap(
          (sql) => sql`SELECT name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_stat%' ORDER BY name`
        )
      )
      const before = yield* withStore(tables)
      yield* withStore(
        Effect.flatMap(
          SqlClient.SqlClient,
          (sql) => sql`INSERT INTO migrations (migration_id, name) VALUES (9999, 'of_tomorrow')`
        )
      )
      const refused = yield* Effect.flip(withStore(tables))
      assert.strictEqual(refused._tag, "StoreUnavailable")
      assert.match(refused.message, /newer version of Roster/)
      // Still whole: taken back, it opens.
      using database = new DatabaseSync(filename)
      database.exec("DELETE FROM migrations WHERE migration_id = 9999")
      assert.deepStrictEqual(yield* withStore(tables), before)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.effect("is not created in the database of another program, which is not changed", () =>
    Effect.gen(function* () {
      const fs = yield* FileSystem.FileSystem
      const filename = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "other.db")
      {
        using other = new DatabaseSync(filename)
        other.exec("CREATE TABLE contacts (name TEXT); INSERT INTO contacts VALUES ('Ann')")
      }
      const before = yield* fs.readFile(filename)
      const refused = yield* Effect.flip(Effect.scoped(Layer.build(Store.layer({ filename }))))
      assert.strictEqual(refused._tag, "StoreUnavailable")
      assert.match(refused.message, /another program/)
      assert.deepStrictEqual(yield* fs.readFile(filename), before)
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
