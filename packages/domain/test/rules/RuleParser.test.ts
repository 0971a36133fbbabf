import { assert, describe, it, vi } from "@effect/vitest"
import { Result, Schema } from "effect"
import * as Rule from "../../src/rules/Rule.ts"
import { InvalidRule } from "../../src/rules/RuleError.ts"
import { fieldHints, maximumRuleConditions, maximumRuleDepth, parseRule } from "../../src/rules/RuleParser.ts"
import { RuleText } from "../../src/rules/RuleText.ts"
import { maximumRuleLength } from "../../src/rules/RuleLexer.ts"

const customFields = ["city", "age", "Plan"]
const parse = (text: string) => Result.getOrThrow(parseRule(text))
const failure = (text: string, options?: Parameters<typeof parseRule>[1]): InvalidRule => {
  const result = parseRule(text, options)
  if (Result.isSuccess(result)) return assert.fail(`parsed: ${text}`)
  return result.failure
}

const is = (name: string, number: number) => Rule.compare(Rule.customField(name), "=", Rule.number(number))
const [a, b, c] = [is("a", 1), is("b", 2), is("c", 3)]

describe("parseRule", () => {
  it("reads All alone, in any case", () => {
    for (const text of ["All", "all", " ALL\n"]) assert.deepStrictEqual(parse(text), Rule.all)
  })

  it("takes no operator in quotes", () => {
    assert.include(failure("age '=' 1").message, "an operator is missing here")
  })

  it("binds AND tighter than OR, and groups by parentheses", () => {
    assert.deepStrictEqual(parse("a = 1 OR b = 2 AND c = 3"), Rule.or([a, Rule.and([b, c])]))
    assert.deepStrictEqual(parse("a = 1 AND b = 2 OR c = 3"), Rule.or([Rule.and([a, b]), c]))
    assert.deepStrictEqual(parse("(a = 1 OR b = 2) AND c = 3"), Rule.and([Rule.or([a, b]), c]))
    assert.deepStrictEqual(parse("((a = 1) AND (b = 2 AND c = 3))"), Rule.and([a, b, c]))
  })

  it.each([
    ["Status = Engaged", Rule.compare(Rule.recordField("status"), "=", Rule.word("Engaged"))],
    ["STATUS != engaged", Rule.compare(Rule.recordField("status"), "!=", Rule.word("Engaged"))],
    ["status = 'Brand New'", Rule.compare(Rule.recordField("status"), "=", Rule.text("Brand New"))],
    ["contactAge >= 25", Rule.compare(Rule.recordField("contactage"), ">=", Rule.number(25))],
    ["FirstName CONTAINS 'O''Neill'", Rule.compare(Rule.recordField("firstname"), "contains", Rule.text("O'Neill"))],
    ['firstname = "the ""Jo"" \'"', Rule.compare(Rule.recordField("firstname"), "=", Rule.text('the "Jo" \''))],
    ["firstname='Jo'", Rule.compare(Rule.recordField("firstname"), "=", Rule.text("Jo"))],
    ["firstname\tnot-contains\r\n''", Rule.compare(Rule.recordField("firstname"), "not-contains", Rule.text(""))],
    ["Größe >= -1.5", Rule.compare(Rule.customField("Größe"), ">=", Rule.number(-1.5))],
    ["opt-in.v2_x = 'yes'", Rule.compare(Rule.customField("opt-in.v2_x"), "=", Rule.text("yes"))],
    ["x = -0", Rule.compare(Rule.customField("x"), "=", Rule.number(0))],
    ["lastopened = ''", Rule.compare(Rule.recordField("lastopened"), "=", Rule.text(""))],
    ["totalsent != ''", Rule.compare(Rule.recordField("totalsent"), "!=", Rule.text(""))],
    [
      "dateadded < '2024-02-29'",
      Rule.compare(Rule.recordField("dateadded"), "<", Rule.date({ start: Date.UTC(2024, 1, 29), precision: "day" }))
    ],
    [
      "dateadded = '2024-01-31T01:00:00+02:00'",
      Rule.compare(
        Rule.recordField("dateadded"),
        "=",
        Rule.date({ start: Date.UTC(2024, 0, 30, 23), precision: "second" })
      )
    ],
    [
      'dateadded = "2024-01-31T01:02:03.123456789"',
      Rule.compare(
        Rule.recordField("dateadded"),
        "=",
        Rule.date({ start: Date.UTC(2024, 0, 31, 1, 2, 3, 123), precision: "millisecond" })
      )
    ],
    ["birthday month-day '02-29'", Rule.monthDay(Rule.customField("birthday"), "02-29")],
    ["daysfrom DateAdded >= 30", Rule.daysFrom(Rule.recordField("dateadded"), ">=", 30)],
    ["on-list 'News'", Rule.onList("News")],
    ['NOT-ON-LIST "It\'s ""new"""', Rule.onList(`It's "new"`, false)],
    ["on-list = 'x'", Rule.compare(Rule.customField("on-list"), "=", Rule.text("x"))],
    ["on-list contains 'x'", Rule.compare(Rule.customField("on-list"), "contains", Rule.text("x"))],
    ["DAYSFROM[LastOpened] < -1", Rule.daysFrom(Rule.recordField("lastopened"), "<", -1)]
  ])("reads %s", (text, rule) => {
    assert.deepStrictEqual(parse(text), rule)
  })

  it("takes unknown names for custom fields only when their names are not given", () => {
    assert.deepStrictEqual(parse("firstnme = 'Jo'"), Rule.compare(Rule.customField("firstnme"), "=", Rule.text("Jo")))
    assert.isTrue(Result.isSuccess(parseRule("PLAN = 'x' AND City = 'y'", { customFields })))
    assert.strictEqual(failure("firstnme = 'Jo'", { customFields }).hint, 'did you mean "firstname"?')
    assert.strictEqual(failure("plam = 'Jo'", { customFields }).hint, 'did you mean "Plan"?')
  })
})

