/** Recognises rules that select every contact, so that a deletion by one is not a slip. It may miss one. */
import * as Rule from "./Rule.ts"
import { allFields } from "../contacts/ContactFields.ts"

/**
 * Whether a rule certainly selects every contact of a store: `All`, a condition that cannot fail (`email != ''`,
 * `totalsent >= 0`), an OR with such a term or with complementary terms (`x = 1 OR x != 1`, `x != 1 OR x != 2`), and an
 * AND of such rules.
 *
 * `true` is never wrong. `false` may be, for rules that depend on the data (`dateadded > '1900-01-01'`), for orders on
 * optional fields (`x < 1 OR x >= 1`), and for an OR over ANDs that only together leave nobody out; counting before a
 * deletion guards against those.
 */
export const selectsEveryContact = (rule: Rule.Rule): boolean => {
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
    case "OnList":
      return false
  }
}

/** The fields that every contact of a store has. */
const everPresent = new Set(allFields.flatMap(({ isStored, wire }) => (isStored ? [wire.toLowerCase()] : []))).add(
  "contactage"
)

const isPresent = ({ _tag, name }: Rule.Field): boolean => _tag === "RecordField" && everPresent.has(name)

const cannotFail = (rule: Rule.Compare): boolean => {
  const { field, operator, value } = rule
  if (value._tag === "Number")
    return isPresent(field) && field.name.startsWith("total") && isOfEveryCount(operator, value.number)
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
      return (email && !value.text.includes("@")) || (isPresent(field) && value.text === "")
    case "not-contains":
    case "=":
    case "<":
    case "<=":
      return false
  }
}

/** Counts are whole and not negative. */
const isOfEveryCount = (operator: Rule.Operator, number: number): boolean => {
  switch (operator) {
    case ">=":
      return number <= 0
    case ">":
      return number < 0
    case "!=":
      return number < 0 || !Number.isInteger(number)
    default:
      return false
  }
}

/** The operators that, on the same value, select exactly what a term leaves out. */
const complements: { readonly [operator: string]: ReadonlyArray<Rule.Operator> } = {
  "=": ["!="],
  "!=": ["="],
  contains: ["not-contains"],
  "not-contains": ["contains"]
}

/** The complements for fields that always have a value, for which the order operators have complements too. */
const complementsInOrder: { readonly [operator: string]: ReadonlyArray<Rule.Operator> } = {
  ...complements,
  "<": [">="],
  "<=": [">", ">="],
  ">": ["<="],
  ">=": ["<", "<="]
}

// Two terms cover everyone if they are complements, or if they exclude different values of the same field.
const coversEveryContact = (terms: ReadonlyArray<Rule.Condition>): boolean => {
  const seen = new Set<string>()
  const excluded = new Map<string, string>()
  for (const term of terms) {
    if (term._tag === "OnList") {
      const list = Rule.foldText(term.list)
      if (seen.has(JSON.stringify([list, !term.isOn]))) return true
      seen.add(JSON.stringify([list, term.isOn]))
    }
    if (term._tag !== "Compare") continue
    const { field, kind, value } = identity(term)
    const having = (operator: Rule.Operator) => JSON.stringify([field, operator, kind, value])
    // A text cannot be compared with a date.
    const isOrdered = isPresent(term.field) && (kind !== "text" || Rule.comparedAs(term) === undefined)
    const complementary = (isOrdered ? complementsInOrder : complements)[term.operator] ?? []
    if (complementary.some((operator) => seen.has(having(operator)))) return true
    seen.add(having(term.operator))
    if (term.operator !== "!=") continue
    const key = JSON.stringify([field, kind])
    if ((excluded.get(key) ?? value) !== value) return true
    excluded.set(key, value)
  }
  return false
}

const identity = ({ field, value }: Rule.Compare): { field: string; kind: string; value: string } => {
  const name = `${field._tag}:${Rule.foldText(field.name)}`
  switch (value._tag) {
    case "Text":
      return { field: name, kind: "text", value: Rule.foldText(value.text) }
    case "Word":
      return { field: name, kind: "text", value: Rule.foldText(value.word) }
    case "Number":
      return { field: name, kind: "number", value: String(value.number) }
    case "Date":
      // Spans of different precision may overlap, so they never count as different values.
      return { field: name, kind: `date:${value.date.precision}`, value: String(value.date.start) }
  }
}
