import { assert, describe, it } from "@effect/vitest"
import { findingLines, maximumProblem, shortened } from "../../../src/commands/conformance/conformance.ts"

describe("a problem", () => {
  it("is shown whole up to the bound, and cut beyond it", () => {
    const longest = "x".repeat(maximumProblem)
    assert.strictEqual(shortened(`  ${longest}\n`), longest)
    assert.strictEqual(shortened(`${longest}y`), `${longest}…`)
  })

  it("cannot act on the terminal", () => {
    const detail = shortened("a \u001b]0;title\u0007 b")
    const line = findingLines()({ result: "failed", area: "area", name: "na\u001b[2Jme", detail })
    assert.strictEqual(line, "\narea\n  failed    na␛[2Jme\n            a ␛]0;title␇ b\n")
  })
})
