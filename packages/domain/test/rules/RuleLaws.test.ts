import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Result, Schema } from "effect"
import { rawFieldTest } from "../../src/rules/evaluation/RawFieldTest.ts"
import * as Rule from "../../src/rules/Rule.ts"
import { matchesRule, ruleJudge } from "../../src/rules/evaluation/RuleEvaluator.ts"
import { isRecordFieldName, recordFieldNames } from "../../src/rules/RuleFields.ts"
import { parseRule } from "../../src/rules/RuleParser.ts"
import { selectsEveryContact } from "../../src/rules/RuleTautology.ts"

const namesOf = (kind: string) => recordFieldNames.filter((name) => Rule.fieldKind(Rule.recordField(name)) === kind)
const recordFieldOf = (kind: string) =>
  Schema.Struct({ _tag: Schema.tag("RecordField"), name: Schema.Literals(namesOf(kind)) })
const isStored = (name: string) => isRecordFieldName(name) && name !== "contactage"
const notStored = Schema.makeFilter((name: string) => !isStored(name.toLowerCase()))
const CustomField = Schema.Struct({
  _tag: Schema.tag("CustomField"),
  name: Schema.Union([
    Schema.Literals(["a", "b", "AND", "all", "daysfrom", "contactage", "plan name", "it's", '"', "1", "-", "é (cm)"]),
    Schema.String.check(Schema.isPattern(/^[a-zA-Z_é][a-zA-Z0-9_.-]{0,6}$/), notStored),
    Schema.String.check(
      Schema.isMaxLength(12),
      Schema.makeFilter((name) => name.isWellFormed() && !name.includes("\0") && name.trim() !== ""),
      notStored
    )
  ])
})

const Literal = Schema.String.check(
  Schema.isMaxLength(12),
  Schema.makeFilter((text) => text.isWellFormed() && !text.includes("\0"))
)
const Text = Schema.Struct({
  _tag: Schema.tag("Text"),
  text: Schema.Union([
    Schema.Literals(["", "@", "'", "''", '"', "a'b", "' OR 1=1 --", "2024-01-31", "2024-02-29T10:00Z"]),
    Literal
  ])
})
const Empty = Schema.Struct({ _tag: Schema.tag("Text"), text: Schema.Literal("") })
const Numeric = Schema.Struct({
  _tag: Schema.tag("Number"),
  number: Schema.Finite.check(Schema.makeFilter((n) => !Object.is(n, -0) && Math.abs(n) <= Number.MAX_SAFE_INTEGER))
})
const aligned = <const P extends string>(precision: P, unit: number) =>
  Schema.Struct({
    _tag: Schema.tag("Date"),
    date: Schema.Struct({
      start: Schema.Int.check(
        Schema.isBetween({ minimum: -60_000_000_000_000, maximum: 250_000_000_000_000 }),
        Schema.makeFilter((n) => unit === 1 || (n % unit === 0 && !Object.is(n, -0)))
      ),
      precision: Schema.Literal(precision)
    })
  })
const dates = ["2024-01-31", "2024-02-29", "1999-12-31T23:59Z", "2024-01-31T10:00:00Z"]
const Instant = aligned("millisecond", 1)
const Days = Schema.Int.check(
  Schema.isBetween({ minimum: -4000, maximum: 4000 }),
  Schema.makeFilter((n) => !Object.is(n, -0))
)

const comparison = Schema.Literals(Rule.comparisons)
const equality = Schema.Literals(["=", "!="])
const anyOperator = Schema.Literals([...Rule.comparisons, ...Rule.textOperators])
const compare = <
  F extends Schema.Codec<Rule.Field>,
  O extends Schema.Codec<Rule.Operator>,
  V extends Schema.Codec<Rule.Value>
>(
  field: F,
  operator: O,
  value: V
) => Schema.Struct({ _tag: Schema.tag("Compare"), field, operator, value })

