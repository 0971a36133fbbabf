/**
 * Noticing names in a rule that were taken for custom fields and were perhaps
 * meant for fields that every contact has.
 */
import type { Condition, Field, Rule } from "./Rule.ts"
import { quoted } from "./RuleExcerpt.ts"
import { recordFieldNames } from "./RuleFields.ts"
import { didYouMean } from "./RuleSuggestion.ts"

/**
 * The record field that the name of a custom field is nearly that of, as a
 * question, or nothing when none is near.
 */
export const meantField = (name: string): string | undefined => didYouMean(name, recordFieldNames)

/**
 * A hint for each custom field in a rule whose name is nearly that of a record
 * field. Such a rule is valid: `stauts != 'Active'` selects every contact
 * without a custom field of that name.
 */
export const fieldHints = (rule: Rule): ReadonlyArray<string> => {
  const names = new Set(
    (rule._tag === "All" ? [] : fieldsOf(rule)).flatMap((field) => (field._tag === "CustomField" ? [field.name] : []))
  )
  return [...names].flatMap((name) => {
    const question = meantField(name)
    return question === undefined ? [] : [`The rule takes ${quoted(name)} for a custom field; ${question}`]
  })
}

const fieldsOf = (condition: Condition): ReadonlyArray<Field> =>
  condition._tag === "And" || condition._tag === "Or" ? condition.terms.flatMap(fieldsOf) : [condition.field]
