import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Result, Schema } from "effect"
import {
  completeSavedRule,
  isSavedRule,
  maximumSavedRules,
  RuleName,
  ruleOf,
  withoutRule,
  withRule
} from "../../src/saved/SavedRule.ts"

const anyName = Arbitrary.map(
  Arbitrary.schema(Schema.String.check(Schema.isPattern(/^[A-Za-z0-9][A-Za-z0-9._-]{0,20}$/))),
  (text) => RuleName.make(text)
)

const saved = { vip: "plan = 'pro'", news: "status = Active", constructor: "All" }

describe("saved rules", () => {
  it.each([
    ["status = Active", "status = Active"],
    ["@vip", "plan = 'pro'"],
    ["  @vip ", "plan = 'pro'"],
    ["@constructor", "All"]
  ])("%j stands for %j", (given, rule) => assert.deepStrictEqual(ruleOf(given, saved), Result.succeed(rule)))

  it.each([
    ["@vop", 'there is no saved rule "vop"; did you mean "vip"?'],
    ["@toString", 'there is no saved rule "toString"'],
    ["@", 'there is no saved rule ""']
  ])("%j is refused, with what there is", (given, message) => {
    const refused = ruleOf(given, saved)
    if (Result.isSuccess(refused)) return assert.fail("it was taken")
    assert.include(refused.failure.message, message)
    assert.deepStrictEqual(refused.failure.expected, ["@vip", "@news", "@constructor"])
  })

  it("says that none is saved, and lists no long number of them", () => {
    const refused = (rules: Readonly<Record<string, string>>) =>
      Result.match(ruleOf("@vip", rules), { onSuccess: () => assert.fail("it was taken"), onFailure: (error) => error })
    assert.include(refused({}).message, "no rule is saved")
    assert.deepStrictEqual(
      refused(Object.fromEntries(Array.from({ length: 9 }, (_, at) => [`r${at}`, "All"]))).expected,
      []
    )
  })

  it("are at most as many as may be, and one of the same name is replaced", () => {
    const full = Object.fromEntries(Array.from({ length: maximumSavedRules }, (_, at) => [`r${at}`, "All"]))
    assert.isTrue(Result.isFailure(withRule(full, RuleName.make("more"), "All")))
    assert.isTrue(Result.isSuccess(withRule(full, RuleName.make("r1"), "status = Active")))
    assert.isTrue(Result.isSuccess(withRule(withoutRule(full, "r1"), RuleName.make("more"), "All")))
  })

  it.prop("stand for what was saved under their name", [anyName], ([name]) => {
    const rules = Result.getOrThrow(withRule(saved, name, "All"))
    assert.isTrue(isSavedRule(`@${name}`))
    assert.deepStrictEqual(ruleOf(`@${name}`, rules), Result.succeed("All"))
    assert.isFalse(Object.hasOwn(withoutRule(rules, name), name))
    assert.include(
      completeSavedRule(`@${name.slice(0, 1)}`, rules).map(({ text }) => text),
      `@${name}`
    )
  })
})