const dateField = Schema.Union([recordFieldOf("date"), CustomField])
const Leaf = Schema.Union([
  compare(recordFieldOf("text"), anyOperator, Text),
  compare(CustomField, anyOperator, Text),
  compare(CustomField, comparison, Numeric),
  compare(recordFieldOf("number"), comparison, Numeric),
  compare(recordFieldOf("number"), equality, Empty),
  compare(recordFieldOf("date"), comparison, Instant),
  compare(
    Schema.Struct({ _tag: Schema.tag("RecordField"), name: Schema.Literal("status") }),
    equality,
    Schema.Struct({ _tag: Schema.tag("Word"), word: Schema.Literals(["Active", "Engaged", "NotConfirmed"]) })
  ),
  Schema.Struct({
    _tag: Schema.tag("MonthDay"),
    field: dateField,
    monthDay: Schema.Literals(["01-01", "02-29", "12-31"])
  }),
  Schema.Struct({ _tag: Schema.tag("DaysFrom"), field: dateField, operator: comparison, days: Days })
])

type Tree = typeof Leaf.Type | { readonly join: "and" | "or"; readonly terms: readonly [Tree, ...Array<Tree>] }
const Tree: Schema.Codec<Tree> = Schema.Union([
  Leaf,
  Schema.Struct({
    join: Schema.Literals(["and", "or"]),
    terms: Schema.NonEmptyArray(Schema.suspend((): Schema.Codec<Tree> => Tree)).check(Schema.isMaxLength(4))
  })
])
const toCondition = (tree: Tree): Rule.Condition => {
  if (!("join" in tree)) return tree
  const [first, ...rest] = tree.terms
  return (tree.join === "and" ? Rule.and : Rule.or)([toCondition(first), ...rest.map(toCondition)])
}
const condition = Arbitrary.map(Arbitrary.schema(Tree), toCondition)

const Maybe = <S extends Schema.Constraint>(schema: S) => Schema.optionalKey(Schema.NullOr(schema))
const count = Schema.Int.check(Schema.isGreaterThanOrEqualTo(0))
const moment = Arbitrary.map(
  Arbitrary.schema(Schema.Int.check(Schema.isBetween({ minimum: 1_600_000_000_000, maximum: 1_800_000_000_000 }))),
  (millis) => DateTime.makeUnsafe(millis)
)
const subject = Arbitrary.map(
  Arbitrary.all([
    Arbitrary.schema(
      Schema.Struct({
        status: Schema.Literals(["Active", "Engaged"]),
        firstName: Maybe(Literal),
        lastName: Maybe(Literal),
        customFields: Maybe(
          Schema.Struct({
            a: Schema.optionalKey(Schema.Union([Literal, Schema.Literals(["1", "2", "-0", "x", ...dates])])),
            B: Schema.optionalKey(Literal)
          })
        )
      })
    ),
    Arbitrary.schema(Schema.Struct({ totalSent: count, totalOpened: count, totalClicked: count, totalFailed: count })),
    moment
  ]),
  ([profile, activity, dateAdded]) => ({
    ...profile,
    email: "Jo@Example.com",
    source: "ContactApi",
    activity,
    dateAdded
  })
)
const now = DateTime.makeUnsafe("2024-06-01T12:00:00Z")
const long = process.env["ROSTER_LONG_RUN"] !== undefined
/** So many in the nightly run, and a quarter of them in each. */
const runs = (runs: number) => ({ arbitrary: { runs: long ? runs : runs / 4 }, timeout: 60_000 })

