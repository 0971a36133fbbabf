import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Path } from "effect"
import { SqlClient } from "effect/sql"
import { latestMigration, migrateTo } from "../../src/store/Migrations.ts"
import * as SqliteClient from "../../src/store/sqlite/SqliteClient.ts"
import * as Store from "../../src/store/Store.ts"

const schema = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`SELECT name, tbl_name, sql FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name`
)

const storePath = Effect.gen(function* () {
  const fs = yield* FileSystem.FileSystem
  return (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "roster.db")
})

/** Rows of a store whose tables are at a migration, as its version of Roster wrote them. */
const fill = Effect.fnUntraced(function* (migration: number) {
  const sql = yield* SqlClient.SqlClient
  for (const email of ["ann@example.com", "bob@example.com"]) {
    yield* sql`
      INSERT INTO contacts (account, identity, email, status, custom_fields, source, date_added)
      VALUES ('', ${email}, ${email}, 'Active', '{}', 'ContactApi', 1)`
  }
  if (migration < 3) return
  yield* sql`
    INSERT INTO jobs (id, account, kind, state, request, created, expires) VALUES
      ('done', '', 'Import', 'Ready', '{}', 7, 9), ('open', '', 'Import', 'Loading', '{}', 7, 9)`
  const job = sql`SELECT number FROM jobs WHERE id = 'open'`
  if (migration === 7 || migration === 8) {
    yield* sql`INSERT INTO job_addresses SELECT number, 'ann@example.com' FROM (${job})`
  }
  if (migration >= 9 && migration < 20) {
    yield* sql`INSERT INTO job_address_lists (job, identities) SELECT number, '["ann@example.com"]' FROM (${job})`
  }
})

describe("Migrations", () => {
  // Those after which rows had another form; stores that versions made are in packages/testing/test/upgrades.
  for (const migration of [1, 3, 6, 7, 9, 10, 19, latestMigration]) {
    it.effect(`bring a store at migration ${migration} up to date and keep its rows`, () =>
      Effect.gen(function* () {
        const filename = yield* storePath
        yield* Effect.andThen(migrateTo(migration), fill(migration)).pipe(
          Effect.provide(SqliteClient.layer({ filename })),
          Effect.scoped
        )
        const fresh = yield* Effect.provide(schema, Store.layer({ filename: ":memory:" }))
        yield* Effect.gen(function* () {
          const sql = yield* SqlClient.SqlClient
          assert.deepStrictEqual(yield* schema, fresh)
          assert.deepStrictEqual(yield* sql`SELECT identity FROM contacts ORDER BY id`, [
            { identity: "ann@example.com" },
            { identity: "bob@example.com" }
          ])
          assert.deepStrictEqual(yield* sql`SELECT sum(contacts) AS counted FROM contact_blocks`, [
            // From the tenth on, adding contacts counts them.
            { counted: migration >= 10 ? null : 2 }
          ])
          if (migration < 3) return
          assert.deepStrictEqual(yield* sql`SELECT id, ended FROM jobs ORDER BY number`, [
            { id: "done", ended: migration < 7 ? 7 : null },
            { id: "open", ended: null }
          ])
        }).pipe(Effect.provide(Store.layer({ filename })), Effect.scoped)
      }).pipe(Effect.provide(NodeServices.layer))
    )
  }
})
