import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Effect, Schema } from "effect"
import {
  ContactChange,
  ContactPayload,
  ContactUpdatePayload,
  type CustomFields,
  fieldOf,
  InvalidInput,
  Rule,
  ruleMatcher
} from "../../src/index.ts"
import { FieldNames, validated } from "../../src/internal.ts"
import { contentAfter, sameContent } from "../../src/contacts/ContactWrite.ts"

const near = [
  "City",
  "city",
  "CITY",
  "é",
  "e\u0301",
  "É",
  "\u0130",
  "i\u0307",
  "i",
  "ß",
  "SS",
  "ss",
  "\u212a",
  "K",
  "k"
]
const name = Arbitrary.map(
  Arbitrary.schema(Schema.Union([Schema.Literals([...near, "__proto__", "__PROTO__", "1"]), Schema.String])),
  (text) => text
)
const record = Arbitrary.map(
  Arbitrary.array(Arbitrary.all([name, Arbitrary.schema(Schema.Literals(["", "1", "2"]))]), { maxLength: 6 }),
  (entries): CustomFields => Object.fromEntries(entries)
)

/** The same by hand: the fields in order, of which each write goes to the first whose name is equal. */
const written = (writes: ReadonlyArray<CustomFields>) => {
  let fields: ReadonlyArray<readonly [string, string]> = []
  for (const [name, value] of writes.flatMap((write) => Object.entries(write))) {
    const isSame = ([other]: readonly [string, string]) =>
      other.toLowerCase().normalize("NFC") === name.toLowerCase().normalize("NFC")
    fields = fields.some(isSame)
      ? fields.map((field) => (isSame(field) ? ([field[0], value] as const) : field))
      : [...fields, [name, value]]
    fields = fields.filter(([, value]) => value !== "")
  }
  return Object.fromEntries(fields)
}

describe("FieldNames", () => {
  it.prop(
    "no sequence of writes makes two equal names, and a rule finds what the record shows",
    [Arbitrary.array(record, { maxLength: 5 })],
    ([records]) => {
      const writes = records.filter((one) => !FieldNames.hasEqualNames(one))
      const { customFields: merged = {} } = writes.reduce<ReturnType<typeof contentAfter>>(
        (before, customFields) => contentAfter(before, { customFields }),
        {}
      )
      assert.deepStrictEqual(merged, written(writes))
      assert.isFalse(FieldNames.hasEqualNames(merged))
      for (const name of writes.flatMap(Object.keys)) {
        const finds = ruleMatcher(Rule.compare(Rule.customField(name), "!=", Rule.text("")), DateTime.makeUnsafe(0))
        const shown = Object.keys(merged).some((own) => Rule.foldText(own) === Rule.foldText(name))
        assert.strictEqual(finds({ email: "a@example.com", customFields: merged }), shown)
        assert.strictEqual(fieldOf({ customFields: merged }, name) !== undefined, shown)
      }
    },
    { arbitrary: { runs: 500 } }
  )

  it("compares contents by equal names", () => {
    assert.isTrue(sameContent({ customFields: { City: "1", a: "2" } }, { customFields: { A: "2", city: "1" } }))
    assert.isFalse(sameContent({ customFields: { City: "1" } }, { customFields: { city: "2" } }))
    assert.deepStrictEqual(
      contentAfter({ customFields: { City: "1", a: "2" } }, { customFields: { city: null, A: "3" } }),
      {
        customFields: { a: "3" }
      }
    )
  })

  it.effect("refuses equal names in whatever is sent", () =>
    Effect.gen(function* () {
      const customFields = { City: "1", city: "2" }
      const email = "a@example.com"
      const refusal = <A, I>(schema: Schema.Codec<A, I>, input: unknown) =>
        // Whatever a caller without types gives.
        Effect.map(Effect.flip(validated(schema)(input as A)), ({ field }) => field)
      const payloads = Schema.Array(ContactPayload)
      assert.strictEqual(yield* refusal(payloads, [{ email }, { email, customFields }]), "[1].customFields")
      assert.strictEqual(yield* refusal(ContactUpdatePayload, { customFields }), "customFields")
      const change = { email, seen: null, write: { customFields: { City: "1", city: null } } }
      assert.strictEqual(yield* refusal(ContactChange, change), "write.customFields")
      const seen = { email, seen: { customFields }, delete: true }
      assert.strictEqual(yield* refusal(ContactChange, seen), "seen.customFields")
      assert.throws(() => ContactPayload.make({ email, customFields } as never), InvalidInput)
    })
  )
})
