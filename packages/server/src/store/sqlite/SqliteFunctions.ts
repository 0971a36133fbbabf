/** SQL functions that call the domain: a rule selects the same contacts as `matchesRule`, and contacts are merged. */
import { ContactSize, type CustomFields, customValue, JsonParser, Rule, RuleDate } from "@roster/domain"
import { Predicate } from "effect"
import type { DatabaseSync, FunctionOptions, SQLInputValue, SQLOutputValue } from "node:sqlite"

// Deterministic calls on constants run once; direct only forbids calls from the schema of a foreign file.
const options: FunctionOptions = { deterministic: true, directOnly: true }

/** Registers the functions of `ruleSql` and `SqlDialect`, on each connection that may run a rule or write contacts. */
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
  const merge = merger()
  database.function("roster_merge_fields", options, (below, above) =>
    Predicate.isString(below) && Predicate.isString(above) ? merge(below, above).text : null
  )
  // Of a contact its texts as stored, and those that are given; null for one that is not.
  database.function("roster_may_become", { ...options, varargs: true }, (...values) => {
    const [email, firstName, lastName, ip, fields = "{}", ...given] = values.map(textOf)
    const [newFirstName = firstName, newLastName = lastName, newIp = ip, newFields = "{}"] = given
    const { below, merged } = merge(fields, newFields)
    const before = { email, firstName, lastName, consent: { ip }, customFields: below }
    const after = {
      email,
      firstName: newFirstName,
      lastName: newLastName,
      consent: { ip: newIp },
      customFields: merged
    }
    return ContactSize.mayBecome(before, after) ? 1 : 0
  })
}

const textOf = (value: SQLOutputValue): string | undefined => (Predicate.isString(value) ? value : undefined)

const ofText =
  (f: (text: string) => SQLInputValue | undefined) =>
  (text: SQLOutputValue): SQLInputValue =>
    Predicate.isString(text) ? (f(text) ?? null) : null

const ofInstant =
  (f: (instant: number) => string) =>
  (instant: SQLOutputValue): SQLInputValue =>
    Predicate.isNumber(instant) ? f(instant) : null

const bigintOf = (number: number | undefined): bigint | undefined => (number === undefined ? undefined : BigInt(number))

// The column is only written from `CustomFields`. A text that is not JSON fails the query.
const parseFields = (text: string): CustomFields => JsonParser.parse(text) as CustomFields

/**
 * Merges custom fields in linear time, where `json_patch` compares each name with all others. Caches the last result,
 * which the check of the size and the write both need.
 */
const merger = () => {
  let [lastBelow, lastAbove] = ["{}", "{}"]
  let result: { readonly below: CustomFields; readonly merged: CustomFields; readonly text: string } = {
    below: {},
    merged: {},
    text: "{}"
  }
  return (belowText: string, aboveText: string) => {
    if (belowText !== lastBelow || aboveText !== lastAbove) {
      const below = parseFields(belowText)
      // A spread keeps `__proto__`, which an assignment would not.
      const merged = { ...below, ...parseFields(aboveText) }
      result = { below, merged, text: JSON.stringify(merged) }
      lastBelow = belowText
      lastAbove = aboveText
    }
    return result
  }
}

/** Parses custom fields and caches the last row, which a rule with several of them reads repeatedly. */
const reader = () => {
  let text = "{}"
  let customFields: CustomFields = {}
  return (fields: string, name: string): string | null => {
    if (fields !== text) {
      customFields = parseFields(fields)
      text = fields
    }
    const value = customValue({ email: "", customFields }, name)
    return Predicate.isString(value) ? value : null
  }
}
