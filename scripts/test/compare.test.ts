/** `pnpm compare` prints what differs between two revisions, and nothing else. */
import { assert, describe, it } from "@effect/vitest"
import { spawnSync } from "node:child_process"
import { namesCompared, sizesCompared, startsCompared } from "../Differences.ts"

describe("a comparison of", () => {
  it("names shows those that only one side has", () => {
    const before = new Set(["@roster/domain: Contact", "@roster/domain: Csv", "@roster/api: Call"])
    const after = new Set(["@roster/domain: Contact", "@roster/domain: Rule", "@roster/api: Call"])
    assert.deepStrictEqual(namesCompared(before, after), [
      "exports:",
      "  - @roster/domain: Csv",
      "  + @roster/domain: Rule"
    ])
    assert.deepStrictEqual(namesCompared(after, after), ["exports: as before (3 names)"])
  })

  it("sizes shows their sum and those that differ, the most changed one first", () => {
    const before = new Map([
      ["same.js", 500],
      ["main.js", 1000],
      ["old.js", 200],
      ["small.js", 400]
    ])
    const after = new Map([
      ["same.js", 500],
      ["main.js", 1025],
      ["small.js", 399],
      ["new.js", 2100]
    ])
    assert.deepStrictEqual(sizesCompared("bundle", before, after, "all files"), [
      "bundle:",
      "             before  after  difference",
      "  all files   2,100  4,024      +1,924  +91.62%",
      "  new.js       none  2,100      +2,100      new",
      "  old.js        200   none        -200     gone",
      "  main.js     1,000  1,025         +25   +2.50%",
      "  small.js      400    399          -1   -0.25%"
    ])
    assert.deepStrictEqual(sizesCompared("bundle", after, after, "all files"), ["bundle: as before (4,024)"])
    assert.deepStrictEqual(sizesCompared("bundle", after, after), ["bundle: as before"])
  })

  it("starts calls a command slower or faster if nearly all pairs agree", () => {
    const pairs = (agreeing: number, pair: readonly [number, number], others: readonly [number, number]) =>
      Array.from({ length: 10 }, (_, index) => (index < agreeing ? pair : others))
    const same = pairs(8, [100, 101], [100, 99])
    assert.deepStrictEqual(
      startsCompared(
        new Map([
          ["get", pairs(9, [80, 100], [80, 78])],
          ["list", pairs(10, [100, 75], [100, 75])],
          ["help", same]
        ])
      ),
      [
        "CPU time of a start:",
        "          before     after  ratio",
        "  get    80.0 ms  100.0 ms  1.250     slower",
        "  list  100.0 ms   75.0 ms  0.750     faster",
        "  help  100.0 ms  101.0 ms  1.010  as before"
      ]
    )
    assert.strictEqual(startsCompared(new Map([["help", same]]))[0], "CPU time of a start: as before")
  })
})

it("an unknown revision is refused", () => {
  const { status, stderr, stdout } = spawnSync(process.execPath, ["scripts/compare.ts", "no-such-branch"], {
    encoding: "utf8"
  })
  assert.strictEqual(
    stderr,
    'error: there is no commit "no-such-branch" in this repository: name a commit, a branch or a tag\n'
  )
  assert.deepStrictEqual([status, stdout], [1, ""])
})
