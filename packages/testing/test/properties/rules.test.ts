/**
 * A rule means the same wherever it is read: printed and parsed, evaluated over a contact, asked of a store, and given to
 * delete by.
 */
import { assert, describe, it } from "@effect/vitest"
import { parseRule, Rule } from "@roster/domain"
import { Result } from "effect"
import { longRun } from "../../src/simulation/LongRun.ts"
import { layerMemory } from "../../src/index.ts"
import { meetingRule } from "./MeetingRules.ts"
import { property, rulesOnStore } from "./RulesOnStore.ts"

// The law is one of packages/domain/test/rules/RuleLaws.test.ts in every run; here it holds for many more rules.
describe.skipIf(!longRun)("a generated rule (nightly)", () => {
  it.prop(
    "is the same rule, printed and parsed",
    [meetingRule],
    ([rule]) => {
      assert.deepStrictEqual(Result.getOrThrow(parseRule(Rule.print(rule))), rule)
    },
    property({ ci: 3000, long: 100_000 })
  )
})

rulesOnStore("a generated rule, asked of a store", layerMemory, { ci: 100, long: 10_000 })
