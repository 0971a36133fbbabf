import { assert, describe, it } from "@effect/vitest"
import { matchesRule, maximumRuleConditions, maximumRuleDepth, parseRule, Rule } from "@roster/domain"
import { Effect, Exit } from "effect"
import { type SqlClient, Statement } from "effect/sql"
import { ruleSql } from "../../src/contacts/RuleSql.ts"
import { insert, nasty, now, openStore, type Row, scanned, selected, someone, subjectOf } from "./RuleSqlCases.ts"
import { sqliteRules } from "./SqliteRules.ts"

const quote = (text: string) => `'${text.replaceAll("'", "''")}'`

/** Runs a rule that is written out, and asks the evaluator as well. */
const select = Effect.fnUntraced(function* (sql: SqlClient.SqlClient, rows: ReadonlyArray<Row>, text: string) {
  const rule = yield* Effect.fromResult(parseRule(text))
  const places = yield* selected(sql, rule, now)
  const expected = rows.flatMap((row, place) => (matchesRule(rule, subjectOf(row), now) ? [place] : []))
  assert.deepStrictEqual(places, expected, text)
  assert.deepStrictEqual(yield* scanned(sql, rule, now), expected, text)
  return places
})

describe("ruleSql", () => {
  it.effect("selects by what is stored", () =>
    Effect.gen(function* () {
      const rows: ReadonlyArray<Row> = [
        {
          ...someone,
          email: "Jo@Example.com",
          status: "Engaged",
          first_name: "JOSÉ",
          custom_fields: { City: "Zürich", age: "25", note: "n/a", born: "1996-02-29", CITY: "Bern" },
          date_added: Date.parse("2024-05-02T12:00:00Z") / 1000,
          total_opened: 12,
          last_opened: Date.parse("2024-02-29T23:59:59Z") / 1000
        },
        someone
      ]
      const sql = yield* openStore
      yield* insert(sql, rows)
      const cases: ReadonlyArray<readonly [rule: string, places: ReadonlyArray<number>]> = [
        ["All", [0, 1]],
        ["email = 'jo@example.COM'", [0, 1]],
        ["firstname = 'jose\u0301'", [0]],
        ["firstname != 'josé'", [1]],
        ["firstname = ''", [1]],
        ["firstname < 'k'", [0]],
        ["firstname >= ''", [0]],
        ["firstname starts-with '' AND firstname ends-with '' AND firstname contains ''", [0, 1]],
        ["firstname ends-with 'É' AND firstname starts-with 'jo'", [0]],
        ["firstname not-contains 'os'", [1]],
        ["status = engaged", [0]],
        ["city = 'zürich'", [0]],
        ["CITY = 'bern'", [0]],
        ["age = 25.0", [0]],
        ["age > '3'", []],
        ["age > 3", [0]],
        ["note != 0", [0, 1]],
        ["born month-day '02-29'", [0]],
        ["daysfrom born > 10000", [0]],
        ["daysfrom born != 1", [0, 1]],
        ["totalopened > 11.5", [0]],
        ["totalopened = ''", []],
        ["errorcode = ''", [0, 1]],
        ["contactage = 30", [0]],
        ["daysfrom dateadded = 30", [0]],
        ["lastopened = '2024-02-29'", [0]],
        ["lastopened > '2024-02-29'", []],
        ["lastopened != '2024-02-29'", [1]],
        ["lastopened month-day '02-29'", [0]],
        ["lastopened = ''", [1]],
        ["dateadded = '2024-05-02T12:00:00.001Z'", []],
        ["(status = Engaged OR status = Active) AND age != 25", [1]]
      ]
      for (const [rule, places] of cases) {
        assert.deepStrictEqual(yield* select(sql, rows, rule), [...places], rule)
      }
    })
  )

  it.effect("finds any text literally at any position", () =>
    Effect.gen(function* () {
      const rows = nasty.map((text): Row => ({
        ...someone,
        email: `${text}@example.com`,
        first_name: text,
        last_name: `<${text}>`,
        custom_fields: { note: text }
      }))
      const sql = yield* openStore
      yield* insert(sql, rows)
      for (const [place, text] of nasty.entries()) {
        for (const field of ["firstname", "note"]) {
          assert.include(yield* select(sql, rows, `${field} = ${quote(text)}`), place)
          yield* select(sql, rows, `${field} <= ${quote(text)}`)
        }
        assert.include(yield* select(sql, rows, `lastname contains ${quote(text)}`), place)
        assert.include(yield* select(sql, rows, `lastname starts-with ${quote(`<${text}`)}`), place)
        assert.include(yield* select(sql, rows, `lastname ends-with ${quote(`${text}>`)}`), place)
        assert.notInclude(yield* select(sql, rows, `lastname not-contains ${quote(text)}`), place)
      }
      assert.deepStrictEqual(yield* sql`SELECT count(*) FROM contacts`.values, [[nasty.length]])
    })
  )

  it.effect("binds whatever was written in the rule, and says the same for all of it", () =>
    Effect.gen(function* () {
      const sql = yield* openStore
      const compiled = (text: string) =>
        Statement.makeCompilerSqlite().compile(
          ruleSql(
            sql,
            Rule.and([
              Rule.compare(Rule.customField(text), "=", Rule.text(text)),
              Rule.compare(Rule.recordField("email"), "contains", Rule.text(text)),
              Rule.compare(Rule.recordField("status"), "!=", Rule.word(text)),
              Rule.monthDay(Rule.recordField("lastsent"), text)
            ]),
            now,
            sqliteRules(sql)
          ),
          false
        )
      const [expected] = compiled("x")
      for (const text of nasty) {
        const [statement, parameters] = compiled(text)
        assert.strictEqual(statement, expected)
        assert.include(parameters, text)
      }
    })
  )

  it.effect("is true or false for every contact, also where nothing is known", () =>
    Effect.gen(function* () {
      const sql = yield* openStore
      yield* insert(sql, [someone])
      for (const operator of [...Rule.comparisons, ...Rule.textOperators]) {
        for (const field of [Rule.recordField("firstname"), Rule.recordField("errorcode"), Rule.customField("none")]) {
          for (const value of [Rule.text("x"), Rule.number(1), Rule.date({ start: 0, precision: "day" })]) {
            const condition = ruleSql(sql, Rule.compare(field, operator, value), now, sqliteRules(sql))
            const rows = yield* sql`SELECT ${condition}, NOT ${condition} FROM contacts`.values
            assert.sameMembers([...(rows[0] ?? [])], [0, 1])
          }
        }
      }
    })
  )

  it.effect("goes as far as the parser does", () =>
    Effect.gen(function* () {
      const rows: ReadonlyArray<Row> = [
        { ...someone, custom_fields: { a: "0", b: "2" } },
        { ...someone, custom_fields: { a: String(maximumRuleConditions - 1), b: "2" }, first_name: "x" }
      ]
      const sql = yield* openStore
      yield* insert(sql, rows)
      const wide = (operator: string, word: string) =>
        Array.from({ length: maximumRuleConditions }, (_, i) => `a ${operator} ${i}`).join(word)
      assert.deepStrictEqual(yield* select(sql, rows, wide("=", " OR ")), [0, 1])
      assert.deepStrictEqual(yield* select(sql, rows, wide(">=", " AND ")), [1])
      // As deep as 1000 conditions go: each level holds a chain of ORs around a chain of ANDs, on either side.
      const nested = (around: (inner: string) => string) =>
        Array.from({ length: maximumRuleDepth }).reduce<string>(around, "firstname = 'x'")
      const before = nested((inner) => `${"a=-1 OR ".repeat(4)}${"b=2 AND ".repeat(4)}(${inner})`)
      const after = nested((inner) => `(${inner})${" AND b=2".repeat(4)}${" OR a=-1".repeat(4)}`)
      assert.deepStrictEqual(yield* select(sql, rows, before), [1])
      assert.deepStrictEqual(yield* select(sql, rows, after), [1])
    })
  )

  it.effect("knows an empty list of terms", () =>
    Effect.gen(function* () {
      const sql = yield* openStore
      yield* insert(sql, [someone])
      assert.deepStrictEqual(yield* selected(sql, { _tag: "And", terms: [] }, now), [0])
      assert.deepStrictEqual(yield* selected(sql, { _tag: "Or", terms: [] }, now), [])
    })
  )

  it.effect("fails where custom fields are damaged, rather than take them for none", () =>
    Effect.gen(function* () {
      const sql = yield* openStore
      yield* insert(sql, [someone])
      yield* sql`UPDATE contacts SET custom_fields = '{"a'`
      const rule = Rule.compare(Rule.customField("a"), "=", Rule.text(""))
      assert.strictEqual((yield* Effect.flip(selected(sql, rule, now)))._tag, "SqlError")
      assert.isTrue(Exit.hasDies(yield* Effect.exit(scanned(sql, rule, now))))
    })
  )
})
