import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Result, Schema } from "effect"
import { completeRule, maximumSuggestions } from "../../src/rules/RuleCompletion.ts"
import { parseRule } from "../../src/rules/RuleParser.ts"
import type { FieldsInUse } from "../../src/rules/FieldUse.ts"

const field = (name: string, contacts: number, examples: ReadonlyArray<string> = []) =>
  ({ name, isCustom: true, contacts, numbers: 0, dates: 0, examples }) as const

const inUse: FieldsInUse = {
  contacts: 20_000,
  exact: true,
  fields: [
    { name: "Status", isCustom: false, contacts: 20_000, numbers: 0, dates: 0, examples: ["Active"] },
    field("Stadt", 17_178, ["Köln", "'s-Hertogenbosch"]),
    field("plan name", 12),
    field("all", 1)
  ]
}

const textsAt = (rule: string, caret = rule.length) =>
  completeRule(rule, caret, inUse).suggestions.map(({ text }) => text)

const choices = Arbitrary.array(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 99 }))), {
  maxLength: 12
})

describe("the completion of a rule", () => {
  it("offers fields by what they begin with, those in use with their counts", () => {
    const { from, kind, suggestions } = completeRule("Sta", 3, inUse)
    assert.deepStrictEqual([from, kind], [0, "field"])
    assert.deepInclude(suggestions, { text: "Stadt", contacts: 17_178 })
    assert.deepInclude(suggestions, { text: "status", contacts: 20_000 })
    assert.deepStrictEqual(textsAt("plan"), ["'plan name'"])
  })

  it("offers the operators of the field, then its values, then what joins", () => {
    assert.deepStrictEqual(textsAt("status "), ["=", "!="])
    assert.deepStrictEqual(textsAt("status = Eng"), ["Engaged"])
    assert.include(textsAt("'plan name' "), "contains")
    assert.deepStrictEqual(textsAt("stadt = "), ["'Köln'", "'''s-Hertogenbosch'"])
    assert.deepStrictEqual(textsAt("stadt = 'K"), ["'Köln'"])
    assert.deepStrictEqual(textsAt("stadt = 'Köln' "), ["AND", "OR"])
    assert.deepStrictEqual(textsAt("(stadt = 'Köln') o"), ["OR"])
    assert.include(textsAt("stadt = 'Köln' AND (st"), "Stadt")
  })

  it("looks at the place, not at the end", () => {
    assert.deepStrictEqual(completeRule("sta = 'Köln'", 3, inUse).kind, "field")
    assert.deepStrictEqual(textsAt("status = Act AND x = 1", 12), ["Active", "Transactional", "Inactive"])
  })

  it.effect.prop("leads from nothing to a rule, whatever is chosen", { chosen: choices }, ({ chosen }) =>
    Effect.sync(() => {
      let rule = ""
      for (const choice of chosen) {
        const { suggestions } = completeRule(rule, rule.length, inUse)
        assert.isAtMost(suggestions.length, maximumSuggestions)
        const suggestion = suggestions[choice % Math.max(1, suggestions.length)]
        rule += `${suggestion?.text ?? "'x'"} `
        if (completeRule(rule, rule.length, inUse).kind !== "join") continue
        const parsed = parseRule(rule)
        // A field of the record may refuse a text that was made up here.
        if (Result.isFailure(parsed)) assert.match(parsed.failure.problem, /number|date|value|text|month/)
      }
    })
  )

  it("completes the names of lists, where there are some", () => {
    const texts = (rule: string) =>
      completeRule(rule, rule.length, inUse, ["News", "It's new"]).suggestions.map(({ text }) => text)
    assert.includeMembers(texts("on"), ["on-list", "not-on-list"])
    assert.notInclude(
      completeRule("on", 2, inUse).suggestions.map(({ text }) => text),
      "on-list"
    )
    assert.deepStrictEqual(texts("on-list "), ["'News'", "'It''s new'"])
    assert.deepStrictEqual(texts("not-on-list 'ne"), ["'News'", "'It''s new'"])
    assert.deepStrictEqual(texts("on-list 'News' "), ["AND", "OR"])
  })
})
