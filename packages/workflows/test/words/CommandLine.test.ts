import { assert, describe, it } from "@effect/vitest"
import { execFileSync } from "node:child_process"
import { commandLine } from "../../src/words/CommandLine.ts"

describe("the command line of a program and its values", () => {
  it("has each value as a shell reads it, and nothing of what is not given", () => {
    const texts = [
      "Stadt = 'Köln'",
      `"`,
      "'",
      "'$HOME'",
      "`id`",
      "\\",
      "a b",
      "",
      "*",
      "~",
      "!!",
      "'\"'",
      "\n",
      "--x",
      "ä",
      "#"
    ]
    const line = commandLine(
      {
        program: "x",
        given: texts,
        values: { firstName: "'a' b", isNot: false, none: undefined, is: true, list: texts, no: [] }
      },
      "--db 'my store'"
    )
    // A shell says what it takes for words.
    const read = execFileSync("sh", ["-c", `roster() { printf '%s\\0' "$@"; }; ${line}`], { encoding: "utf8" })
    assert.deepStrictEqual(read.split("\0").slice(0, -1), [
      "x",
      ...texts,
      "--first-name",
      "'a' b",
      "--is",
      // Behind a space, the command line takes what begins with a dash for another flag.
      ...texts.flatMap((text) => (text.startsWith("-") ? [`--list=${text}`] : ["--list", text])),
      "--db",
      "my store"
    ])
  })
})
