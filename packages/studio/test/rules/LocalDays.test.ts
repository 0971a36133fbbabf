/** A day that is chosen in the rule box is a day of the reader's zone, whatever zone that is. */
import { afterEach, assert, describe, it } from "@effect/vitest"
import { EmailAddress, parseRule, ruleMatcher, RuleText } from "@roster/domain"
import { DateTime, Result } from "effect"
import { localDays } from "../../src/rules/LocalDays.ts"

const zone = process.env["TZ"]
afterEach(() => {
  if (zone === undefined) delete process.env["TZ"]
  else process.env["TZ"] = zone
})

const compared = {
  "<": (at: number, from: number) => at < from,
  ">=": (at: number, from: number) => at >= from,
  ">": (at: number, _: number, until: number) => at >= until,
  "<=": (at: number, _: number, until: number) => at < until
} as const

describe("a day that is chosen", () => {
  // The second is a day of 23 hours in Berlin, and the third one of 25 in New York.
  it.each([
    ["UTC", "2026-11-29T12:00:00Z"],
    ["Europe/Berlin", "2026-03-29T12:00:00Z"],
    ["America/New_York", "2026-11-01T23:30:00Z"],
    ["Pacific/Kiritimati", "2026-12-31T23:30:00Z"]
  ])("is one of the reader in %s", (zone, time) => {
    process.env["TZ"] = zone
    const now = new Date(time)
    for (const [operator, holds] of Object.entries(compared)) {
      const days = localDays(`status = Active AND DateAdded ${operator} `, now)
      assert.strictEqual(days.length, 5)
      for (const [place, back] of [0, 1, 7].entries()) {
        const from = new Date(now.getFullYear(), now.getMonth(), now.getDate() - back).getTime()
        const until = new Date(now.getFullYear(), now.getMonth(), now.getDate() - back + 1).getTime()
        const rule = parseRule(RuleText.make(`dateadded ${operator} ${days[place]?.text}`))
        if (Result.isFailure(rule)) return assert.fail(rule.failure.message)
        const matches = ruleMatcher(rule.success, DateTime.makeUnsafe(now))
        for (const at of [from - 1, from, until - 1, until]) {
          const contact = { email: EmailAddress.make("a@example.com"), dateAdded: DateTime.makeUnsafe(at) }
          assert.strictEqual(matches(contact), holds(at, from, until), `${operator} ${back} ${at - from}`)
        }
      }
    }
  })

  it("is offered where a date of the record is compared with a day, and nowhere else", () => {
    for (const text of ["", "dateadded", "dateadded = ", "city > ", "totalsent > ", "daysfrom dateadded < 7 AND "]) {
      assert.isEmpty(localDays(text, new Date()), text)
    }
  })
})
