/** SQL functions that call the domain, so that a rule selects the same contacts in SQL as with `matchesRule`. */
import { type CustomFields, customValue, JsonParser, Rule, RuleDate } from "@roster/domain"
import { Predicate } from "effect"
import type { DatabaseSync, FunctionOptions, SQLInputValue, SQLOutputValue } from "node:sqlite"

// Deterministic calls on constants run once; direct only forbids calls from the schema of a foreign file.
const options: FunctionOptions = { deterministic: true, directOnly: true }

/** Registers the functions of `ruleSql`, on each connection that may run a rule. */
export const registerFunctions = (database: DatabaseSync): void => {
  const customFields = reader()
  // Empty for an absent text.
  database.function("roster_fold", options, (text) => (Predicate.isString(text) ? Rule.foldText(text) : ""))
  database.function("roster_custom_field", options, (fields, name) =>
    Predicate.isString(fields) && Predicate.isString(name) ? customFields(fields, name) : null
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

/** Parses custom fields and caches the last row, which a rule with several of them reads repeatedly. */
const reader = () => {
  let text = "{}"
  let customFields: CustomFields = {}
  return (fields: string, name: string): string | null => {
    if (fields !== text) {
      // The column is only written from `CustomFields`. A text that is not JSON fails the query.
      customFields = JsonParser.parse(fields) as CustomFields
      text = fields
    }
    const value = customValue({ email: "", customFields }, name)
    return Predicate.isString(value) ? value : null
  }
}
