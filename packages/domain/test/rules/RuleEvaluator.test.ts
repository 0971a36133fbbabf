import { assert, describe, it } from "@effect/vitest"
import { DateTime, Result, Schema } from "effect"
import { Contact } from "../../src/contacts/Contact.ts"
import { compareText, foldText, numberOf } from "../../src/rules/Rule.ts"
import { parseDate } from "../../src/rules/RuleDate.ts"
import { matchesRule, ruleJudge, ruleMatcher } from "../../src/rules/evaluation/RuleEvaluator.ts"
import { parseRule } from "../../src/rules/RuleParser.ts"
import { makeRuleCount, unplacedText } from "../../src/rules/evaluation/Unplaced.ts"
import type { RuleSubject } from "../../src/rules/RuleFields.ts"

const now = DateTime.makeUnsafe("2024-03-01T12:00:00Z")
const at = (text: string) => DateTime.makeUnsafe(text)

const jo: RuleSubject = {
  email: "Jo@Example.com",
  status: "Engaged",
  firstName: "JOSÉ",
  lastName: "",
  customFields: {
    City: "Zürich",
    age: "25",
    zip: "08001",
    note: "n/a",
    birthday: "1996-02-29",
    seen: "2024-01-31T10:00:00Z",
    german: "25.07.2022",
    __proto__x: "p"
  },
  consent: { date: null, ip: "127.0.0.1", tracking: "Allow" },
  source: "WebForm",
  dateAdded: at("2024-01-31T10:00:00.500Z"),
  dateUpdated: null,
  activity: { totalSent: 0, totalOpened: 12, lastOpened: at("2024-02-29T00:00:00Z"), lastClicked: null }
}

const matches = (text: string, subject: RuleSubject = jo) =>
  matchesRule(Result.getOrThrow(parseRule(text)), subject, now)

