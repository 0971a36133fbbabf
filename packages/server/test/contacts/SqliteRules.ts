/**
 * Rules as SQL on SQLite, with which the conditions of `ruleSql` and the evaluator are compared: the parts of a condition are
 * those of the domain, and how they are put together is SQL.
 */
import { JsonParser, Rule, RuleDate } from "@roster/domain"
import { Predicate } from "effect"
import type { Statement } from "effect/sql"
import type { DatabaseSync, FunctionOptions, SQLInputValue, SQLOutputValue } from "node:sqlite"
import type { RuleSqlDialect } from "../../src/contacts/RuleSqlDialect.ts"

const options: FunctionOptions = { deterministic: true }

/** Registers the functions of `sqliteRules`. */
export const registerRuleFunctions = (database: DatabaseSync): void => {
  // Empty for an absent text.
  database.function("roster_fold", options, (text) => (Predicate.isString(text) ? Rule.foldText(text) : ""))
  database.function("roster_custom_field", options, (fields, name) =>
    Predicate.isString(fields) && Predicate.isString(name) ? customField(fields, name) : null
  )
  database.function("roster_number", options, ofText(Rule.numberOf))
  // In milliseconds since 1970; a bigint is an INTEGER in SQL, where a number would be a REAL.
  database.function(
    "roster_instant",
    options,
    ofText((text) => bigintOf(RuleDate.parseDate(text)?.start))
  )
  database.function("roster_month_day", options, ofInstant(RuleDate.monthDayOf))
  database.function(
    "roster_iso_date",
    options,
    ofInstant((instant) => new Date(instant).toISOString())
  )
}

const ofText =
  (f: (text: string) => SQLInputValue | undefined) =>
  (text: SQLOutputValue): SQLInputValue =>
    Predicate.isString(text) ? (f(text) ?? null) : null

const ofInstant =
  (f: (instant: number) => string) =>
  (instant: SQLOutputValue): SQLInputValue =>
    Predicate.isNumber(instant) ? f(instant) : null

const bigintOf = (number: number | undefined): bigint | undefined => (number === undefined ? undefined : BigInt(number))

/** A name in the same case wins, then the first one in another case. */
const customField = (text: string, name: string): string | null => {
  const fields = Object(JsonParser.parse(text))
  const folded = Rule.foldText(name)
  const key = Object.hasOwn(fields, name) ? name : Object.keys(fields).find((key) => Rule.foldText(key) === folded)
  return key === undefined ? null : String(fields[key])
}

export const sqliteRules = (sql: Statement.Constructor): RuleSqlDialect => ({
  fold: (text) => sql`roster_fold(${text})`,
  customField: (name) => sql`roster_custom_field(${sql("custom_fields")}, ${name})`,
  number: (text) => sql`roster_number(${text})`,
  instant: (text) => sql`roster_instant(${text})`,
  monthDay: (instant) => sql`roster_month_day(${instant})`,
  isoDate: (instant) => sql`roster_iso_date(${instant})`,
  startsWith: (text, literal) => sql`instr(${text}, ${literal}) = 1`,
  // In bytes, because SQLite's character functions stop at a NUL, and `substr` from 0 is the whole text.
  endsWith: (text, literal) =>
    literal === ""
      ? sql`1 = 1`
      : sql`substr(CAST(${text} AS BLOB), ${-Buffer.byteLength(literal)}) = CAST(${literal} AS BLOB)`,
  contains: (text, literal) => sql`instr(${text}, ${literal}) > 0`
})
