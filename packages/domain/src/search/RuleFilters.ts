/** The conditions of a rule that a person sets and removes one by one, by clicks; the rule is what they write. */
import * as Arr from "effect/Array"
import * as Equal from "effect/Equal"
import * as Rule from "../rules/Rule.ts"
import { formatDate, parseDate } from "../rules/RuleDate.ts"
import { recordFieldInfo } from "../rules/RuleFields.ts"

/** A condition with a place of its own among those that are set by clicks. */
export type RuleFilter =
  /** A word in the address, the first or the last name. */
  | { readonly _tag: "Word"; readonly word: string }
  /** A field that has one of some values. */
  | { readonly _tag: "Values"; readonly field: Rule.Field; readonly values: ReadonlyArray<string> }
  /** Who is on a list, or is not. */
  | { readonly _tag: "OnList"; readonly list: string; readonly isOn: boolean }
  /** Who was added at an instant or after it, as the text of a date. */
  | { readonly _tag: "AddedSince"; readonly date: string }

/** The fields in which a word is looked for. */
const searched = ["email", "firstname", "lastname"] as const

const added = Rule.recordField("dateadded")

/** The value that a text is for a field, as a rule compares it. */
const valueOf = (field: Rule.Field, given: string): Rule.Value => {
  if (field._tag === "CustomField" || given === "") return Rule.text(given)
  const info = recordFieldInfo(field.name)
  switch (info.kind) {
    case "text":
      return Rule.text(given)
    case "number": {
      const number = Rule.numberOf(given)
      return number === undefined ? Rule.text(given) : Rule.number(number)
    }
    case "date": {
      const date = parseDate(given)
      return date === undefined ? Rule.text(given) : Rule.date(date)
    }
    case "enumeration": {
      const known = info.values.find((value) => value.toLowerCase() === given.toLowerCase())
      return known === undefined ? Rule.text(given) : Rule.word(known)
    }
  }
}

/** The condition of a filter; a field with none of some values has none. */
export const conditionOf = (filter: RuleFilter): Rule.Condition | undefined => {
  switch (filter._tag) {
    case "Word":
      return wordCondition(filter.word)
    case "Values": {
      const equal = filter.values.map((value) => Rule.compare(filter.field, "=", valueOf(filter.field, value)))
      return Arr.isReadonlyArrayNonEmpty(equal) ? Rule.or(equal) : undefined
    }
    case "OnList":
      return Rule.onList(filter.list, filter.isOn)
    case "AddedSince": {
      const date = parseDate(filter.date)
      return date === undefined ? undefined : Rule.compare(added, ">=", Rule.date(date))
    }
  }
}

/** Selects who has a word in the address, the first or the last name. */
export const wordCondition = (word: string): Rule.Condition =>
  Rule.or(
    Arr.map(searched, (name): Rule.Condition => Rule.compare(Rule.recordField(name), "contains", Rule.text(word)))
  )

/** The text of a value that a click may set. */
const textOf = (value: Rule.Value): string | undefined => {
  switch (value._tag) {
    case "Text":
      return value.text
    case "Word":
      return value.word
    case "Number":
      return String(value.number)
    case "Date":
      return undefined
  }
}

const alternatives = (condition: Rule.Condition): ReadonlyArray<Rule.Condition> =>
  condition._tag === "Or" ? condition.terms : [condition]

const candidateOf = (condition: Rule.Condition): RuleFilter | undefined => {
  const [first, ...others] = alternatives(condition)
  if (first?._tag === "OnList") return { _tag: "OnList", list: first.list, isOn: first.isOn }
  if (first?._tag !== "Compare") return undefined
  const { field, operator, value } = first
  if (operator === "contains") return value._tag === "Text" ? { _tag: "Word", word: value.text } : undefined
  if (operator === ">=") {
    return value._tag === "Date" ? { _tag: "AddedSince", date: formatDate(value.date) } : undefined
  }
  const texts = [first, ...others].map((one) => (one._tag === "Compare" ? textOf(one.value) : undefined))
  const values = texts.filter((text) => text !== undefined)
  return operator === "=" && values.length === texts.length ? { _tag: "Values", field, values } : undefined
}

/** The filter that a condition is; `undefined` for any other condition, which a person reads as text. */
export const filterOf = (condition: Rule.Condition): RuleFilter | undefined => {
  const candidate = candidateOf(condition)
  return candidate !== undefined && Equal.equals(conditionOf(candidate), condition) ? candidate : undefined
}

/** The conditions of a rule that all hold, each of which can be removed by itself. */
export const conditionsOf = (rule: Rule.Rule): ReadonlyArray<Rule.Condition> =>
  rule._tag === "All" ? [] : rule._tag === "And" ? rule.terms : [rule]

/** The rule of conditions that all hold. */
const ruleFrom = (conditions: ReadonlyArray<Rule.Condition>): Rule.Rule =>
  Arr.isReadonlyArrayNonEmpty(conditions) ? Rule.and(conditions) : Rule.all

/** Whether one filter takes the place of another. */
const isInPlaceOf = (one: RuleFilter, other: RuleFilter | undefined): boolean => {
  if (other === undefined || one._tag !== other._tag) return false
  switch (one._tag) {
    case "AddedSince":
      return true
    case "OnList":
      return other._tag === "OnList" && Rule.foldText(one.list) === Rule.foldText(other.list)
    case "Values":
      return (
        other._tag === "Values" &&
        one.field._tag === other.field._tag &&
        Rule.foldText(one.field.name) === Rule.foldText(other.field.name)
      )
    case "Word":
      return other._tag === "Word" && Rule.foldText(one.word) === Rule.foldText(other.word)
  }
}

/** A rule with a filter, in the place of the one for the same thing if there is one; one without values is removed. */
export const withFilter = (rule: Rule.Rule, filter: RuleFilter): Rule.Rule => {
  const conditions = conditionsOf(rule)
  const condition = conditionOf(filter)
  const given = condition === undefined ? [] : [condition]
  const at = conditions.findIndex((one) => isInPlaceOf(filter, filterOf(one)))
  return ruleFrom(
    at < 0 ? [...conditions, ...given] : conditions.flatMap((one, index) => (index === at ? given : [one]))
  )
}

/** A rule without one of its conditions, by its place. */
export const withoutCondition = (rule: Rule.Rule, place: number): Rule.Rule =>
  ruleFrom(conditionsOf(rule).filter((_, index) => index !== place))