describe("matchesRule", () => {
  it.each([
    ["All", true],
    // texts
    ["email = 'jo@example.COM'", true],
    ["email != 'jo@example.com'", false],
    ["firstname = 'josé'", true],
    ["firstname = 'jose\u0301'", true],
    ["firstname = 'jose'", false],
    ["firstname starts-with 'jO'", true],
    ["firstname ends-with 'É'", true],
    ["firstname contains 'os'", true],
    ["firstname contains '%'", false],
    ["firstname contains '_'", false],
    ["firstname not-contains 'os'", false],
    ["firstname < 'k'", true],
    ["firstname >= 'josé'", true],
    ["firstname > 'JOSÉ'", false],
    // fields without a value
    ["lastname = ''", true],
    ["lastname != 'x'", true],
    ["lastname < 'x'", false],
    ["lastname >= ''", false],
    ["lastname contains ''", true],
    ["lastname not-contains 'x'", true],
    ["dateupdated = ''", true],
    ["dateupdated != '2024-01-01'", true],
    ["dateupdated < '2024-01-01'", false],
    ["dateupdated >= '2024-01-01'", false],
    ["dateupdated month-day '01-01'", false],
    ["daysfrom dateupdated >= 0", false],
    ["daysfrom dateupdated != 0", true],
    ["statuschangedate = ''", true],
    ["lastclicked = ''", true],
    ["lastopened = ''", false],
    ["totalclicked = ''", true],
    ["totalclicked = 0", false],
    ["totalclicked < 5", false],
    ["totalclicked != 5", true],
    ["missing = ''", true],
    ["missing = 'x'", false],
    ["missing != 0", true],
    ["missing < 1", false],
    ["missing < 'x'", false],
    // enumerations
    ["status = engaged", true],
    ["status = 'ENGAGED'", true],
    ["status != Active", true],
    ["source = WebForm AND consenttracking = Allow", true],
    ["consentip starts-with '127.'", true],
    // numbers
    ["totalsent = 0", true],
    ["totalsent != ''", true],
    ["totalopened > 11.5 AND totalopened <= 12", true],
    ["totalopened < 12", false],
    ["contactage = 30", true],
    // custom fields
    ["CITY = 'zürich'", true],
    ["city = 'ZÜRICH'", true],
    ["age = 25", true],
    ["age = 25.0", true],
    ["age > 3", true],
    ["age > '3'", false],
    ["zip = 8001", true],
    ["zip = '8001'", false],
    ["note = 0", false],
    ["note < 1", false],
    ["note != 0", true],
    ["birthday month-day '02-29'", true],
    ["birthday month-day '02-28'", false],
    ["birthday < '2000'", true],
    // an order with a date is that of dates, and a value that is none has no place on any side
    ["birthday < '2000-01-01'", true],
    ["birthday <= '1996-02-29T12:00Z'", true],
    ["birthday >= '1996-02-29T00:00:00Z'", true],
    ["birthday > '1996-02-29'", false],
    ["seen > '2024-01-31'", false],
    ["seen >= '2024-01-31' AND seen < '2024-01-31T10:00:01Z'", true],
    ["seen > '2024-01-31T09:59:59+01:00'", true],
    ["german > '2024-01-01'", false],
    ["german < '2024-01-01'", false],
    ["german >= '2022-07-25' OR german <= '2022-07-25'", false],
    ["german > '2022'", true],
    ["german = '25.07.2022' AND german != '2022-07-25' AND german contains '2022'", true],
    ["age > '2024-01-01'", false],
    ["firstname > '2024-01-01'", false],
    ["daysfrom birthday > 10000", true],
    ["note month-day '02-29'", false],
    ["daysfrom note > 0", false],
    ["constructor = ''", true],
    ["toString contains 'native'", false],
    // days are UTC days, and literals are spans of time
    ["dateadded = '2024-01-31'", true],
    ["dateadded != '2024-01-31'", false],
    ["dateadded < '2024-01-31'", false],
    ["dateadded <= '2024-01-31'", true],
    ["dateadded > '2024-01-31'", false],
    ["dateadded >= '2024-01-31'", true],
    ["dateadded > '2024-01-30'", true],
    ["dateadded = '2024-01-31T10:00Z'", true],
    ["dateadded = '2024-01-31T10:00:00Z'", true],
    ["dateadded = '2024-01-31T11:00:00+01:00'", true],
    ["dateadded = '2024-01-31T10:00:00.5'", true],
    ["dateadded > '2024-01-31T10:00:00Z'", false],
    ["dateadded > '2024-01-31T10:00:00.499Z'", true],
    ["lastopened = '2024-02-28'", false],
    ["lastopened = '2024-02-29'", true],
    ["lastopened > '2024-02-28'", true],
    ["lastopened < '2024-03-01'", true],
    ["lastopened month-day '02-29'", true],
    ["dateadded month-day '01-31'", true],
    ["daysfrom lastopened = 1", true],
    ["daysfrom dateadded = 30", true],
    ["daysfrom dateadded > 30", false],
    // structure
    ["status = Active OR status = Engaged AND age = 25", true],
    ["(status = Active OR status = Engaged) AND age = 24", false]
  ])("%s", (rule, expected) => {
    assert.strictEqual(matches(rule), expected)
  })

  it("counts whole days down, below zero for the future", () => {
    const added = (text: string) => ({ email: "a@b", dateAdded: at(text) })
    assert.isTrue(matches("daysfrom dateadded = 0 AND contactage = 0", added("2024-03-01T12:00:00Z")))
    assert.isTrue(matches("daysfrom dateadded = 0", added("2024-02-29T12:00:00.001Z")))
    assert.isTrue(matches("daysfrom dateadded = 1", added("2024-02-29T12:00:00Z")))
    assert.isTrue(matches("daysfrom dateadded = -1 AND contactage < 0", added("2024-03-01T12:00:01Z")))
  })

  it("prefers the custom field that is spelled exactly so", () => {
    const subject = { email: "a@b", customFields: { City: "first", city: "second" } }
    assert.isTrue(matches("city = 'second' AND City = 'first' AND CITY = 'first'", subject))
  })

  it("reads nothing that is inherited", () => {
    for (const name of ["__proto__", "constructor", "toString"]) {
      assert.isTrue(matches(`${name} = ''`, { email: "a@b", customFields: {} }))
    }
  })

  it("takes a contact as the service answers it", () => {
    const contact: Contact = Schema.decodeSync(Contact)({
      Email: "a@b.example",
      Status: "Engaged",
      Consent: { ConsentIP: "127.0.0.1", ConsentDate: "2024-01-31T10:00:00Z", ConsentTracking: "Allow" },
      Activity: { TotalSent: 3, LastIP: "::1", ErrorCode: null }
    })
    const subject: RuleSubject = contact
    const rules = [
      "consentip = '127.0.0.1' AND consentdate = '2024-01-31' AND consenttracking = Allow",
      "status = Engaged AND totalsent = 3 AND lastip = '::1' AND errorcode = ''"
    ]
    for (const rule of rules) assert.isTrue(matches(rule, subject), rule)
  })

  it("takes hostile texts literally", () => {
    for (const text of ["' OR '1'='1", "%", "_", "\\", "'; DROP TABLE contacts; --"]) {
      const rule = `lastname = '${text.replaceAll("'", "''")}'`
      assert.isTrue(matches(rule, { email: "a@b", lastName: text }))
      assert.isFalse(matches(rule, { email: "a@b", lastName: "x" }))
    }
  })
})

