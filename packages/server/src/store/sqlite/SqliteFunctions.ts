/**
 * What rules ask of SQLite and SQLite does not know: folding beyond ASCII, and what the text of a custom field means.
 * Each function is the domain's own, so that a rule selects by SQL whom `matchesRule` selects.
 */
import { type CustomFields, JsonParser, Rule, RuleDate, RuleSubject } from "@roster/domain"
import { Predicate } from "effect"
import type { DatabaseSync, FunctionOptions, SQLInputValue, SQLOutputValue } from "node:sqlite"

// Deterministic lets SQLite compute a call on constants once; direct only keeps the schema of a foreign file from calling.
const options: FunctionOptions = { deterministic: true, directOnly: true }

/**
 * Registers the functions that `ruleSql` calls. They belong to the connection, not to the file, so every connection that
 * may run a rule needs them: the one that writes and each that reads. Repeating it is harmless.
 */
export const registerFunctions = (database: DatabaseSync): void => {
  const customFields = reader()
  // The folded text, empty for an absent one.
  database.function("roster_fold", options, (text) => (Predicate.isString(text) ? Rule.foldText(text) : ""))
  // The value of a custom field out of the column that holds them all.
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

/** Reads custom fields and keeps the last row's: a rule with several of them asks for the same row again and again. */
const reader = () => {
  let text = "{}"
  let customFields: CustomFields = {}
  return (fields: string, name: string): string | null => {
    if (fields !== text) {
      // The column is only ever written from `CustomFields`; what is not JSON fails the query.
      customFields = JsonParser.parse(fields) as CustomFields
      text = fields
    }
    const value = RuleSubject.customValue({ email: "", customFields }, name)
    return Predicate.isString(value) ? value : null
  }
}
