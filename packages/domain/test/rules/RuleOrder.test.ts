import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result } from "effect"
import { matchesRule, parseRule, unorderedValues } from "../../src/index.ts"

const contacts = ["12", "1.5", "1,5", "n/a", "", "2024-01-31", "31.01.2024", undefined].map((score, at) => ({
  email: `a${at}@example.com`,
  customFields: score === undefined ? {} : { Score: score }
}))

const found = (rule: string) =>
  unorderedValues(Result.getOrThrow(parseRule(rule)), contacts).map(({ as, example, unordered, values }) => [
    as,
    unordered,
    values,
    example
  ])

describe("the values of which a rule knows no order", () => {
  it.each([
    ["score > 10", [["numbers", 4, 6, "1,5"]]],
    ["score < '2024-01-01'", [["dates", 5, 6, "12"]]],
    ["city = 'x' AND (score >= 1 OR status = Active OR SCORE <= 2)", [["numbers", 4, 6, "1,5"]]],
    [
      "score > 1 AND score < '2024-01-01'",
      [
        ["numbers", 4, 6, "1,5"],
        ["dates", 5, 6, "12"]
      ]
    ],
    ["score = 10", []],
    ["score > 'b'", []],
    ["other > 10", []],
    ["dateadded > '2024-01-01'", []],
    ["All", []]
  ])("are counted: %s", (rule, expected) => {
    assert.deepStrictEqual(found(rule), expected)
  })

  it("are exactly those that no comparison with a number selects, and are not empty", () => {
    const rule = Result.getOrThrow(parseRule("score < 0 OR score >= 0"))
    const selected = contacts.filter((contact) => matchesRule(rule, contact, DateTime.makeUnsafe(0)))
    const [counted] = unorderedValues(rule, contacts)
    assert.deepInclude(counted, { values: 6, unordered: 6 - selected.length })
  })
})
