/** SQL functions that call the domain, to merge contacts. */
import { ContactSize, type CustomFields, JsonParser, mergedFields } from "@roster/domain"
import { Predicate } from "effect"
import type { DatabaseSync, FunctionOptions, SQLOutputValue } from "node:sqlite"

// Deterministic calls on constants run once; direct only forbids calls from the schema of a foreign file.
const options: FunctionOptions = { deterministic: true, directOnly: true }

/** Registers the functions of `SqlDialect`, on each connection that may write contacts. */
export const registerFunctions = (database: DatabaseSync): void => {
  const merge = merger()
  database.function("roster_merge_fields", options, (below, above) =>
    Predicate.isString(below) && Predicate.isString(above) ? merge(below, above).text : null
  )
  // Of a contact its texts as stored, and those that are given; null for one that is not.
  database.function("roster_may_become", { ...options, varargs: true }, (...values) => {
    const [email, firstName, lastName, ip, fields = "{}", ...given] = values.map(textOf)
    const [newFirstName = firstName, newLastName = lastName, newIp = ip, newFields = "{}"] = given
    const { below, merged, text } = merge(fields, newFields)
    const before = { email, firstName, lastName, consent: { ip }, customFields: below }
    const after = {
      email,
      firstName: newFirstName,
      lastName: newLastName,
      consent: { ip: newIp },
      customFields: merged
    }
    return ContactSize.surelyFits(text, after) || ContactSize.mayBecome(before, after) ? 1 : 0
  })
}

const textOf = (value: SQLOutputValue): string | undefined => (Predicate.isString(value) ? value : undefined)

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
      // Contacts of one address in an add are merged one after the other.
      const below = belowText === result.text ? result.merged : parseFields(belowText)
      const merged = mergedFields(below, parseFields(aboveText))
      result = { below, merged, text: JSON.stringify(merged) }
      lastBelow = belowText
      lastAbove = aboveText
    }
    return result
  }
}
