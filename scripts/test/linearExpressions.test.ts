import { assert, describe, it } from "@effect/vitest"
import { superLinear } from "../linearExpressions.ts"

/** Expressions that were in the sources, a character that they are slow with, and what does the same in linear time. */
const expressions: ReadonlyArray<readonly [slow: RegExp, character: string, linear: RegExp]> = [
  [/[.\s]+$/, ".", /(?<![.\s])[.\s]+$/],
  [/\s*\}$/, " ", /(?<!\s)\s*\}$/],
  [/\s*\n\s*x/, " ", /(?<!\s)\s*\nx/],
  [/%.*$/, "%", /%.*/s],
  [/@.*\./, "@", /^[^@]*@.*\./],
  [/^[^\s@]+@[^\s@]+\.[^\s@]+$/, ".", /^[^\s@]+@[^\s@.]+\.[^\s@]+$/]
]

/** The CPU of an expression on a text in which it fails late, in microseconds: the least of several. */
const costOf = (expression: RegExp, character: string, length: number): number => {
  const text = `a@a${character.repeat(length)}\nb`
  const once = () => {
    const before = process.threadCpuUsage()
    expression.test(text)
    const { system, user } = process.threadCpuUsage(before)
    return system + user
  }
  return Math.min(once(), once(), once())
}

describe("the rule against slow regular expressions", () => {
  it.each(expressions)("refuses %s, which %s makes slow, and takes %s", (slow, character, linear) => {
    assert.match(superLinear(slow.source, slow.flags) ?? "", /quadratic/)
    assert.isUndefined(superLinear(linear.source, linear.flags))
    const most = costOf(slow, character, 3000)
    // Ten times as long, it takes a hundred times the CPU, and the linear one ten times.
    assert.isAbove(most, 30 * costOf(slow, character, 300))
    assert.isBelow(costOf(linear, character, 3000), most / 30)
  })

  it("tells exponential ones", () => {
    assert.match(superLinear("^(?:a+)+$", "") ?? "", /exponential/)
  })
})
