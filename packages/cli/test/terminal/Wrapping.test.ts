import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Schema } from "effect"
import { CliOutput } from "effect/cli"
import { wrapped } from "../../src/terminal/Wrapping.ts"

const Word = Schema.Literals(["a", "contacts", "日本語", "so-many-letters-that-no-line-has-room", "3", "e\u0301"])
const line = Arbitrary.map(
  Arbitrary.schema(
    Schema.Tuple([
      Schema.Literals(["", "  ", "    "]),
      Schema.Array(Word).check(Schema.isMinLength(1), Schema.isMaxLength(20))
    ])
  ),
  ([indent, words]) => indent + words.join(" ")
)
const width = Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 60 })))

describe("a message for people", () => {
  it.prop("is broken between words at the width, and as indented as it is", [line, width], ([line, width]) => {
    const indent = /^ */.exec(line)?.[0] ?? ""
    const lines = wrapped(line, width).split("\n")
    assert.strictEqual(indent + lines.map((one) => one.slice(indent.length)).join(" "), line)
    for (const [at, one] of lines.entries()) {
      assert.isTrue(one.startsWith(indent))
      const isOneWord = !one.slice(indent.length).includes(" ")
      assert.isTrue(isOneWord || CliOutput.displayWidth(one) <= width, one)
      // No line has room for the first word of the next one.
      const next = lines[at + 1]?.trim().split(" ")[0]
      if (next !== undefined) assert.isAbove(CliOutput.displayWidth(`${one} ${next}`), width)
    }
  })

  it("has commands to copy, columns and marked mistakes whole, and all of it where there is no terminal", () => {
    const whole = [
      "To undo it: roster contacts undo 20261121T152240424Z-22e9e6a4 --db friends.db",
      "  roster contacts import 'people of the whole country.csv' --map 'First Name=FirstName'",
      "Give it a name: --map '#4=name of the fourth column of the file'",
      "rejected    12  of the rows that the file has, all of them",
      "status = Active AND firstnme contains 'Jo' AND city = 'Bonn'\n                    ^^^^^^^^ unknown field, did you mean \"firstname\"?"
    ]
    for (const text of whole) assert.strictEqual(wrapped(text, 20), text)
    const long = "one two three four five six"
    assert.strictEqual(
      wrapped(`${long}\n  ${long}`, 16),
      "one two three\nfour five six\n  one two three\n  four five six"
    )
    assert.strictEqual(wrapped(long, undefined), long)
  })
})
