/** The table of fault cases says what the tests say. */
import { assert, describe, it } from "@effect/vitest"
import { existsSync, readFileSync } from "node:fs"
import { faultCases } from "../FaultCases.ts"
import { idsOf, page, problemsOf, resultsOf, tableOf, withTable } from "../Reliability.ts"

const cases = faultCases.flatMap((section) => section.cases)
const survivors = cases.map(({ id }) => ({
  file: `packages/a/test/${id}.test.ts`,
  name: `${id} holds`,
  state: "passed"
}))

describe("the table of fault cases", () => {
  it("knows a case by the head of a name", () => {
    assert.deepStrictEqual(idsOf("S40 a rule"), ["S40"])
    assert.deepStrictEqual(idsOf("C46, C47 a redirect"), ["C46", "C47"])
    assert.deepStrictEqual(idsOf("C13 and C14 slow"), ["C13", "C14"])
    for (const name of ["S4", "S400 many", "what S40 is", "", "SS40"]) assert.deepStrictEqual(idsOf(name), [], name)
  })

  it("has every case once", () => {
    const ids = cases.map(({ id }) => id)
    assert.deepStrictEqual(ids, [...new Set(ids)])
    for (const { id, text } of cases) assert.deepStrictEqual([idsOf(id), text === ""], [[id], false])
  })

  it("counts what survived, and names what did not", () => {
    const due = cases.filter(({ later }) => later === undefined).length
    const all = resultsOf(survivors)
    assert.deepStrictEqual(problemsOf(all), [])
    assert.include(tableOf(all), `**${due} of ${due} survived.**`)
    const lost = resultsOf([
      ...survivors.filter(({ name }) => !/^(?:C04|S62|S74)/.test(name)),
      { file: "b.test.ts", name: "S40 too", state: "failed" },
      { file: "b.test.ts", name: "S62 holds", state: "skipped" },
      { file: "b.test.ts", name: "S74 holds (nightly)", state: "skipped" },
      { file: "b.test.ts", name: "S99 is none", state: "passed" }
    ])
    assert.deepStrictEqual(
      problemsOf(lost).map((problem) => [problem.slice(0, 3), problem.split(": ").at(-1)]),
      [
        ["C04", "no test"],
        ["S40", "lost"],
        ["S62", "skipped"],
        ["S99", "S99 is no case of scripts/FaultCases.ts"]
      ]
    )
    assert.include(tableOf(lost), `**${due - 4} of ${due - 1} survived.**`)
    assert.match(tableOf(lost), /\| S74 \|.*\| nightly \|/)
    assert.match(tableOf(lost), /\| S40 \|.*\[b\.test\.ts\].*\| lost \|/)
  })

  it("stands in the documentation with the rows of these cases, whose tests are where it says", () => {
    const text = readFileSync(page, "utf8")
    assert.strictEqual(text, withTable(text, text.split(/<!-- .* -->/)[1]?.trim() ?? ""))
    const rows = [...text.matchAll(/^\| ([CSK]\d\d) \| (.*?) \| (.*?) \| (.*?) \|$/gm)]
    assert.deepStrictEqual(
      rows.map(([, id, said]) => [id, said]),
      cases.map(({ id, text }) => [id, text])
    )
    for (const [, id, , files = ""] of rows) {
      for (const [, file = ""] of files.matchAll(/\]\(\.\.\/(.*?)\)/g))
        assert.isTrue(existsSync(file), `${id}: ${file}`)
    }
  })
})
