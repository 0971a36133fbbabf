import { assert, describe, it } from "@effect/vitest"
import { Contact, writePlainContact } from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { jsonLines } from "../../src/terminal/JsonLines.ts"
import { jsonText } from "../../src/terminal/Printable.ts"

const encode = Schema.encodeSync(Contact)

/** Texts of any letters, also of those that a terminal or JSON does something with. */
const Texts = Schema.Array(Schema.Tuple([Schema.String, Schema.Literals(["\u001b", "\u202e", '"', "😀", "é", "a"])]))

/** All that is printed, each part taken before the next one is asked for. */
const printed = (parts: ReadonlyArray<readonly [Contact, ...ReadonlyArray<Contact>]>, format: "json" | "ndjson") =>
  Effect.gen(function* () {
    const decoder = new TextDecoder("utf-8", { fatal: true })
    let text = ""
    const lines = jsonLines(Stream.fromArrays(...parts), { format, encode, plain: writePlainContact })
    yield* Stream.runForEach(lines, (bytes) =>
      Effect.sync(() => {
        text += decoder.decode(bytes)
      })
    )
    return text
  })

describe("jsonLines", () => {
  it.effect.prop(
    "prints what the schema and JSON make of awkward contacts and plain ones",
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

  it.effect("prints contacts that are larger than the memory it began with", () =>
    Effect.gen(function* () {
      const large: Contact = {
        email: "a@example.com",
        customFields: { plain: "x".repeat(200_000), not: '"'.repeat(70_000) }
      }
      const usual: Contact = { email: "b@example.com" }
      const text = yield* printed([[usual, large, usual], [usual]], "ndjson")
      const lines = [usual, large, usual, usual].map((contact) => `${JSON.stringify(encode(contact))}\n`)
      assert.strictEqual(text, lines.join(""))
    })
  )

  it.effect("prints an empty list", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual([yield* printed([], "json"), yield* printed([], "ndjson")], ["[]\n", ""])
    })
  )
})
