/**
 * Filters on the table `contacts`, and rules as SQL conditions for PostgreSQL, with the same result as `matchesRule`. Names
 * and operators in the SQL come from this file; text from a rule is always a bound parameter.
 */
import {
  canonicalEmail,
  type Contact,
  ContactFields,
  type ContactFilter,
  type ContactRule,
  type InvalidRule,
  parseRule,
  Rule,
  RuleDate,
  RuleFields,
  ruleMatcher,
  ruleSource
} from "@roster/domain"
import { DateTime, Effect } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { byEngine, dialect as sqlDialect } from "../store/SqlDialect.ts"
import { storeClock } from "../store/StoreClock.ts"
import { postgresRules, type RuleSqlDialect } from "./RuleSqlDialect.ts"

type Fragment = Statement.Fragment

/** Parses the rule of a filter again, because a rule of another service's dialect may have been accepted unchecked. */
export const readRule = (rule: ContactRule): Effect.Effect<Rule.Rule, InvalidRule> =>
  Effect.fromResult(parseRule(ruleSource(rule)))

/** The contacts of an account that a filter selects. */
interface Selection {
  /** The condition of SQL. */
  readonly where: Fragment
  /** Whether a contact that SQL selected is in the selection. */
  readonly matches: (contact: Contact) => boolean
}

/**
 * What a filter selects now. A rule is left to `matches`, which reads a contact once for all conditions, where SQL
 * would read it for each of them.
 */
export const selection = Effect.fnUntraced(function* (account: string, filter: ContactFilter | undefined) {
  const sql = yield* SqlClient.SqlClient
  const { isOneOf } = sqlDialect(sql)
  const ofAccount = sql`account = ${account}`
  const selected = (condition: Fragment): Selection => ({
    where: sql`${ofAccount} AND ${condition}`,
    matches: () => true
  })
  if (filter === undefined) return { where: ofAccount, matches: () => true } satisfies Selection
  if (filter._tag === "ByEmails") return selected(isOneOf("identity", filter.emails.map(canonicalEmail)))
  const rule = yield* readRule(filter.rule)
  const now = yield* storeClock(sql).now
  return { where: ofAccount, matches: ruleMatcher(rule, now) }
})

/** Whether the engine has functions for rules. SQLite has none, and runs a statement on the thread that asks. */
export const hasRulesInSql = (sql: SqlClient.SqlClient): boolean =>
  byEngine(sql, { sqlite: () => false, postgres: () => true })

/** The condition of a rule at the time `now`, never NULL. */
export const ruleSql = (
  sql: Statement.Constructor,
  rule: Rule.Rule,
  now: DateTime.Utc,
  by: RuleSqlDialect = postgresRules(sql)
): Fragment => (rule._tag === "All" ? sql`1 = 1` : compiler(sql, by, DateTime.toEpochMillis(now))(rule).sql)

// Only `contactage` has no column of its own.
const columns = new Map(ContactFields.allFields.map(({ column, wire }) => [wire.toLowerCase(), column])).set(
  "contactage",
  "date_added"
)

/** The column that a field is read from. */
export const columnOf = ({ _tag, name }: Rule.Field): string =>
  _tag === "CustomField" ? "custom_fields" : (columns.get(name) ?? name)

/** A condition and the depth of its expression: databases refuse a deep one and count each AND of a chain. */
interface Measured {
  readonly sql: Fragment
  readonly depth: number
}

/** The value of a field in SQL: a text, a number or milliseconds since 1970; NULL if the contact has none. */
interface Operand {
  readonly type: "text" | "number" | "instant"
  readonly isColumn?: boolean
  readonly sql: Fragment
}

const millisPerDay = 86_400_000

// Makes every date positive, since SQL rounds integer division towards zero; the sum is still a safe integer.
const dayOffset = 100_000_000

// Spelled in SQL as in a rule.
const comparisons: ReadonlySet<string> = new Set(["=", "<", "<=", ">", ">="])