describe("InvalidRule", () => {
  // The second column marks the place of the mistake.
  it.each([
    ["firstname", "         ^", "an operator is missing"],
    ["firstname 'Jo'", "          ^^^^", "an operator is missing"],
    ["firstname =", "           ^", "a text in quotes is needed"],
    ["firstname = Jo", "            ^^", "write 'Jo'"],
    ["firstname = 5", "            ^", "write '5'"],
    ["firstname == 'Jo'", "          ^^", "write ="],
    ["firstname <> 'Jo'", "          ^^", "write !="],
    ["firstname like 'Jo'", "          ^^^^", "use contains"],
    ["firstname IN ('Jo')", "          ^^", "join several = by OR"],
    ["firstname is null", "          ^^", "use = ''"],
    ["firstname contians 'Jo'", "          ^^^^^^^^", 'did you mean "contains"?'],
    ["firstname month-day '01-01'", "          ^^^^^^^^^", "month-day does not apply to firstname, a text"],
    ["firstname = 'Jo", "            ^", "this quote is not closed"],
    ["firstname = \"Jo'", "            ^", "this quote is not closed"],
    ["firstname = ‘Jo’", "            ^", "straight quotes"],
    ["firstname = 'Jo' AND", "                    ^", "a condition is missing"],
    ["firstname = 'Jo' lastname = 'x'", "                 ^^^^^^^^", 'unexpected "lastname"'],
    ["firstname = 'Jo' && city = 'x'", "                 ^^", "write AND"],
    ["firstname = 'Jo' || city = 'x'", "                 ^^", "write OR"],
    ["firstname = 'Jo';", "                ^", 'unexpected character ";" (U+003B)'],
    ["'firstname' = 'Jo'", "^^^^^^^^^^^", "write it without quotes"],
    ["status = Active OR '' = 'Jo'", "                   ^^", "the name of a field is missing"],
    ["status = Engagd", "         ^^^^^^", 'did you mean "Engaged"?'],
    ["status = Zzzzzzzz", "         ^^^^^^^^", "in quotes"],
    ["status = 3", "         ^", "a value is needed"],
    ["status < Engaged", "       ^", "< does not apply to status"],
    ["source contains 'Api'", "       ^^^^^^^^", "contains does not apply to source"],
    ["totalsent = '5'", "            ^^^", "a number is needed"],
    ["totalsent > ''", "            ^^", "a number is needed"],
    ["totalsent contains 5", "          ^^^^^^^^", "contains does not apply to totalsent, a number"],
    ["totalsent = 5x", "            ^^", '"5x" is not a number'],
    ["totalsent = 1.2.3", "            ^^^^^", "is not a number"],
    ["totalsent = 9007199254740993", "            ^^^^^^^^^^^^^^^^", "the limit is 9007199254740991"],
    ["city contains 5", "              ^", "write '5'"],
    ["dateadded > 2024-01-31", "            ^^^^^^^^^^", "a date in quotes is needed"],
    ["dateadded > '2024-02-30'", "            ^^^^^^^^^^^^", "is not a date that exists"],
    ["dateadded > '2023-02-29'", "            ^^^^^^^^^^^^", "is not a date that exists"],
    ["dateadded > '2024-01-31T24:00:00Z'", "            ^^^^^^^^^^^^^^^^^^^^^^", "is not a date that exists"],
    ["dateadded > '31.01.2024'", "            ^^^^^^^^^^^^", "is not a date that exists"],
    ["dateadded > ''", "            ^^", "is not a date that exists"],
    ["dateadded month-day '02-30'", "                    ^^^^^^^", "a month and day"],
    ["dateadded month-day 0229", "                    ^^^^", "a month and day"],
    ["daysfrom firstname > 1", "         ^^^^^^^^^", "daysfrom does not apply to firstname, a text"],
    ["daysfrom dateadded > 1.5", "                     ^^^", "days are counted whole"],
    ["daysfrom dateadded > '1'", "                     ^^^", "a number is needed"],
    ["daysfrom dateadded contains 1", "                   ^^^^^^^^", "contains does not apply to daysfrom"],
    ["daysfrom[dateadded > 1", "                   ^", "the bracket is not closed"],
    ["daysfrom > 1", "         ^", "a condition is missing"],
    ["NOT city = 'x'", "^^^", "there is no NOT"],
    ["AND city = 'x'", "^^^", "a condition is missing before AND"],
    ["city = 'x' OR OR age = 1", "              ^^", "a condition is missing before OR"],
    ["All AND city = 'x'", "^^^", "All stands alone"],
    ["city = 'x' OR all", "              ^^^", "All stands alone"],
    ["(All)", " ^^^", "All stands alone"],
    ["All All", "^^^", "All stands alone"],
    ["(city = 'x'", "^", "this parenthesis is not closed"],
    ["city = 'x')", "          ^", "this parenthesis was never opened"],
    ["(city = 'x' age = 1)", "            ^^^", 'unexpected "age"'],
    ["()", " ^", "a condition is missing"],
    ["1 = 1", "^", "a condition is missing"],
    ["frstname = 'x'", "^^^^^^^^", 'unknown field "frstname"; did you mean "firstname"?'],
    ["[city] = 'x'", "^", "a condition is missing"],
    ["😀 = 'x'", "^", "unexpected character"],
    ["city = '😀' AND 😀", "               ^", "unexpected character"]
  ])("points into %s", (text, carets, problem) => {
    const lines = failure(text, { customFields }).message.split("\n")
    assert.strictEqual(lines[0], "the rule is not valid")
    assert.strictEqual(lines[1], `  ${text}`)
    assert.isTrue(lines[2]?.startsWith(`  ${carets} `), lines[2])
    assert.include(lines[2], problem)
  })

  it("has the shape that users know", () => {
    const error = failure("status = 'Engaged' AND firstnme contains 'Jo'", { customFields })
    assert.strictEqual(error._tag, "InvalidRule")
    assert.strictEqual(error.position, 23)
    assert.strictEqual(error.length, 8)
    assert.isTrue(
      error.message.startsWith(
        [
          "the rule is not valid",
          "  status = 'Engaged' AND firstnme contains 'Jo'",
          '                         ^^^^^^^^ unknown field "firstnme"; did you mean "firstname"?',
          "  expected: email, status, firstname, lastname,"
        ].join("\n")
      )
    )
  })

  it("refuses blank rules", () => {
    for (const text of ["", " ", "\t\r\n "]) {
      assert.strictEqual(
        failure(text).message,
        "the rule is not valid: it is empty\n  expected: a condition, All for every contact"
      )
    }
  })

  it("shows only the surroundings of the mistake in a long rule", () => {
    const error = failure(`city = '${"x".repeat(5000)}' oops city = '${"y".repeat(5000)}'`)
    const [, line = "", carets = ""] = error.message.split("\n")
    assert.isBelow(line.length, 110)
    assert.strictEqual(line.slice(carets.indexOf("^"), carets.lastIndexOf("^") + 1), "oops")
    assert.isTrue(line.startsWith("  …") && line.endsWith("…"))
  })

  it("makes control and direction characters visible", () => {
    const { message } = failure("city = '\u001b[31m\n\u202e\u0085' oops")
    assert.isFalse(/[\p{Cc}\p{Cf}]/u.test(message.replaceAll("\n", "")))
    assert.include(message, "city = '␛[31m␊\ufffd\ufffd' oops")
  })

  it("encodes and decodes", () => {
    const error = failure("city = ")
    const json = Schema.encodeSync(InvalidRule)(error)
    assert.strictEqual(Schema.decodeSync(InvalidRule)(json).message, error.message)
  })
})

