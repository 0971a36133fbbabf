import { assert, describe, it } from "@effect/vitest"
import { JsonParser } from "@roster/domain"
import { Schema } from "effect"
import { DatabaseSync } from "node:sqlite"
import { registerFunctions } from "../../../src/store/sqlite/SqliteFunctions.ts"

const long = process.env["ROSTER_LONG_RUN"] !== undefined

const Name = Schema.Literals(["a", "b", "é", "1", "10", "0", "__proto__", "constructor", '5"', "5\\", "\\n", "a b"])
/** Of names that our merge takes for one, json_patch has two, so they are left to FieldNames.test.ts of domain. */
const Fields = Schema.Array(Schema.Tuple([Name, Schema.Union([Schema.Literal(""), Schema.String])]))

const json = (entries: ReadonlyArray<readonly [string, string]>) => JSON.stringify(Object.fromEntries(entries))

const opened = () => {
  const database = new DatabaseSync(":memory:")
  registerFunctions(database)
  return database
}

const merged = (database: DatabaseSync, call: string, below: string | null, above: string | null) =>
  database.prepare(`SELECT ${call} AS fields`).get(below, above)?.["fields"]

const entriesOf = (text: unknown) => Object.entries(Object(JsonParser.parse(String(text))))

describe("roster_merge_fields", () => {
  it.prop(
    "merges texts as json_patch does, and removes a field for an empty text as that does for null",
    [Fields, Fields, Fields],
    ([first, ...others]) => {
      using database = opened()
      let below = json(first)
      for (const other of others) {
        const above = json(other)
        const patch = JSON.stringify(
          Object.fromEntries(other.map(([name, value]) => [name, value === "" ? null : value]))
        )
        const expected = merged(database, "json_patch(?, ?)", below, patch)
        const actual = merged(database, "roster_merge_fields(?, ?)", below, above)
        assert.deepStrictEqual(entriesOf(actual), entriesOf(expected))
        assert.strictEqual(merged(database, "roster_merge_fields(?, ?)", below, above), actual)
        below = String(actual)
      }
    },
    { arbitrary: { runs: long ? 200 : 100 } }
  )

  it("merges more fields than json_patch could", () => {
    using database = opened()
    const fields = (value: string) => json(Array.from({ length: 200_000 }, (_, index) => [`f${index}`, value]))
    assert.strictEqual(merged(database, "roster_merge_fields(?, ?)", fields("old"), fields("new")), fields("new"))
  })

  it("has no result for NULL and none for what is no JSON", () => {
    using database = opened()
    assert.isNull(merged(database, "roster_merge_fields(?, ?)", null, "{}"))
    assert.isNull(merged(database, "roster_merge_fields(?, ?)", "{}", null))
    assert.throws(() => merged(database, "roster_merge_fields(?, ?)", "{", '{"a":"b"}'), SyntaxError)
    assert.strictEqual(merged(database, "roster_merge_fields(?, ?)", '{"a":"b"}', "{}"), '{"a":"b"}')
  })
})
