/** The addresses of a file. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
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

describe("readAddresses", () => {
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