describe("limits", () => {
  const chain = (count: number) => Array.from({ length: count }, () => "a = 1").join(" AND ")
  const nested = (depth: number) => `${"(".repeat(depth)}a = 1${")".repeat(depth)}`

  it("names the limit of length", () => {
    const text = (length: number) => `a = '${"x".repeat(length - 6)}'`
    parse(text(maximumRuleLength))
    const error = failure(text(1_000_000))
    assert.include(error.message, "1000000 characters long; the limit is 16384")
    assert.isBelow(error.message.length, 500)
    assert.strictEqual(error.rule.length, maximumRuleLength)
  })

  it("names the limit of depth", () => {
    assert.deepStrictEqual(parse(nested(maximumRuleDepth)), a)
    for (const depth of [maximumRuleDepth + 1, 8000]) assert.include(failure(nested(depth)).message, "the limit is 100")
    assert.include(failure("(".repeat(10_000)).message, "the limit is 100")
  })

  it("names the limit of conditions", () => {
    parse(chain(maximumRuleConditions))
    assert.include(failure(chain(maximumRuleConditions + 1)).message, "the limit is 1000")
    assert.include(failure(chain(5000)).message, "the limit is 16384")
  })

  it("reads no further than the first mistake", () => {
    // Each token is one match.
    const match = vi.spyOn(RegExp.prototype, "test")
    try {
      failure("(".repeat(maximumRuleLength))
      assert.isBelow(match.mock.calls.length, 2 * maximumRuleDepth)
    } finally {
      match.mockRestore()
    }
  })
})

