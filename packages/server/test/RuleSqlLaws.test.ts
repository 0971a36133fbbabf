import { matchesRule } from "@roster/domain"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect } from "effect"
import { insert, now, openStore, row, rule, selected, subjectOf } from "./RuleSqlCases.ts"

const runs = { arbitrary: { runs: 500 }, timeout: 120_000 }

describe("rules as SQL", () => {
  const cases = {
    rows: Arbitrary.array(row, { minLength: 1, maxLength: 12 }),
    rules: Arbitrary.array(rule, { minLength: 1, maxLength: 16 })
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
        }
      }),
    runs
  )
})
