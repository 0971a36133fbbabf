import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import * as JsonParser from "../../src/values/JsonParser.ts"

const oneOf = <const A extends string>(values: ReadonlyArray<A>) => Arbitrary.schema(Schema.Literals(values))

const name = oneOf([
  "x",
  '"',
  "\\",
  'a"',
  "a\\",
  '5"',
  "5\\",
  "\n",
  "\\n",
  "\u007F0",
  "__proto__",
  "1",
  "é",
  'a" : "b',
  ""
])
const fields = Arbitrary.map(Arbitrary.array(Arbitrary.all([name, name]), { maxLength: 5 }), (entries) =>
  Object.fromEntries(entries)
)

describe("JSON with any names", () => {
  it("is read as it was written, whatever was read before", () => {
    // JSON.parse takes the second name of the second text for that of the first.
    for (const fields of [
      { x: "1", "5\\": "1" },
      { x: "1", '5"': "1" }
    ]) {
      assert.deepStrictEqual(JsonParser.parse(JSON.stringify(fields)), fields)
    }
  })

  it.prop(
    "is read as it was written, however deep and spaced",
    { all: Arbitrary.array(fields, { maxLength: 5 }), own: fields },
    ({ all, own }) => {
      const value = { all, own: [own, 1, null, true, '"\\:'] }
      for (const space of [0, 2]) assert.deepStrictEqual(JsonParser.parse(JSON.stringify(value, null, space)), value)
    },
    { arbitrary: { runs: 500 } }
  )

  const long = "y".repeat(40_000)

  it.prop(
    "is read as it was written in parts of a long array",
    { elements: Arbitrary.array(Arbitrary.all([fields, name]), { minLength: 2, maxLength: 6 }) },
    ({ elements }) => {
      const value = elements.flatMap(([fields, text]) => [{ ...fields, long }, [text, [fields]], `${text}],[{` + long])
      for (const space of [0, 2]) assert.deepStrictEqual(JsonParser.parse(JSON.stringify(value, null, space)), value)
    },
    { arbitrary: { runs: 100 } }
  )

  it.each([
    "1,,2]",
    ",1]",
    "1,]",
    "1]]",
    "1]x",
    "1}",
    "1",
    "]",
    '1,"',
    "[1,2,3}]",
    "1 2]",
    "\f1]",
    " 1 , 2 ] ",
    "[],{}]"
  ])("is refused in parts where it is none, and read where it is some: %s", (rest) => {
    const { length } = long
    const text = `["\\n","${long}","${long}",${" ".repeat(2 * length)}${rest}`
    const read = (parse: (text: string) => unknown) => {
      try {
        return { value: parse(text) }
      } catch (error) {
        return { refused: error instanceof SyntaxError }
      }
    }
    assert.deepStrictEqual(read(JsonParser.parse), read(JSON.parse))
    assert.deepStrictEqual(
      read((text) => JsonParser.parse(`${text},1]`)),
      read((text) => JSON.parse(`${text},1]`))
    )
  })

  it("is read by a schema as it was written, and refused where it is none", () => {
    const Fields = JsonParser.fromJsonString(Schema.Record(Schema.String, Schema.String))
    for (const fields of [
      { y: "1", "6\\": "1" },
      { y: "1", '6"': "1" }
    ]) {
      assert.deepStrictEqual(Schema.decodeSync(Fields)(Schema.encodeSync(Fields)(fields)), fields)
    }
    assert.throws(() => Schema.decodeSync(Fields)("{"), "valid JSON")
  })

  it("has the last of two values of one name, escaped or not", () => {
    assert.deepStrictEqual(JsonParser.parse('{"\\u0061":1,"b":2,"a":3}'), { a: 3, b: 2 })
  })

  it.each(["", '{"a\\"', '{"a\\":1}', '{"\\x":1}', '{"a\\"":}', '"a\\"":1', '{"a\\"":1}}', "\\"])(
    "is refused where it is none: %s",
    (text) => {
      assert.throws(() => JsonParser.parse(text), SyntaxError)
    }
  )
})