describe("hostile rules", () => {
  const corpus = [
    "' OR '1'='1",
    "'; DROP TABLE contacts; --",
    "x') OR 1=1 --",
    "1; SELECT pg_sleep(10)",
    "\\' OR 1=1 /*",
    "' UNION SELECT token FROM apikeys --",
    "%' OR email LIKE '%",
    "${7*7} {{7*7}} $(id) `id`",
    "ʼ OR 1=1 ＇ OR ＂",
    "\u001b]0;x\u0007",
    "\u202e' RO",
    "__proto__"
  ]

  it.each(corpus)("reads %j as a literal when it is quoted", (text) => {
    const rule = Rule.compare(Rule.recordField("email"), "=", Rule.text(text))
    assert.deepStrictEqual(parse(`email = '${text.replaceAll("'", "''")}'`), rule)
  })

  it.each(corpus)("refuses %j as a rule and after one", (text) => {
    failure(text)
    failure(`email = 'a' ${text}`)
    failure(`email = ${text}`)
  })

  it.each([
    "email = '' OR 1=1",
    "email = '' OR ''=''",
    "email = '' OR 'email'='1'",
    "email = 'a' -- AND x",
    "email = 'a' /* x */",
    "email = 'a'; DELETE FROM contacts",
    "email = 'a' UNION SELECT 1",
    "email = (SELECT 1)",
    "lower(email) = 'a'",
    "email = NULL",
    "email = 'a' 'b'",
    "email = 'a\0'",
    "email = '\ud800'"
  ])("refuses %j", (text) => {
    failure(text)
  })

  it("knows no inherited names", () => {
    for (const name of ["__proto__", "constructor", "toString", "hasOwnProperty"]) {
      assert.deepStrictEqual(parse(`${name} = 1`), is(name, 1))
      failure(`${name} = 1`, { customFields })
      assert.isUndefined(failure(`email ${name} 'a'`).hint)
    }
  })

  it("says how a name of several words is written", () => {
    assert.include(failure("plan name = 'gold'").hint ?? "", "has quotes, as in 'plan name'")
  })
})

describe("RuleText", () => {
  it("is a text that is a rule", () => {
    assert.strictEqual(RuleText.make("status = Engaged"), "status = Engaged")
    const result = Schema.decodeResult(RuleText)("status == Engaged")
    assert.isTrue(Result.isFailure(result) && result.failure.message.includes("write ="))
  })

  it.prop("can be generated", [RuleText], ([text]) => Result.isSuccess(parseRule(text)))
})

describe("fieldHints", () => {
  const hints = (text: string) => fieldHints(parse(text))

  it("names the field that was perhaps meant", () => {
    assert.deepStrictEqual(hints("stauts = 'Active' OR (x = 1 AND emial = 'a') OR Stauts = ''"), [
      'The rule takes "stauts" for a custom field; did you mean "status"?',
      'The rule takes "emial" for a custom field; did you mean "email"?',
      'The rule takes "Stauts" for a custom field; did you mean "status"?'
    ])
    assert.deepStrictEqual(hints("daysfrom date_added > 3"), [
      'The rule takes "date_added" for a custom field; did you mean "dateadded"?'
    ])
  })

  it.each(["All", "Status = Active", "city = 'Rome'", "age > 3", "name = ''", "lastvisit > '2024-01-01'"])(
    "has nothing to say of %s",
    (text) => {
      assert.deepStrictEqual(hints(text), [])
    }
  )

  it("comes with a word that would be right for the field that was meant", () => {
    assert.match(failure("stauts = Active").hint ?? "", /"stauts" is taken for a custom field, did you mean "status"\?/)
    assert.strictEqual(failure("city = Rome").hint, "write 'Rome'")
  })
})
