/** The addresses of a file. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Schema, Stream } from "effect"
import { readAddresses } from "../src/index.ts"

const read = (text: string) => readAddresses(Stream.make(new TextEncoder().encode(text)))

const files: ReadonlyArray<readonly [what: string, text: string]> = [
  ["one on each line", "ann@example.com\nbob@example.com\nANN@example.com\n"],
  ["lines of Windows, the last without an end", "ann@example.com\r\nbob@example.com"],
  ["a column of a CSV", "Name;E-Mail;Email\nAnn;x;ann@example.com\nBob;;bob@example.com\nAnn;;Ann@example.com\n"],
  ["a CSV whose other cells are no contact", "Status,Email\nnonsense,ann@example.com\n,bob@example.com\n"],
  ["an export as JSON", '[{"Email":"ann@example.com","Status":"Active"},{"Email":"bob@example.com"}]'],
  ["NDJSON", '{"Email":"ann@example.com"}\n{"Email":"bob@example.com"}\n']
]

/** The same addresses in one of the forms that programs save a list of them in. */
const Form = Schema.Struct({
  names: Schema.NonEmptyArray(Schema.Literals(["ann", "bob", "cid", "dee"])),
  heading: Schema.Literals(["", "Email", "E-mail Address"]),
  encoding: Schema.Literals(["utf-8", "utf-8 with a mark", "utf-16le", "utf-16be"]),
  end: Schema.Literals(["\n", "\r\n", "\r"]),
  isQuoted: Schema.Boolean,
  hasMore: Schema.Boolean
})

const encoded = (text: string, encoding: string): Uint8Array => {
  if (encoding.startsWith("utf-8")) return new TextEncoder().encode(encoding === "utf-8" ? text : `\ufeff${text}`)
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le")
  return new Uint8Array(encoding === "utf-16le" ? bytes : bytes.swap16())
}

describe("readAddresses", () => {
  it.effect.prop("reads what an import reads, with a heading and without", [Form], ([form]) =>
    Effect.gen(function* () {
      const { encoding, end, hasMore, heading, isQuoted, names } = form
      const quoted = (cell: string) => (isQuoted ? `"${cell}"` : cell)
      const lineOf = (cell: string, more: string) => (hasMore ? `${quoted(more)};${quoted(cell)}` : quoted(cell))
      const lines = [
        ...(heading === "" ? [] : [lineOf(heading, "Note")]),
        ...names.map((name) => lineOf(`${name}@example.com`, name))
      ]
      const mapping = heading === "" || heading === "Email" ? {} : { columns: { [heading]: "Email" } }
      const emails = yield* readAddresses(Stream.make(encoded(lines.join(end), encoding)), mapping)
      assert.deepStrictEqual(
        emails,
        [...new Set(names)].map((name) => `${name}@example.com`)
      )
    })
  )

  it.effect("refuses an address with an invisible end, and a row that cannot be split", () =>
    Effect.gen(function* () {
      for (const [text, says] of [
        ["Email,Status\nann@example.com\u200b,nonsense\n", "U+200B"],
        ['Email,a\nann@example.com,"b"c\n', "quote"],
        ['[{"Email":"ann@example.com","a":[1]}]', "list"]
      ] as const) {
        const error = yield* Effect.flip(read(text))
        assert.isTrue(error._tag === "InvalidInput" && error.issue.includes(says), String(error))
      }
    })
  )

  it.effect.each(files)("reads %s, each address once", ([, text]) =>
    Effect.gen(function* () {
      const emails = yield* read(text)
      assert.deepStrictEqual(
        emails.map((email) => email.toLowerCase()),
        ["ann@example.com", "bob@example.com"]
      )
    })
  )

  it.effect("names the line that has none, and reads nothing of such a file", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read("Email\nann@example.com\nbob\n"))
      assert.deepInclude(error, { _tag: "InvalidInput", field: "line 3" })
      assert.strictEqual((yield* Effect.flip(read("Name\nAnn\n")))._tag, "UnreadableFile")
    })
  )
})
