import { assert, describe, it } from "@effect/vitest"
import { Contact } from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { jsonText } from "../../src/terminal/Printable.ts"
import { jsonLines } from "../../src/terminal/Results.ts"

const encode = Schema.encodeSync(Contact)

/** Texts of any letters, also of those that a terminal or JSON does something with. */
const Texts = Schema.Array(Schema.Tuple([Schema.String, Schema.Literals(["\u001b", "\u202e", '"', "😀", "é", "a"])]))

const printed = (parts: ReadonlyArray<readonly [Contact, ...ReadonlyArray<Contact>]>, format: "json" | "ndjson") =>
  jsonLines(Contact, Stream.fromArrays(...parts), format).pipe(Stream.decodeText(), Stream.mkString)

describe("jsonLines", () => {
  it.effect.prop(
    "prints each record on a line of its own, without what a terminal would act on",
    [Texts],
    ([texts]) =>
      Effect.gen(function* () {
        const plain: Contact = { email: "a@example.com", firstName: "Zoë", customFields: {} }
        const all = texts.flatMap(([text, part]): ReadonlyArray<Contact> => [
          plain,
          { email: "b@example.com", firstName: text + part, customFields: { [part]: part + text } }
        ])
        const each = all.map((contact) => jsonText(encode(contact)))
        const parts = [[plain, ...all.slice(0, 3)] as const, ...all.slice(3).map((contact) => [contact] as const)]
        const lines = [jsonText(encode(plain)), ...each]
        assert.strictEqual(yield* printed(parts, "ndjson"), lines.map((line) => `${line}\n`).join(""))
        assert.strictEqual(yield* printed(parts, "json"), `[\n${lines.join(",\n")}\n]\n`)
      }),
    { arbitrary: { runs: 100 } }
  )

  it.effect("prints an empty list", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual([yield* printed([], "json"), yield* printed([], "ndjson")], ["[]\n", ""])
    })
  )
})
