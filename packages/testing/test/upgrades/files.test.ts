/** Stores in files that the command line of each step made, and what this version makes of them. (docs/decisions/upgrades.md) */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { SqlServices, Store, StoreUpgrade } from "@roster/server"
import { Effect, Fiber, FileSystem, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { readdirSync, readFileSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { latestMigration } from "../../../server/src/store/Migrations.ts"
import { processMark } from "../../../server/src/store/ProcessMark.ts"
import { before, content, olderStore, stepsOf, storedFields, upgraded } from "./OlderStores.ts"

const { prepare, upgrade } = StoreUpgrade

/** The columns of each table, in any order, and what else there is, with any spaces. */
const schema = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const columns = yield* sql`
    SELECT one.name AS table_name, lower(c.name || ' ' || c.type) AS column_name, c."notnull", c.dflt_value, c.pk
    FROM sqlite_schema AS one, pragma_table_info(one.name) AS c
    WHERE one.type = 'table' AND one.name NOT LIKE 'sqlite_%' ORDER BY 1, 2`
  const others = yield* sql<{ readonly sql: string }>`
    SELECT sql FROM sqlite_schema WHERE type <> 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name`
  return [columns, others.map(({ sql }) => sql.replaceAll(/\s+/g, " "))]
})

/** What is in the store of a file, as this version gives it. */
const contentOf = (filename: string) => Effect.provide(content, SqlServices.layer({ filename, older: "refuse" }))

/** The names in the folder of a store, and its bytes. */
const filesBeside = (filename: string) => readdirSync(dirname(filename)).toSorted()

const isUnchanged = <A, E, R>(filename: string, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const bytes = readFileSync(filename)
    const files = filesBeside(filename)
    const result = yield* effect
    assert.isTrue(readFileSync(filename).equals(bytes))
    assert.deepStrictEqual(filesBeside(filename), files)
    return result
  })

/** That of a new store. */
const ofNew = Effect.runPromise(Effect.provide(schema, Store.layer({ filename: ":memory:" })))

/** Steps that were never the last one of a version. */
const passed = new Set([1, 2, 3, 4, 6, 7, 17, 25])

