/** Stores on PostgreSQL that the command line of a step filled, and what this version makes of them. */
import { assert, it } from "@effect/vitest"
import { SqlServices, StoreUpgrade } from "@roster/server"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient } from "effect/sql"
import { latestMigration } from "../../../server/src/store/Migrations.ts"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { describePostgres, freshDatabase, runOn } from "../postgres/TestPostgres.ts"
import { before, content, stepsOf, textOf, upgraded } from "./OlderStores.ts"

const steps = stepsOf("postgres")

/** A new database with the store of a step. */
const olderDatabase = Effect.fnUntraced(function* (step: number) {
  const url = yield* freshDatabase
  yield* runOn(new URL(Redacted.value(url)), `DO $do$ BEGIN EXECUTE $dump$${textOf("postgres", step)}$dump$; END $do$`)
  return { url }
})

const storedFields = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly custom_fields: string }>`SELECT custom_fields FROM contacts ORDER BY id`
  return rows.map(({ custom_fields }): unknown => JSON.parse(custom_fields))
})

const columns = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  return yield* sql`
    SELECT table_name, column_name, data_type, is_nullable FROM information_schema.columns
    WHERE table_schema = 'public' ORDER BY 1, 2`
})

describePostgres("a store of an earlier version on PostgreSQL", () => {
  it.live.each(steps)("that the command line of step %i filled is upgraded", (step) =>
    Effect.gen(function* () {
      const postgres = yield* olderDatabase(step)
      const done = yield* StoreUpgrade.upgrade(postgres)
      assert.deepInclude(done, { from: step, to: latestMigration, copy: undefined, contacts: step < 15 ? 2 : 0 })
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* content, upgraded(step))
        const ofNew = yield* Effect.provide(
          columns,
          SqlServices.layerPostgres({ postgres: { url: yield* freshDatabase } })
        )
        assert.deepStrictEqual(yield* columns, ofNew)
      }).pipe(Effect.provide(SqlServices.layerPostgres({ postgres, older: "refuse" })))
      assert.isUndefined(yield* StoreUpgrade.upgrade(postgres))
    }).pipe(Effect.scoped)
  )

  it.live("stays as it is while the mark of an older process is there, and is upgraded once that has ended", () =>
    Effect.gen(function* () {
      const [step = 0] = steps
      const postgres = yield* olderDatabase(step)
      const refused = yield* Effect.flip(
        Effect.scoped(Layer.build(SqlServices.layerPostgres({ postgres, older: "refuse" })))
      )
      assert.deepInclude(refused, { _tag: "StoreUnavailable", isOlder: true })
      yield* Effect.gen(function* () {
        // What every version names its sessions.
        const sql = yield* PostgresClient.make({ ...postgres, maxConnections: 1 })
        const read = Effect.provideService(storedFields, SqlClient.SqlClient, sql)
        assert.deepStrictEqual(yield* read, before(step))
        const [mark] = yield* sql<{ readonly pid: number }>`SELECT pg_backend_pid() AS pid`
        const locked = yield* Effect.flip(Effect.scoped(Layer.build(SqlServices.layerPostgres({ postgres }))))
        assert.deepInclude(locked, { _tag: "StoreUnavailable", isLocked: true })
        assert.include(locked.message, `the sessions ${mark?.pid} of pg_stat_activity`)
        assert.deepStrictEqual(yield* read, before(step))
        return yield* Effect.forkDetach(StoreUpgrade.upgrade(postgres), { startImmediately: true })
      }).pipe(
        Effect.scoped,
        Effect.flatMap(Fiber.join),
        Effect.map((done) => assert.strictEqual(done?.from, step))
      )
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})
