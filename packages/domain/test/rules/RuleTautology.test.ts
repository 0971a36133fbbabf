import { assert, describe, it } from "@effect/vitest"
import { Result } from "effect"
import { parseRule } from "../../src/rules/RuleParser.ts"
import { selectsEveryContact } from "../../src/rules/RuleTautology.ts"

const everyone = (text: string) => selectsEveryContact(Result.getOrThrow(parseRule(text)))

describe("selectsEveryContact", () => {
  it.each([
    "All",
    "email != ''",
    "email > ''",
    "email >= ''",
    "email != 'x'",
    "email contains ''",
    "email contains '@'",
    "email starts-with ''",
    "firstname ends-with ''",
    "x contains ''",
    "x = 1 OR x != 1",
    "x != 'A' OR X = 'a'",
    "x = 1 OR y = 2 OR x != 1",
    "(x = 1 OR y = 2) OR (x != 1 OR z = 3)",
    "firstname contains 'a' OR firstname not-contains 'A'",
    "status != Active OR status != 'Engaged'",
    "status = Active OR status != 'active'",
    "totalsent = '' OR totalsent != ''",
    "dateadded = '2024-01-01' OR dateadded != '2024-01-01'",
    "x != 1 OR x != 2",
    "email != '' OR x = 1",
    "email != '' AND (x = 1 OR x != 1)",
    "totalsent >= 0",
    "totalclicked > -1",
    "totalfailed != 1.5",
    "status != ''",
    "source != ''",
    "dateadded != ''",
    "totalsent < 1 OR totalsent >= 1",
    "dateadded <= '2024-01-01' OR dateadded > '2024-01-01'",
    "email >= 'm' OR email <= 'M'"
  ])("says yes to %s", (text) => {
    assert.isTrue(everyone(text))
  })

  it.each([
    "email = ''",
    "email != 'a@b'",
    "email contains 'a@'",
    "email not-contains ''",
    "firstname != ''",
    "firstname >= ''",
    "x = 1",
    "x = 1 OR y != 1",
    "x = 1 AND x != 1",
    "x = 1 OR x != '1'",
    "x < 1 OR x >= 1",
    "email < '2024-01-01' OR email >= '2024-01-01'",
    "lastsent < '2024-01-01' OR lastsent >= '2024-01-01'",
    "errorcode >= 0",
    "contactage >= 0",
    "totalsent >= 1",
    "totalsent > 0",
    "totalsent != 0",
    "totalsent = 0 OR totalsent > 1",
    "lastname != ''",
    "(x = 1 AND y = 2) OR x != 1",
    "(x = 1 AND y = 2) OR (x != 1 AND y != 2)",
    "x != 1 OR x != 1",
    "status != Active",
    "email != '' AND x = 1",
    "dateadded != '2024-01-01' OR dateadded != '2024-01-01T10:00:00Z'",
    // Nobody is left out, but only by what the terms are together.
    "(x = 1 AND y = 2) OR x != 1 OR y != 2",
    "(x = 1 AND y = 2) OR (x != 1 AND y = 2) OR y != 2",
    "(x = 1 AND y = 1 AND z = 1) OR x != 1 OR (y != 1 OR z != 1)",
    "((x = 1 OR x != 1) AND y = 1) OR y != 1"
  ])("says no to %s", (text) => {
    assert.isFalse(everyone(text))
  })
})
