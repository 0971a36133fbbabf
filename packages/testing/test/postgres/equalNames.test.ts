/** Contacts of the version that kept equal names of custom fields apart, and what this one makes of them on each engine. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Layer, Logger, References } from "effect"
import { SqlClient } from "effect/sql"
import { migrateTo } from "../../../server/src/store/Migrations.ts"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import * as SqliteClient from "../../../server/src/store/sqlite/SqliteClient.ts"
import * as Store from "../../../server/src/store/Store.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

const long = "N".repeat(200)

/** The JSON of custom fields, before and after. */
const cases: ReadonlyArray<readonly [before: string, after: string]> = [
  ['{"City":"Bonn","city":"Bonn","a":"1"}', '{"City":"Bonn","a":"1"}'],
  ['{"City":"Bonn","city":"Rome"}', '{"City":"Bonn","city_2":"Rome"}'],
  ['{"City":"","city":"Rome"}', '{"City":"Rome"}'],
  ['{"City":"Bonn","city":"","CITY":"Bonn"}', '{"City":"Bonn"}'],
  ['{"City":"1","city":"2","CITY_2":"3","z":"4"}', '{"City":"1","city_3":"2","CITY_2":"3","z":"4"}'],
  [
    '{"caf\u00e9":"1","CAFE\u0301":"2","__proto__":"3","__PROTO__":"3"}',
    '{"caf\u00e9":"1","CAFE\u0301_2":"2","__proto__":"3"}'
  ],
  [`{"${long}":"1","${long.toLowerCase()}":"2"}`, `{"${long}":"1","${long.slice(2).toLowerCase()}_2":"2"}`],
  ['{"stra\u00dfe":"1","strasse":"2"}', '{"stra\u00dfe":"1","strasse":"2"}'],
  ["{}", "{}"]
]

/** A store of that version, with more contacts than a batch has, of which those are the last. */
const fill = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const all = [...Array.from({ length: 1500 }, () => '{"City":"1","plan":"2"}'), ...cases.map(([before]) => before)]
  for (const [index, custom_fields] of all.entries()) {
    const account = index % 2 === 0 ? "" : "other"
    const row = { account, identity: `${index}@x.test`, email: `${index}@x.test`, status: "Active", custom_fields }
    yield* sql`INSERT INTO contacts ${sql.insert({ ...row, source: "ContactApi", date_added: 1 })}`
  }
})

/** The custom fields of those contacts. */
const stored = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly custom_fields: string }>`SELECT custom_fields FROM contacts ORDER BY id`
  return rows.slice(1500).map(({ custom_fields }) => custom_fields)
})

const separated = cases.map(([, after]) => after)

const migration = { migration_id: "15", migration_name: "equal_field_names" }
const counted = { ...migration, contacts: 7, joined: 5, renamed: 4 }

/** Opens a store, and gives what is in it and what the log counts. An upgrade is said before, without counts. */
const opened = <E>(store: Layer.Layer<SqlClient.SqlClient, E>) =>
  Effect.suspend(() => {
    const lines: Array<unknown> = []
    const logger = Logger.make(({ fiber }) => {
      const annotations = fiber.getRef(References.CurrentLogAnnotations)
      if (Object.keys(annotations).length > 0) lines.push(annotations)
    })
    return stored.pipe(
      Effect.provide(Layer.provideMerge(store, Logger.layer([logger]))),
      Effect.map((fields) => ({ fields, lines }))
    )
  })

describe("custom fields with equal names on SQLite", () => {
  it.live("become one or get a number when the store is opened, once", () =>
    Effect.gen(function* () {
      const filename = `${yield* (yield* FileSystem.FileSystem).makeTempDirectoryScoped()}/roster.db`
      yield* Effect.provide(Effect.andThen(migrateTo(14), fill), SqliteClient.layer({ filename }))
      const store = Store.layer({ filename })
      assert.deepStrictEqual(yield* opened(store), { fields: separated, lines: [counted] })
      assert.deepStrictEqual(yield* opened(store), { fields: separated, lines: [] })
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})

describePostgres("custom fields with equal names on PostgreSQL", () => {
  it.live("become one or get a number when several processes open the store, once", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      yield* Effect.provide(Effect.andThen(migrateTo(14), fill), PostgresClient.layer({ url }))
      const store = opened(Store.layerPostgres({ url }))
      const all = yield* Effect.all([store, store, store], { concurrency: "unbounded" })
      for (const { fields } of all) assert.deepStrictEqual(fields, separated)
      assert.deepStrictEqual(
        all.flatMap(({ lines }) => lines),
        [counted]
      )
    }).pipe(Effect.scoped)
  )
})
