import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Result, Schema } from "effect"
import { InvalidRule, matchesRule, parseRule, printRule, Rule, rule, RuleText } from "../../src/index.ts"
import { maximumRuleLength } from "../../src/rules/RuleLexer.ts"
import type { RuleValue } from "../../src/rules/RuleTemplate.ts"

const parse = (text: string) => Result.getOrThrow(parseRule(text))
// A value that got past the compiler.
const unchecked = (value: unknown): RuleValue => value as RuleValue

describe("rule`...`", () => {
  it.effect("quotes texts and dates, and writes numbers as they are", () =>
    Effect.gen(function* () {
      const city = "Val d'Isère"
      const since = DateTime.makeUnsafe("2024-01-31T10:00:00Z")
      const text = yield* rule`city = ${city} AND (totalsent > ${25} OR dateadded >= ${since})`
      assert.strictEqual(text, "city = 'Val d''Isère' AND (totalsent > 25 OR dateadded >= '2024-01-31T10:00:00Z')")
      assert.strictEqual(yield* rule`lastopened < ${new Date(1)}`, "lastopened < '1970-01-01T00:00:00.001Z'")
      assert.strictEqual(yield* rule`status = ${"Active"}`, "status = 'Active'")
      assert.strictEqual(
        yield* rule`daysfrom lastopened > ${30} AND dateadded month-day ${"02-29"}`,
        "daysfrom lastopened > 30 AND dateadded month-day '02-29'"
      )
      assert.strictEqual(yield* rule`All`, "All")
    })
  )

  const value = Schema.String.check(Schema.makeFilter((text) => text.isWellFormed() && !text.includes("\0")))
  it.effect.prop("keeps any text that a rule can hold exactly", [value, value], ([one, other]) =>
    Effect.gen(function* () {
      const city = Rule.customField("city")
      assert.deepStrictEqual(
        parse(yield* rule`city = ${one} OR NOTE contains ${other}`),
        Rule.or([
          Rule.compare(city, "=", Rule.text(one)),
          Rule.compare(Rule.customField("NOTE"), "contains", Rule.text(other))
        ])
      )
    })
  )

  it.effect.prop("either keeps a text exactly, or fails", [Schema.String], ([text]) =>
    Effect.gen(function* () {
      const result = yield* Effect.result(rule`city = ${text}`)
      if (Result.isSuccess(result)) {
        assert.deepStrictEqual(parse(result.success), Rule.compare(Rule.customField("city"), "=", Rule.text(text)))
      } else assert.match(text, /\0|\p{Cs}/u)
    })
  )

  it.effect.prop("keeps a number exactly, or fails", [Schema.Finite], ([number]) =>
    Effect.gen(function* () {
      const result = yield* Effect.result(rule`age = ${number}`)
      if (Result.isSuccess(result)) {
        const expected = Rule.compare(Rule.customField("age"), "=", Rule.number(number === 0 ? 0 : number))
        assert.deepStrictEqual(parse(result.success), expected)
      } else assert.isFalse(Math.abs(number) <= Number.MAX_SAFE_INTEGER)
    })
  )

  it.effect("selects a contact by a date of its own", () =>
    Effect.gen(function* () {
      const dateAdded = DateTime.makeUnsafe("2024-01-31T10:00:00Z")
      const text = yield* rule`dateadded = ${dateAdded}`
      assert.isTrue(matchesRule(parse(text), { email: "a@example.com", dateAdded }, dateAdded))
    })
  )

  const evil = " OR city != "
  it.effect.each<readonly [string, Effect.Effect<RuleText, InvalidRule>, string]>([
    ["quotes of the writer around a value", rule`city = '${evil}'`, "it is the whole value"],
    ["double quotes of the writer", rule`city = "${evil}"`, "it is the whole value"],
    ["a part of a text", rule`city = 'New ${"York"}'`, "unexpected"],
    ["the name of a field", rule`${"city"} = 'x'`, "it is the whole value"],
    ["the name of a field in parentheses", rule`age = 1 AND (${"city"} = 'x')`, "it is the whole value"],
    ["the name of a field of dates", rule`daysfrom[${"city"}] < 3`, "it is the whole value"],
    ["a part of a name", rule`city${1} = 'x'`, "it is the whole value"],
    ["a part of a number", rule`age > 1${1}`, "it is the whole value"],
    ["an operator", rule`age ${"="} 1`, "an operator is missing"],
    ["another rule", rule`${RuleText.make("status = Active")} AND age = 1`, "unknown operator"],
    ["not a number", rule`age = ${Number.NaN}`, "this is not a value"],
    ["an endless number", rule`age = ${Infinity}`, "this is not a value"],
    ["too large a number", rule`age = ${2 ** 53}`, "too large"],
    ["no date", rule`dateadded = ${new Date(Number.NaN)}`, "this is not a value"],
    ["a date of five digits", rule`dateadded = ${new Date(8.64e15)}`, "this is not a value"],
    ["nothing", rule`city = ${unchecked(undefined)}`, "this is not a value"],
    ["a truth value", rule`city = ${unchecked(true)}`, "this is not a value"],
    ["a NUL", rule`city = ${"\0"}`, "unexpected character"],
    ["half a character", rule`city = ${"\ud800"}`, "unexpected character"],
    ["a text that is too long", rule`city = ${"x".repeat(maximumRuleLength)}`, "the limit is 16384"]
  ])("refuses %s", ([, made, problem]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(made)
      assert.instanceOf(error, InvalidRule)
      assert.include(error.message, problem)
    })
  )

  it.effect("takes a text up to the longest rule", () =>
    Effect.gen(function* () {
      const city = "x".repeat(maximumRuleLength - "city = ''".length)
      assert.strictEqual((yield* rule`city = ${city}`).length, maximumRuleLength)
    })
  )

  it.effect("points at the value", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(rule`age > ${5} AND city = '${" OR a = "}'`)
      assert.strictEqual(
        error.message,
        [
          "the rule is not valid",
          "  age > 5 AND city = '' OR a = ''",
          "                      ^^^^^^^^^^ a value cannot stand here: it is the whole value of a condition, and Roster quotes it"
        ].join("\n")
      )
    })
  )
})

