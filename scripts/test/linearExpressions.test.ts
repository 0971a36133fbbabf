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
    // Long enough for systems that count CPU in ticks of ten milliseconds.
    assert.isAbove(costOf(slow, character, 20_000), 10 * costOf(linear, character, 20_000))
  })

  it("tells exponential ones", () => {
    assert.match(superLinear("^(?:a+)+$", "") ?? "", /exponential/)
  })
})