describe("a store of an earlier version", () => {
  it("is there for each step, made by the version before a migration was added (docs/decisions/upgrades.md)", () => {
    const all = Array.from({ length: latestMigration - 1 }, (_, index) => index + 1)
    assert.deepStrictEqual(
      stepsOf("sqlite"),
      all.filter((step) => !passed.has(step))
    )
  })

  it.live.each(stepsOf("sqlite"))("that the command line of step %i made is upgraded, and kept as it was", (step) =>
    Effect.gen(function* () {
      const filename = yield* olderStore(step)
      assert.deepStrictEqual(storedFields(filename), before(step))
      const said: Array<unknown> = []
      const done = yield* upgrade(filename, { announce: (upgrade) => Effect.sync(() => void said.push(upgrade)) })
      assert.deepInclude(done, { store: filename, from: step, to: latestMigration, contacts: step < 15 ? 2 : 0 })
      const { contacts: _, ...announced } = done ?? { contacts: 0 }
      assert.deepStrictEqual(said, [announced])
      assert.strictEqual(
        done?.rewrites.some((words) => words.includes("city becomes city_2")),
        step < 15
      )
      yield* Effect.gen(function* () {
        assert.deepStrictEqual(yield* content, upgraded(step))
        assert.deepStrictEqual(yield* schema, yield* Effect.promise(() => ofNew))
      }).pipe(Effect.provide(SqlServices.layerWithStore({ filename, older: "refuse" })))
      assert.deepStrictEqual(storedFields(done?.copy ?? ""), before(step))
      assert.isUndefined(yield* upgrade(filename))
      assert.lengthOf(filesBeside(filename), 2)
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("is refused by what reads, and not a byte of it changes", () =>
    Effect.gen(function* () {
      const filename = yield* olderStore(14)
      for (const options of [{ readOnly: true }, { older: "refuse" }, { readOnly: true, older: "upgrade" }] as const) {
        const opened = Effect.scoped(Layer.build(SqlServices.layer({ filename, ...options })))
        const refused = yield* isUnchanged(filename, Effect.flip(opened))
        assert.deepInclude(refused, { _tag: "StoreUnavailable", isOlder: true })
        assert.match(refused.message, /step 14, and this version uses step \d+\. Nothing was changed.*roster upgrade/)
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("is upgraded by a program that composes the layers, with a copy or without", () =>
    Effect.gen(function* () {
      for (const older of [undefined, "upgradeWithoutCopy"] as const) {
        const filename = yield* olderStore(14)
        // What an upgrade has left that was killed while it copied.
        writeFileSync(`${filename}.${processMark.replace(/-[\d.]+-$/, "-4194303-")}x.partial`, "")
        yield* Effect.scoped(Layer.build(SqlServices.layer({ filename, older })))
        assert.deepStrictEqual(yield* contentOf(filename), upgraded(14))
        assert.lengthOf(filesBeside(filename), older === undefined ? 2 : 1)
      }
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("stays as it is while another connection is open, and is upgraded once that has ended", () =>
    Effect.gen(function* () {
      const filename = yield* olderStore(14)
      const other = new DatabaseSync(filename)
      other.prepare("SELECT count(*) FROM contacts").get()
      for (const open of [Effect.asVoid(upgrade(filename)), Effect.asVoid(prepare(filename))]) {
        const refused = yield* Effect.flip(Effect.scoped(open))
        assert.deepInclude(refused, { _tag: "StoreUnavailable", isLocked: true })
        assert.match(refused.message, /step 14\) and in use by process \d+/)
      }
      assert.deepStrictEqual(storedFields(filename), before(14))
      const upgrading = yield* Effect.forkChild(upgrade(filename), { startImmediately: true })
      other.close()
      assert.strictEqual((yield* Fiber.join(upgrading))?.from, 14)
      assert.deepStrictEqual(yield* contentOf(filename), upgraded(14))
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("stays as it is where the one who asked is told and refuses, or a migration fails", () =>
    Effect.gen(function* () {
      const filename = yield* olderStore(14)
      const declined = upgrade(filename, { announce: () => Effect.fail("no" as const) })
      assert.strictEqual(yield* isUnchanged(filename, Effect.flip(declined)), "no")
      // A table that a later migration makes.
      const broken = yield* olderStore(14, "CREATE TABLE saved_rules (name TEXT);")
      const failed = yield* Effect.flip(upgrade(broken, { copy: false }))
      assert.match(failed.message, /cannot be brought up to date/)
      assert.deepStrictEqual(storedFields(broken), before(14))
      using database = new DatabaseSync(broken)
      assert.deepStrictEqual(
        { ...database.prepare("SELECT max(migration_id) AS step FROM migrations").get() },
        { step: 14 }
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("is read as it will be before it is upgraded, with the same ids, and let go untouched", () =>
    Effect.gen(function* () {
      const filename = yield* olderStore(14)
      const idsOf = (path: string) => {
        using database = new DatabaseSync(path, { readOnly: true })
        return ["SELECT id FROM stores", "SELECT public_id FROM lists"].map((text) => ({
          ...database.prepare(text).get()
        }))
      }
      const look = Effect.gen(function* () {
        const pending = yield* prepare(filename)
        assert.deepStrictEqual(yield* contentOf(pending?.preview ?? ""), upgraded(14))
        return pending
      })
      yield* isUnchanged(filename, Effect.scoped(look))
      yield* Effect.scoped(
        Effect.gen(function* () {
          const pending = yield* look
          const ids = idsOf(pending?.preview ?? "")
          assert.strictEqual((yield* pending?.carryOut ?? Effect.undefined)?.contacts, 2)
          // The store can be opened at once.
          assert.deepStrictEqual(yield* contentOf(filename), upgraded(14))
          assert.deepStrictEqual(idsOf(filename), ids)
        })
      )
      assert.isUndefined(yield* Effect.scoped(prepare(filename)))
    }).pipe(Effect.provide(NodeServices.layer))
  )
})

describe("a store that is read alone", () => {
  it.live("takes no write, runs no job, and is left as it is, also a backup", () =>
    Effect.gen(function* () {
      const filename = yield* olderStore(14)
      yield* upgrade(filename, { copy: false })
      {
        using database = new DatabaseSync(filename)
        database.exec("PRAGMA journal_mode = DELETE")
      }
      yield* isUnchanged(
        filename,
        Effect.gen(function* () {
          const { add, list } = yield* ContactsService
          assert.lengthOf(yield* list(), 4)
          const refused = yield* Effect.flip(add([{ email: "zoe@example.com" }]))
          assert.include(refused.message, "opened to be read alone")
        }).pipe(Effect.provide(SqlServices.layer({ filename, readOnly: true })))
      )
    }).pipe(Effect.provide(NodeServices.layer))
  )

  it.live("is refused where there is none", () =>
    Effect.gen(function* () {
      const folder = yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()
      const refused = yield* Effect.flip(
        Effect.scoped(Layer.build(SqlServices.layer({ filename: `${folder}/none.db`, readOnly: true })))
      )
      assert.match(refused.message, /no such file/)
      assert.deepStrictEqual(readdirSync(folder), [])
    }).pipe(Effect.provide(NodeServices.layer))
  )
})
