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
  // As `mayBecome` of `SqlDialect` gives them: the texts of a contact and its custom fields, first as they are stored, then
  // as they are given, with NULL for one that is not.
  database.function("roster_may_become", { ...options, varargs: true }, (...values) => {
    const all = values.map(textOf)
    const stored = all.slice(0, all.length / 2)
    const given = all.slice(all.length / 2)
    const { below, merged, text } = merge(stored.at(-1) ?? "{}", given.at(-1) ?? "{}")
    const texts = stored.slice(0, -1)
    const before = { texts, customFields: below }
    const after = { texts: texts.map((text, index) => given[index] ?? text), customFields: merged }
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
