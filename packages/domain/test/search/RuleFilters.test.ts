/** Filters that clicks set: a rule with one selects what it did and the filter, and without it what it did. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Result, Schema } from "effect"
import { EmailAddress } from "../../src/contacts/EmailAddress.ts"
import * as Rule from "../../src/rules/Rule.ts"
import { matchesRule } from "../../src/rules/evaluation/RuleEvaluator.ts"
import { parseRule } from "../../src/rules/RuleParser.ts"
import { printRule } from "../../src/rules/RuleText.ts"
import {
  conditionOf,
  conditionsOf,
  filterOf,
  type RuleFilter,
  withFilter,
  withoutCondition
} from "../../src/search/RuleFilters.ts"

const anyOf = <A>(all: ReadonlyArray<A>): Arbitrary.Arbitrary<A> =>
  Arbitrary.map(Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: all.length - 1 }))), (at) => {
    const one = all[at]
    if (one === undefined) throw new Error("there is none")
    return one
  })

const status = Rule.recordField("status")
const city = Rule.customField("city")
const filter = anyOf<RuleFilter>([
  { _tag: "Word", word: "ann" },
  { _tag: "Word", word: "O'Hara" },
  { _tag: "Values", field: status, values: ["Active"] },
  { _tag: "Values", field: status, values: ["Active", "Stale", "odd one"] },
  { _tag: "Values", field: city, values: ["Köln", "", "10"] },
  { _tag: "Values", field: Rule.recordField("totalsent"), values: ["0"] },
  { _tag: "OnList", list: "News' letter", isOn: true },
  { _tag: "OnList", list: "A", isOn: false },
  { _tag: "AddedSince", date: "2026-01-31" },
  { _tag: "AddedSince", date: "2026-01-31T10:00Z" }
])
const rule = anyOf(
  [
    "All",
    "status = Active",
    "status != Active",
    "city = 'Bonn' OR status = Stale",
    "(city = 'Bonn' OR status = Stale) AND city contains 'o'",
    "dateadded >= '2020-01-01' AND city = 'Bonn'",
    "daysfrom dateadded < 30 AND on-list 'A'",
    "email contains 'ann' OR firstname contains 'ann' OR lastname contains 'ann'"
  ].map((text) => Result.getOrThrow(parseRule(text)))
)
const contact = Arbitrary.map(
  Arbitrary.all([
    anyOf(["Active", "Stale"] as const),
    anyOf(["Bonn", "Köln", ""]),
    anyOf(["ann", "bob"]),
    anyOf([1, 9e11, 2e12])
  ]),
  ([status, city, name, at]) => ({
    email: EmailAddress.make(`${name}@example.com`),
    status,
    customFields: { city },
    dateAdded: DateTime.makeUnsafe(at)
  })
)

const now = DateTime.makeUnsafe(0)

const usesLists = (one: Rule.Rule) => Rule.namesLists(one)

describe("a filter that a click sets", () => {
  it.prop("is read from the rule that it wrote", [rule, filter], ([rule, filter]) => {
    const written = printRule(withFilter(rule, filter))
    const read = conditionsOf(Result.getOrThrow(parseRule(written))).map(filterOf)
    assert.deepInclude(read, filter, written)
  })

  it.prop("narrows a rule that has none for the same thing", [rule, filter, contact], ([rule, filter, contact]) => {
    const condition = conditionOf(filter)
    const made = withFilter(rule, filter)
    if (condition === undefined || usesLists(made) || conditionsOf(made).length === conditionsOf(rule).length) return
    assert.strictEqual(
      matchesRule(made, contact, now),
      matchesRule(rule, contact, now) && matchesRule(condition, contact, now)
    )
  })

  it.prop(
    "takes the place of the one for the same thing, and setting it again changes nothing",
    [rule, filter],
    ([rule, filter]) => {
      const once = withFilter(rule, filter)
      assert.deepStrictEqual(withFilter(once, filter), once)
      const others = conditionsOf(rule).length
      assert.include([others, others + 1], conditionsOf(once).length)
    }
  )

  it.prop("is removed by a click, and every other condition stays", [rule, filter], ([rule, filter]) => {
    const made = withFilter(rule, filter)
    const conditions = conditionsOf(made)
    conditions.forEach((_, place) => {
      const left = conditions.filter((_, index) => index !== place)
      assert.deepStrictEqual(conditionsOf(withoutCondition(made, place)), left)
    })
  })

  it("is gone with its last value", () => {
    const made = withFilter(Rule.all, { _tag: "Values", field: status, values: ["Active"] })
    assert.deepStrictEqual(withFilter(made, { _tag: "Values", field: status, values: [] }), Rule.all)
  })

  it("is none where a rule says more than a click", () => {
    for (const text of [
      "status != Active",
      "city = 'a' OR status = Stale",
      "email contains 'ann'",
      "dateadded > '2020-01-01'"
    ]) {
      assert.deepStrictEqual(conditionsOf(Result.getOrThrow(parseRule(text))).map(filterOf), [undefined])
    }
  })
})
