import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { flagValue, isQuiet, isWide, outputFormat, timeLimit, parseDuration } from "../../src/terminal/OutputFlags.ts"

describe("the command line before it is parsed", () => {
  it.each<[ReadonlyArray<string>, string | undefined]>([
    [["contacts", "list", "-o", "json"], "json"],
    [["-o", "json", "contacts"], "json"],
    [["--output=json"], "json"],
    [["-o=json"], "json"],
    [["contacts", "get", "--", "-o", "json"], undefined],
    [["-qo", "json"], "json"],
    [["contacts", "-qo=json"], "json"],
    [["--output"], undefined],
    [["--outputs", "json"], undefined]
  ])("%j has the output %s", (args, expected) => {
    assert.strictEqual(flagValue(args, ["--output", "-o"]), expected)
  })

  it("decides how results and failures are printed", () => {
    assert.strictEqual(outputFormat([], true), "table")
    assert.strictEqual(outputFormat([], false), "json")
    assert.strictEqual(outputFormat(["-o", "table"], false), "table")
    assert.strictEqual(outputFormat(["-o", "json"], true), "json")
    assert.strictEqual(outputFormat(["-o", "yaml"], true), "table")
  })

  it.each<[string, boolean]>([
    ["contacts list", false],
    ["contacts list --quiet", true],
    ["-q contacts list", true],
    ["-qo json contacts list", true],
    ["--quiet=true contacts list", true],
    ["--quiet=false contacts list", false],
    ["--quiet no contacts list", false],
    ["contacts get -- --quiet", false],
    ["contacts list --output -5", false]
  ])("%s is quiet: %s", (line, expected) => {
    assert.strictEqual(isQuiet(line.split(" ")), expected)
  })

  it("shows all columns if it says so", () => {
    assert.isTrue(isWide(["contacts", "list", "--wide"]))
    assert.isFalse(isWide(["contacts", "list", "--wide=false"]))
    assert.isFalse(isWide(["contacts", "get", "--", "--wide"]))
  })

  it("has a time limit, or none", () => {
    assert.deepStrictEqual(timeLimit(["contacts", "list", "--timeout", "3s"]), Duration.seconds(3))
    assert.strictEqual(timeLimit(["contacts", "list"]), undefined)
  })
})

describe("spans of time", () => {
  it.each<[string, number | undefined]>([
    ["500ms", 500],
    ["3s", 3000],
    ["1.5s", 1500],
    ["2m", 120_000],
    ["1h", 3_600_000],
    ["30d", 2_592_000_000],
    ["4w", 2_419_200_000],
    ["0s", undefined],
    ["-1s", undefined],
    ["3", undefined],
    ["3 seconds", undefined],
    ["", undefined],
    ["1e3s", undefined]
  ])("%s is %s ms", (text, expected) => {
    const span = parseDuration(text)
    assert.strictEqual(span === undefined ? undefined : Duration.toMillis(span), expected)
  })
})
