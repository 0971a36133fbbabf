import { assert, describe, it } from "@effect/vitest"
import { maximumProblem, shortened } from "../../../src/commands/conformance/conformance.ts"

describe("a problem", () => {
  it("is shown whole up to the bound, and cut beyond it", () => {
    const longest = "x".repeat(maximumProblem)
    assert.strictEqual(shortened(`  ${longest}\n`), longest)
    assert.strictEqual(shortened(`${longest}y`), `${longest}…`)
  })
})
