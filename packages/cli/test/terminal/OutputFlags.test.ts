import { assert, describe, it } from "@effect/vitest"
import { Duration } from "effect"
import { flagsIn, outputFlags, outputFormat, parseDuration } from "../../src/terminal/OutputFlags.ts"

describe("the command line before it is parsed", () => {
  it.each<[ReadonlyArray<string>, string | undefined]>([
    [["contacts", "list", "-o", "json"], "json"],
    [["-o", "json", "contacts"], "json"],
    [["--output=json"], "json"],
    [["-o=json"], "json"],
    [["contacts", "get", "--", "-o", "json"], undefined],
    [["-qo", "json"], "json"],
    [["-ojson"], "json"],
    [["contacts", "-qojson"], "json"],
    [["contacts", "get", "--", "-ojson"], undefined],
    [["contacts", "-qo=json"], "json"],
    [["--output"], undefined],
    [["--outputs", "json"], undefined]
  ])("%j has the output %s", (args, expected) => {
    assert.strictEqual(flagsIn(args).get("output"), expected)
  })

  it("decides how results and failures are printed", () => {
    const formatOf = (args: ReadonlyArray<string>, isTerminal: boolean) =>
      outputFormat(outputFlags(args).requestedFormat, isTerminal)
    assert.strictEqual(formatOf([], true), "table")
    assert.strictEqual(formatOf([], false), "json")
    assert.strictEqual(formatOf(["-o", "table"], false), "table")
    assert.strictEqual(formatOf(["-o", "json"], true), "json")
    assert.strictEqual(formatOf(["-o", "yaml"], true), "table")
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
    assert.strictEqual(outputFlags(line.split(" ")).isQuiet, expected)
  })

  it("shows all columns if it says so", () => {
    assert.isTrue(outputFlags(["contacts", "list", "--wide"]).isWide)
    assert.isFalse(outputFlags(["contacts", "list", "--wide=false"]).isWide)
    assert.isFalse(outputFlags(["contacts", "get", "--", "--wide"]).isWide)
  })

  it("has a time limit, or none", () => {
    assert.deepStrictEqual(outputFlags(["contacts", "list", "--timeout", "3s"]).timeLimit, Duration.seconds(3))
    assert.strictEqual(outputFlags(["contacts", "list"]).timeLimit, undefined)
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
