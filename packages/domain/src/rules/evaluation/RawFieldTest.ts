/**
 * Says of stored custom fields, before they are parsed, that a rule cannot select their contact. Most contacts are not
 * selected, and to parse their fields is most of what a scan does. (docs/decisions/rules.md)
 */
import { type Condition, foldText, type Leaf, type Rule } from "../Rule.ts"

/** Signs that JSON writes as they are, and that lower case leaves alone whatever is beside them. */
const plainRun = /[a-z0-9 @._-]+/g

/** To look for more texts costs what parsing costs. */
const maximumTexts = 8

/** The longest part of a text that everything that folds to it has in lower case. */
const longestRun = (text: string): string =>
  (foldText(text).match(plainRun) ?? []).reduce((longest, run) => (run.length > longest.length ? run : longest), "")

const textIn = (leaf: Leaf): string => {
  if (leaf._tag !== "Compare" || leaf.field._tag !== "CustomField") return ""
  switch (leaf.operator) {
    case "=":
    case "contains":
    case "starts-with":
    case "ends-with":
      return leaf.value._tag === "Text" ? longestRun(leaf.value.text) : ""
    default:
      return ""
  }
}

/** Texts of which the custom fields of every selected contact have one, if there are any. */
const textsOf = (condition: Condition): ReadonlyArray<string> | undefined => {
  switch (condition._tag) {
    case "And":
      // One of its terms is enough: the one that looks for the fewest.
      return condition.terms
        .map(textsOf)
        .filter((texts) => texts !== undefined)
        .sort((one, other) => one.length - other.length)[0]
    case "Or": {
      const texts = condition.terms.map(textsOf)
      return texts.includes(undefined) ? undefined : texts.flatMap((some) => some ?? [])
    }
    default: {
      const text = textIn(condition)
      return text === "" ? undefined : [text]
    }
  }
}

/**
 * A test of the JSON text of custom fields: where it is `false`, the rule decides that the contact is not selected.
 * `undefined` if there is none that costs less than the rule.
 */
export const rawFieldTest = (rule: Rule): ((customFields: string) => boolean) | undefined => {
  const texts = rule._tag === "All" ? undefined : textsOf(rule)
  if (texts === undefined || texts.length > maximumTexts) return undefined
  return (customFields) => {
    const lower = customFields.toLowerCase()
    // Escaped, a text has other signs.
    return texts.some((text) => lower.includes(text)) || customFields.includes("\\")
  }
}
