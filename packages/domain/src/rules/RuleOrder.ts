/** What has no place in the order by which a rule compares a custom field: values that are neither numbers nor dates. */
import type { Contact } from "../contacts/Contact.ts"
import * as Rule from "./Rule.ts"
import { parseDate } from "./RuleDate.ts"

/** The values of a custom field that a rule compares by `<` or `>` and that have no such order. */
export interface UnorderedValues {
  /** The name of the field, as the rule has it. */
  readonly field: string
  /** Whether the rule compares with numbers or with dates. */
  readonly as: "numbers" | "dates"
  /** The number of values. */
  readonly values: number
  /** How many of them are not of that kind: no comparison with a number selects them, and one with a date takes them as texts. */
  readonly unordered: number
  /** The first of those, up to 40 characters. */
  readonly example: string
}

const isOrder = (operator: Rule.Operator): boolean => operator.startsWith("<") || operator.startsWith(">")

/** The custom fields that are compared in an order with numbers or dates, each once. */
const orderedIn = (rule: Rule.Rule): ReadonlyArray<readonly [field: string, as: UnorderedValues["as"]]> => {
  if (rule._tag === "And" || rule._tag === "Or") return rule.terms.flatMap(orderedIn)
  if ((rule._tag !== "Compare" && rule._tag !== "DaysFrom") || rule.field._tag !== "CustomField") return []
  if (!isOrder(rule.operator)) return []
  if (rule._tag === "DaysFrom" || rule.value._tag === "Date") return [[rule.field.name, "dates"]]
  if (rule.value._tag === "Number") return [[rule.field.name, "numbers"]]
  // Texts are in the order of dates only if all of them are dates.
  return rule.value._tag === "Text" && parseDate(rule.value.text) !== undefined ? [[rule.field.name, "dates"]] : []
}

/** Which values of contacts have not the order by which a rule compares their fields. */
export const unorderedValues = (
  rule: Rule.Rule,
  contacts: ReadonlyArray<Pick<Contact, "customFields">>
): ReadonlyArray<UnorderedValues> => {
  const found = new Map<string, UnorderedValues>()
  for (const [field, as] of orderedIn(rule)) {
    const name = Rule.foldText(field)
    const values = contacts.flatMap(({ customFields = {} }) =>
      Object.entries(customFields).flatMap(([other, value]) =>
        value !== "" && Rule.foldText(other) === name ? [value] : []
      )
    )
    const unordered = values.filter(
      (value) => (as === "numbers" ? Rule.numberOf(value) : parseDate(value)) === undefined
    )
    const [example] = unordered
    if (example === undefined) continue
    found.set(`${as} ${name}`, {
      field,
      as,
      values: values.length,
      unordered: unordered.length,
      example: example.slice(0, 40)
    })
  }
  return [...found.values()]
}