describe("semantics", () => {
  it("folds case and composition", () => {
    assert.strictEqual(foldText("J\u030c"), foldText("\u01f0"))
    assert.strictEqual(foldText("ÄÖÜ"), foldText("a\u0308o\u0308u\u0308"))
    assert.notStrictEqual(foldText("a"), foldText("ä"))
  })

  it("orders by code points", () => {
    assert.isBelow(compareText("\uffee", "😀"), 0)
    assert.isBelow(compareText("a", "ab"), 0)
    assert.strictEqual(compareText("ab", "ab"), 0)
  })

  it("reads plain decimal numbers only", () => {
    assert.deepStrictEqual(["12", "-1.5", "007", "1e3", "-0"].map(numberOf), [12, -1.5, 7, 1000, 0])
    for (const text of ["", " 1", "1 ", "0x10", "1,5", "1.", ".5", "+1", "NaN", "Infinity", "1e999", "１"]) {
      assert.isUndefined(numberOf(text), text)
    }
  })

  it("reads only dates that exist", () => {
    for (const text of [
      "2024-02-30",
      "2024-13-01",
      "2024-00-01",
      "2023-02-29",
      "2024-1-1",
      "2024-01-31 10:00",
      "2024-01-31T10",
      "2024-01-31T10:00:60Z",
      "2024-01-31T10:00:00+15:00",
      "0000-01-01T00:00+01:00",
      "9999-12-31T23:59-01:00",
      "2024-01-31T10:00:00.1234567890Z",
      " 2024-01-31"
    ])
      assert.isUndefined(parseDate(text), text)
    assert.deepStrictEqual(parseDate("2000-02-29"), { start: Date.UTC(2000, 1, 29), precision: "day" })
  })
})

describe("ruleMatcher", () => {
  it("reads a field of each contact once, for all conditions, and keeps nothing of the last one", () => {
    let reads = 0
    const named = (firstName: string, age: string): RuleSubject => ({
      email: "jo@example.com",
      get firstName() {
        reads++
        return firstName
      },
      get customFields() {
        reads++
        return { age }
      }
    })
    const rule = `(firstname = 'jo' OR firstname starts-with 'an' OR firstname > 'y') AND (age > 20 OR age = '007' OR AGE = '7') AND firstname != 'ann'`
    const matches = ruleMatcher(Result.getOrThrow(parseRule(rule)), now)
    for (const [firstName, age, expected] of [
      ["Jo", "21", true],
      ["Jo", "20", false],
      ["Anton", "007", true],
      ["Ann", "7", false],
      ["Zoe", "7", true],
      ["Bob", "7", false]
    ] as const) {
      reads = 0
      const subject = named(firstName, age)
      assert.strictEqual(matches(subject), expected, firstName)
      // Once for each name of a custom field.
      assert.isAtMost(reads, 4)
    }
  })
})

describe("ruleJudge", () => {
  it.each([
    // one condition
    ["german > '2024-01-01'", "german"],
    ["german month-day '07-25'", "german"],
    ["daysfrom german < 30", "german"],
    ["daysfrom german = 30", false],
    ["daysfrom german != 30", true],
    ["note < 1", "note"],
    ["note = 1", false],
    ["age < '2024-01-01'", "age"],
    ["age < 30", true],
    ["german > 'a'", false],
    // a field without a value has none to compare
    ["missing > 1", false],
    ["lastname > '2024-01-01'", false],
    ["missing month-day '07-25'", false],
    // the rest of the rule decides
    ["german > '2024-01-01' AND status = Active", false],
    ["german > '2024-01-01' AND status = Engaged", "german"],
    ["status = Engaged AND german > '2024-01-01' AND note < 1", "german"],
    ["german > '2024-01-01' OR status = Engaged", true],
    ["german > '2024-01-01' OR status = Active", "german"],
    ["(german > '2024-01-01' AND status = Active) OR note < 1", "note"],
    ["(german > '2024-01-01' OR note < 1) AND (status = Active OR age = 25)", "german"],
    ["(german > '2024-01-01' AND note < 1) OR age = 25", true]
  ])("of %s", (text, expected) => {
    const verdict = ruleJudge(Result.getOrThrow(parseRule(text)), now)(jo)
    assert.strictEqual(typeof verdict === "object" ? verdict.field : verdict, expected)
  })

  it("tells the value that has no place, of each contact its own", () => {
    const counting = makeRuleCount(Result.getOrThrow(parseRule("Since > '2024-01-01' OR score > 10")), now)
    const contacts = [
      { Since: "2024-05-01" },
      { since: "", score: "1,5" },
      { since: "25.07.2022" },
      { since: "x", score: "11" }
    ]
    for (const customFields of contacts) counting.add({ email: "a@b", customFields })
    const counted = counting.result()
    assert.deepStrictEqual(counted, {
      count: 2,
      unplaced: { contacts: 2, field: "score", kind: "number", example: "1,5" }
    })
    assert.strictEqual(
      unplacedText({ contacts: 2000, field: "since", kind: "date", example: "25.07.2022" }),
      'The rule cannot compare a value of 2,000 contacts, which it leaves out: "since" is "25.07.2022", which is not a date such as 2024-01-31.'
    )
  })
})
