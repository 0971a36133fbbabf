import { matchesRule } from "@roster/domain"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { insert, now, openStore, row, rule, scanned, selected, subjectOf } from "./RuleSqlCases.ts"

const long = process.env["ROSTER_LONG_RUN"] !== undefined
// Ten rules at least in each run.
const runs = { arbitrary: { runs: long ? 3000 : 100 }, timeout: long ? 3_600_000 : 120_000 }

describe("rules as SQL", () => {
  const cases = {
    rows: Arbitrary.array(row, { minLength: 1, maxLength: 12 }),
    rules: Arbitrary.array(rule, { minLength: 10, maxLength: 16 })
  }

  it.effect.prop(
    "select whom the evaluator selects",
    cases,
    ({ rows, rules }) =>
      Effect.gen(function* () {
        const sql = yield* openStore
        yield* insert(sql, rows)
        const subjects = rows.map(subjectOf)
        for (const rule of rules) {
          const expected = subjects.flatMap((subject, place) => (matchesRule(rule, subject, now) ? [place] : []))
          assert.deepStrictEqual(yield* selected(sql, rule, now), expected, JSON.stringify(rule))
          assert.deepStrictEqual(yield* scanned(sql, rule, now), expected, JSON.stringify(rule))
        }
      }),
    runs
  )
})