describe("laws of rules", () => {
  it.prop(
    "what is printed is read back as the same tree",
    [condition],
    ([rule]) => {
      assert.deepStrictEqual(Result.getOrThrow(parseRule(Rule.printUnchecked(rule))), rule)
    },
    runs(1000)
  )

  it.prop(
    "printing what was read is stable",
    [condition],
    ([rule]) => {
      const spaced = `( ${Rule.printUnchecked(rule).replaceAll(" AND ", "\tand  ").replaceAll(" OR ", "\nor ")} )`
      const printed = Rule.printUnchecked(Result.getOrThrow(parseRule(spaced)))
      assert.strictEqual(Rule.printUnchecked(Result.getOrThrow(parseRule(printed))), printed)
    },
    runs(1000)
  )

  it.prop(
    "any text is a rule or an InvalidRule, whatever it is",
    [Schema.String],
    ([text]) => {
      for (const candidate of [text, `email = ${text}`, `email = 'a' ${text}`, `a ${text} 1`]) {
        const result = parseRule(candidate)
        if (Result.isFailure(result)) {
          assert.strictEqual(result.failure._tag, "InvalidRule")
          assert.isAtMost(result.failure.position, candidate.length)
          assert.isAtMost(result.failure.message.split("\n").length, 4)
        }
      }
    },
    runs(1000)
  )

  it.prop(
    "!= and not-contains are what = and contains are not",
    { condition, subject },
    ({ condition, subject }) => {
      if (condition._tag !== "Compare") return
      const { field, value } = condition
      const answer = (operator: Rule.Operator) => matchesRule(Rule.compare(field, operator, value), subject, now)
      assert.strictEqual(answer("!="), !answer("="))
      if (value._tag === "Text") assert.strictEqual(answer("not-contains"), !answer("contains"))
      assert.isAtMost([answer("<"), answer("="), answer(">")].filter(Boolean).length, 1)
    },
    runs(2000)
  )

  it.prop(
    "AND and OR are what they say",
    { left: condition, right: condition, subject },
    ({ left, right, subject }) => {
      const answer = (rule: Rule.Rule) => matchesRule(rule, subject, now)
      assert.strictEqual(answer(Rule.and([left, right])), answer(left) && answer(right))
      assert.strictEqual(answer(Rule.or([left, right])), answer(left) || answer(right))
    },
    runs(1000)
  )

  it.prop(
    "what selects every contact selects every contact",
    { condition, subject },
    ({ condition, subject }) => {
      if (selectsEveryContact(condition))
        assert.isTrue(matchesRule(condition, subject, now), Rule.printUnchecked(condition))
    },
    runs(3000)
  )

  it.prop(
    "what the text of custom fields rules out is not selected",
    { condition, subject },
    ({ condition, subject }) => {
      const text = JSON.stringify(subject.customFields ?? {})
      if (rawFieldTest(condition)?.(text) === false)
        assert.isFalse(ruleJudge(condition, now)(subject), Rule.printUnchecked(condition))
    },
    runs(3000)
  )

  it.prop(
    "a part of a value, in another case or form, is not ruled out by the text of custom fields",
    { value: Schema.String, from: count, length: count, operator: Schema.Literals(["=", ...Rule.textOperators]) },
    ({ from, length, operator, value }) => {
      const start = from % (value.length + 1)
      const part = value.slice(start, start + length)
      for (const text of [value, part, part.toUpperCase(), part.toLowerCase(), part.normalize("NFD")]) {
        const rule = Rule.compare(Rule.customField("a"), operator, Rule.text(text))
        const subject = { email: "", customFields: { a: value } }
        const mayBe = rawFieldTest(rule)?.(JSON.stringify(subject.customFields)) ?? true
        assert.isTrue(mayBe || !matchesRule(rule, subject, now), Rule.printUnchecked(rule))
      }
    },
    runs(2000)
  )

  it("the text of custom fields rules out who lacks a part of each text that a rule asks for", () => {
    const test = (rule: string) => rawFieldTest(Result.getOrThrow(parseRule(rule)))
    const fields = JSON.stringify({ city: "MÜNCHEN", plan: "Gold" })
    assert.isTrue(test("city = 'München'")?.(fields))
    assert.isFalse(test("city = 'Mannheim'")?.(fields))
    assert.isFalse(test("status = Active AND (city = 'Berlin' OR plan contains 'silver')")?.(fields))
    assert.isTrue(test("city = 'Berlin' OR plan starts-with 'go'")?.(fields))
    assert.isTrue(test("city = 'Berlin'")?.('{"city":"\\u0042erlin"}'))
    for (const rule of ["city = 'Berlin' OR status = Active", "city != 'Berlin'", "age > 5", "city = 'ü'", "All"])
      assert.isUndefined(test(rule))
  })

  it.prop(
    "folding is stable, and the order is that of UTF-8",
    [Schema.String, Schema.String],
    ([left, right]) => {
      assert.strictEqual(Rule.foldText(Rule.foldText(left)), Rule.foldText(left))
      if (!left.isWellFormed() || !right.isWellFormed()) return
      assert.strictEqual(
        Math.sign(Rule.compareText(left, right)),
        Buffer.compare(Buffer.from(left), Buffer.from(right))
      )
    },
    runs(2000)
  )
})