const compiler = (sql: Statement.Constructor, by: RuleSqlDialect, now: number) => {
  const always = sql`1 = 1`
  const never = sql`1 = 0`

  const condition = (rule: Rule.Condition): Measured => {
    switch (rule._tag) {
      case "And":
        return join(rule.terms, always, (left, right) => sql`(${left} AND ${right})`)
      case "Or":
        return join(rule.terms, never, (left, right) => sql`(${left} OR ${right})`)
      case "Compare":
        return leaf(compare(rule))
      case "MonthDay":
        return leaf(monthDay(rule))
      case "DaysFrom":
        return leaf(daysFrom(rule))
    }
  }

  // Joins the two shallowest terms first, which gives the least depth: a thousand terms are ten deep.
  const join = (
    terms: ReadonlyArray<Rule.Condition>,
    none: Fragment,
    both: (left: Fragment, right: Fragment) => Fragment
  ): Measured => {
    const queue = terms.map(condition).sort((left, right) => left.depth - right.depth)
    for (;;) {
      const left = queue.shift()
      const right = queue.shift()
      if (left === undefined) return leaf(none)
      if (right === undefined) return left
      const joined = { sql: both(left.sql, right.sql), depth: right.depth + 1 }
      const place = queue.findIndex(({ depth }) => depth > joined.depth)
      queue.splice(place === -1 ? queue.length : place, 0, joined)
    }
  }

  const operand = (field: Rule.Field): Operand => {
    if (field._tag === "CustomField") return { type: "text", sql: by.customField(field.name) }
    const column = columnOf(field)
    if (field.name === "contactage") return { type: "number", sql: daysSince(instantOf(column)) }
    switch (RuleFields.recordFieldInfo(field.name).kind) {
      case "text":
      case "enumeration":
        return { type: "text", sql: sql`${sql(column)}`, isColumn: true }
      case "number":
        return { type: "number", sql: sql`${sql(column)}` }
      case "date":
        return { type: "instant", sql: instantOf(column) }
    }
  }

  const instantOf = (column: string): Fragment => sql`${sql(column)} * 1000`

  const daysSince = (instant: Fragment): Fragment =>
    sql`((${bigint(now + dayOffset * millisPerDay)} - ${instant}) / ${bigint(millisPerDay)} - ${bigint(dayOffset)})`

  // PostgreSQL gives a parameter the type of the other operand: wrong for a count that is compared with 1.5.
  const bigint = (value: number): Fragment => sql`CAST(${value} AS BIGINT)`
  const double = (value: number): Fragment => sql`CAST(${value} AS DOUBLE PRECISION)`

  const compare = ({ field, operator, value }: Rule.Compare): Fragment => {
    const actual = operand(field)
    switch (value._tag) {
      case "Text":
        return compareText(textOf(actual), operator, Rule.foldText(value.text))
      case "Word":
        return compareText(textOf(actual), operator, Rule.foldText(value.word))
      case "Number":
        return compareNumber(numberIn(actual), operator, value.number)
      case "Date":
        return compareSpan(instantIn(actual), operator, RuleDate.dateRange(value.date))
    }
  }

  const monthDay = ({ field, monthDay }: Rule.MonthDay): Fragment => {
    const instant = instantIn(operand(field))
    return instant === undefined ? never : sql`(${by.monthDay(instant)} = ${monthDay}) IS TRUE`
  }

  const daysFrom = ({ days, field, operator }: Rule.DaysFrom): Fragment => {
    const instant = instantIn(operand(field))
    return compareNumber(instant === undefined ? undefined : daysSince(instant), operator, days)
  }

  const textOf = (actual: Operand): Fragment => {
    switch (actual.type) {
      case "text":
        return by.fold(actual.sql, actual.isColumn === true)
      case "number":
        return sql`coalesce(CAST(${actual.sql} AS TEXT), '')`
      case "instant":
        return sql`coalesce(${by.isoDate(actual.sql)}, '')`
    }
  }

  const numberIn = ({ sql, type }: Operand): Fragment | undefined =>
    type === "text" ? by.number(sql) : type === "number" ? sql : undefined

  const instantIn = ({ sql, type }: Operand): Fragment | undefined =>
    type === "text" ? by.instant(sql) : type === "instant" ? sql : undefined

  const compareText = (actual: Fragment, operator: Rule.Operator, literal: string): Fragment => {
    switch (operator) {
      case "starts-with":
        return sql`(${by.startsWith(actual, literal)}) IS TRUE`
      case "ends-with":
        return sql`(${by.endsWith(actual, literal)}) IS TRUE`
      case "contains":
        return sql`(${by.contains(actual, literal)}) IS TRUE`
      case "not-contains":
        return sql`(${by.contains(actual, literal)}) IS NOT TRUE`
      case "=":
      case "!=":
        return inOrder(actual, operator, sql`${literal}`)
      case "<":
      case "<=":
      case ">":
      case ">=":
        // The empty text means no value, which is neither before nor after anything.
        return inOrder(sql`nullif(${actual}, '')`, operator, sql`${literal}`)
    }
  }

  const compareNumber = (actual: Fragment | undefined, operator: Rule.Operator, literal: number): Fragment =>
    actual === undefined ? absent(operator) : inOrder(actual, operator, double(literal))

  const compareSpan = (
    actual: Fragment | undefined,
    operator: Rule.Operator,
    { from, until }: RuleDate.DateRange
  ): Fragment => {
    if (actual === undefined) return absent(operator)
    switch (operator) {
      case "=":
        return sql`(${actual} BETWEEN ${bigint(from)} AND ${bigint(until - 1)}) IS TRUE`
      case "!=":
        return sql`(${actual} BETWEEN ${bigint(from)} AND ${bigint(until - 1)}) IS NOT TRUE`
      case "<":
      case ">=":
        return inOrder(actual, operator, bigint(from))
      case "<=":
        return inOrder(actual, "<", bigint(until))
      case ">":
        return inOrder(actual, ">=", bigint(until))
      case "starts-with":
      case "ends-with":
      case "contains":
      case "not-contains":
        return never
    }
  }

  // For a field that can never have a value of the literal's type.
  const absent = (operator: Rule.Operator): Fragment => (operator === "!=" ? always : never)

  // NULL is neither equal, nor before, nor after: only TRUE counts, and `!=` is the opposite of `=`.
  const inOrder = (left: Fragment, operator: Rule.Operator, right: Fragment): Fragment => {
    if (operator === "!=") return sql`(${left} = ${right}) IS NOT TRUE`
    return comparisons.has(operator) ? sql`(${left} ${sql.literal(operator)} ${right}) IS TRUE` : never
  }

  return condition
}

const leaf = (sql: Fragment): Measured => ({ sql, depth: 0 })
