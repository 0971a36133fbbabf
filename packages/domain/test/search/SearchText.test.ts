/** What a typed text means: never words where a rule was meant, and the same people whichever way a person asks. */
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Result, Schema } from "effect"
import { EmailAddress } from "../../src/contacts/EmailAddress.ts"
import * as Rule from "../../src/rules/Rule.ts"
import { matchesRule } from "../../src/rules/evaluation/RuleEvaluator.ts"
import { recordFieldNames } from "../../src/rules/RuleFields.ts"
import { parseRule } from "../../src/rules/RuleParser.ts"
import { readSearch, searchAsWords, searchTextOf } from "../../src/search/SearchText.ts"

const now = DateTime.makeUnsafe(0)

const tagOf = (text: string) => readSearch(text)._tag

const textMatching = (pattern: RegExp) => Arbitrary.schema(Schema.String.check(Schema.isPattern(pattern)))
const oneOf = <const A extends ReadonlyArray<string>>(all: A) => Arbitrary.schema(Schema.Literals(all))

/** Conditions with a mistake that hands make: in the field, the operator, the value or a quote. */
const field = oneOf(["city", "stadt", "'plan name'", ...recordFieldNames])
const operator = oneOf(["=", "!=", ">=", "contains", "starts-with", "==", "=<", "like", "is", "contians ="])
const value = oneOf(["'Köln", "Köln", "Activ", "''' ", "‘Köln’", "", "'a' 'b'", "10 20", "2024-01-31"])
const condition = Arbitrary.map(Arbitrary.all([field, operator, value]), (parts) => parts.join(" "))
const joined = Arbitrary.map(
  Arbitrary.all([condition, oneOf(["", " AND ", " or ", " && ", ") ", " AND ("]), oneOf(["", "status", "x = 1"])]),
  (parts) => parts.join("")
)

const namePart = textMatching(/^[A-ZÄÖÜÉ][a-zäöüéø]{1,7}(?:['’-][A-Za-zäø]{2,5})?$/)
const isOfRules = (name: string) => /^(?:and|or|all|not|like|is|in|between|contains|daysfrom)$/i.test(name)
const names = Arbitrary.array(namePart, { minLength: 1, maxLength: 4 }).pipe(
  Arbitrary.map((parts) => parts.filter((part) => !isOfRules(part) && !/^(?:email|status|source)$/i.test(part)))
)

describe("a text that a person types", () => {
  it.prop("is a rule where it is one with a mistake, so that the mistake is said", [joined], ([text]) => {
    // Without its last value the text may be the name of a field alone.
    const parsed = parseRule(text)
    const expected = text.trim() === "" ? "Everyone" : "Rule"
    assert.strictEqual(tagOf(text), expected, `${text}, ${Result.isSuccess(parsed) ? "valid" : "with a mistake"}`)
  })

  it.each([
    "status = Activ",
    "Status=Activ",
    "status",
    "status active",
    "staus = Active",
    "email=ann@example.com",
    "stadt = ann@example.com",
    "stadt=ann@example.com",
    "email ann@example.com",
    "city contains ann@example.com",
    "stadt contains köln",
    "city is Berlin",
    "anna AND status",
    "on-list News",
    "@vip",
    "@",
    "All",
    "(anna)",
    "'anna meyer'",
    "not anna",
    "x".repeat(30_000),
    "anna\0"
  ])("is a rule: %j", (text) => assert.strictEqual(tagOf(text), "Rule"))

  it.each([
    "anna",
    "anna meyer",
    "Meyer, Anna",
    "O'Hara",
    "d’Artagnan",
    "Sophie in 't Veld",
    "Müller & Söhne",
    "example.com",
    "ann@",
    "Jean-Luc",
    "Andy Orlando",
    "Or Cohen",
    "北京"
  ])("is words: %j", (text) => assert.strictEqual(tagOf(text), "Words"))

  it.each([
    "ann@example.com",
    " <ann@example.com> ",
    "Ann Example <ann@example.com>",
    '"Example, Ann" <ann@example.com>',
    "mailto:ann@example.com?subject=Hello",
    "ann@example.com,"
  ])("is the address that %j holds", (text) =>
    assert.deepStrictEqual(readSearch(text), { _tag: "Address", email: "ann@example.com" })
  )

  it("is several addresses if it holds nothing else", () => {
    assert.strictEqual(tagOf("a@x.de; Bob <b@y.de>"), "Addresses")
    assert.strictEqual(tagOf("a@x.de a@x.de"), "Addresses")
    assert.strictEqual(tagOf("anna a@x.de, meyer"), "Words")
    assert.strictEqual(tagOf("  \n"), "Everyone")
  })

  it.prop(
    "of words selects whoever has each of them in the address, the first or the last name",
    [names, names, Arbitrary.schema(Schema.Boolean)],
    ([first, last, isUpper]) => {
      const contact = {
        email: EmailAddress.make("someone.else@example.com"),
        firstName: first.join(" "),
        lastName: last.join(" ")
      }
      const words = [...last, ...first].map((name) => (isUpper ? name.toUpperCase() : name.toLowerCase()))
      if (words.length === 0) return
      const read = readSearch(words.join(" "))
      if (read._tag !== "Words") return assert.fail(`${words.join(" ")} is taken for ${read._tag}`)
      const rule = Result.getOrThrow(parseRule(read.rule))
      assert.isTrue(matchesRule(rule, contact, now))
      const own = Rule.foldText(`${contact.email} ${contact.firstName} ${contact.lastName}`)
      const isOther = words.some((word) => !own.includes(Rule.foldText(`${word}q`)))
      const other = readSearch(words.map((word) => `${word}q`).join(" "))
      if (other._tag === "Words" && isOther) {
        assert.isFalse(matchesRule(Result.getOrThrow(parseRule(other.rule)), contact, now))
      }
      assert.strictEqual(searchTextOf(read.rule), words.join(" "))
    }
  )

  it.prop(
    "is a search, whatever it is, and comes back from the rule that it became",
    [Arbitrary.schema(Schema.String)],
    ([text]) => {
      const read = readSearch(text)
      if (read._tag !== "Words") return
      assert.isTrue(Result.isSuccess(parseRule(read.rule)))
      const again = readSearch(searchTextOf(read.rule))
      assert.deepStrictEqual(again._tag === "Words" ? again.rule : searchTextOf(read.rule), read.rule)
    }
  )

  it("that was taken for a rule is words if a person says so", () => {
    const read = searchAsWords("Meyer (Berlin)")
    assert.deepInclude(read, { _tag: "Words", words: ["Meyer", "(Berlin)"] })
    if (read?._tag === "Words") assert.strictEqual(searchTextOf(read.rule), read.rule)
    assert.isUndefined(searchAsWords("x".repeat(600)))
  })

  it("stays the rule that it is where a rule asks for more than words", () => {
    for (const rule of ["status = Active", "email contains 'anna'", "All", "status ="]) {
      assert.strictEqual(searchTextOf(rule), rule)
    }
  })
})