describe("Rule.fromText", () => {
  it.effect("checks a text at run time", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* Rule.fromText("status = Active"), "status = Active")
      const error = yield* Effect.flip(Rule.fromText("status == Active"))
      assert.instanceOf(error, InvalidRule)
      assert.deepStrictEqual(error, Result.getOrThrow(Result.flip(parseRule("status == Active"))))
      const noText = yield* Effect.flip(Rule.fromText(unchecked(null) as string))
      assert.strictEqual(noText.message, "the rule is not valid: it is not a text")
    })
  )

  it("throws from make the message with the caret", () => {
    assert.throws(
      () => RuleText.make("status == Active"),
      InvalidRule,
      ["the rule is not valid", "  status == Active", "         ^^ unknown operator"].join("\n")
    )
  })
})

describe("printRule", () => {
  it("gives a text that services take, and that reads as the same rule", () => {
    const tree = Rule.and([
      Rule.compare(Rule.customField("city"), "=", Rule.text("a'b")),
      Rule.daysFrom(Rule.recordField("lastopened"), ">", 30)
    ])
    const text: RuleText = printRule(tree)
    assert.strictEqual(text, "city = 'a''b' AND daysfrom lastopened > 30")
    assert.deepStrictEqual(parse(text), tree)
    assert.strictEqual(Rule.print, printRule)
  })

  it.each([
    ["a custom field with the name of a field", Rule.compare(Rule.customField("Email"), "=", Rule.text("x"))],
    ["a custom field without a name", Rule.compare(Rule.customField(" "), "=", Rule.text("x"))],
    ["a number that is none", Rule.compare(Rule.customField("a"), "=", Rule.number(Number.NaN))],
    ["a day that does not exist", Rule.monthDay(Rule.recordField("dateadded"), "02-30")]
  ])("throws for %s", (_, tree) => assert.throws(() => printRule(tree), InvalidRule))
})
