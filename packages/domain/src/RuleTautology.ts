/**
 * Recognising rules that select every contact although they do not say so.
 *
 * @since 0.1.0
 */
import type { Compare, Condition, Rule } from "./Rule.ts"
import { foldText } from "./RuleSemantics.ts"

/**
 * Whether a rule certainly selects every contact: `All`, a condition that
 * cannot fail (`email != ''`, `email contains '@'`, `firstname starts-with ''`),
 * an OR with such a term or with two terms of which one always holds
 * (`x = 1 OR x != 1`, `x != 1 OR x != 2`), or an AND of nothing but such rules.
 * It is never wrong when it says yes. It says no to rules that select everyone
 * only because of how contacts happen to be (`totalsent >= 0`,
 * `dateadded > '1900-01-01'`), to orders that meet (`x < 1 OR x >= 1`, which
 * miss the contacts without x), and to complements that only show once the rule
 * is multiplied out; a count of what would be deleted guards against those.
 *
 * @category safety
 * @since 0.1.0
 */
export const selectsEveryContact = (rule: Rule): boolean => {
  switch (rule._tag) {
    case "All":
      return true
    case "And":
      return rule.terms.every(selectsEveryContact)
    case "Or":
      return rule.terms.some(selectsEveryContact) || coversEveryContact(rule.terms)
    case "Compare":
      return cannotFail(rule)
    case "MonthDay":
    case "DaysFrom":
      return false
  }
}

const cannotFail = ({ field, operator, value }: Compare): boolean => {
  if (value._tag !== "Text") return false
  const email = field._tag === "RecordField" && field.name === "email"
  switch (operator) {
    case "starts-with":
    case "ends-with":
      return value.text === ""
    case "contains":
      return value.text === "" || (email && value.text === "@")
    case ">":
    case ">=":
      return email && value.text === ""
    case "!=":
      return email && !value.text.includes("@")
    case "not-contains":
    case "=":
    case "<":
    case "<=":
      return false
  }
}

const complements: { readonly [operator: string]: string } = {
  "=": "!=",
  "!=": "=",
  contains: "not-contains",
  "not-contains": "contains"
}

// Two terms cover everyone if they are complements, or if they exclude different values of the same field.
const coversEveryContact = (terms: ReadonlyArray<Condition>): boolean => {
  const seen = new Set<string>()
  const excluded = new Map<string, string>()
  for (const term of terms) {
    if (term._tag !== "Compare") continue
    const { field, kind, value } = identity(term)
    const complement = complements[term.operator]
    if (complement !== undefined && seen.has(JSON.stringify([field, complement, kind, value]))) return true
    seen.add(JSON.stringify([field, term.operator, kind, value]))
    if (term.operator !== "!=") continue
    const key = JSON.stringify([field, kind])
    if ((excluded.get(key) ?? value) !== value) return true
    excluded.set(key, value)
  }
  return false
}

const identity = ({ field, value }: Compare): { field: string; kind: string; value: string } => {
  const name = `${field._tag}:${foldText(field.name)}`
  switch (value._tag) {
    case "Text":
      return { field: name, kind: "text", value: foldText(value.text) }
    case "Word":
      return { field: name, kind: "text", value: foldText(value.word) }
    case "Number":
      return { field: name, kind: "number", value: String(value.number) }
    case "Date":
      // Different spans may overlap, so dates of different precision are never told apart.
      return { field: name, kind: `date:${value.date.precision}`, value: String(value.date.start) }
  }
}
