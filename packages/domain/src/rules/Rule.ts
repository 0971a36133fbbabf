/** The syntax tree of the rule language as plain data, its canonical form, and the comparison of texts. */
import type * as Arr from "effect/Array"
import { type DateLiteral, formatDate, parseDate } from "./RuleDate.ts"
import { type FieldKind, isRecordFieldName, recordFieldInfo, type RecordFieldName } from "./RuleFields.ts"
import { isBareName, quoteText } from "./RuleLexer.ts"

/** A rule: either every contact, or a condition. */
export type Rule = All | Condition

/** Any rule except `All`, which is never part of another rule. */
export type Condition = And | Or | Leaf

/** The rule that selects every contact. */
export interface All {
  readonly _tag: "All"
}

/** Selects what all of its terms select. No term is itself an `And`, which the constructor `and` ensures. */
export interface And {
  readonly _tag: "And"
  /** The conditions that all hold. */
  readonly terms: ReadonlyArray<Condition>
}

/** Selects what any of its terms selects. No term is itself an `Or`, which the constructor `or` ensures. */
export interface Or {
  readonly _tag: "Or"
  /** The conditions of which one holds. */
  readonly terms: ReadonlyArray<Condition>
}

/** A condition that is neither an AND nor an OR. */
export type Leaf = Compare | MonthDay | DaysFrom | OnList

/** Compares a field with a literal. */
export interface Compare {
  readonly _tag: "Compare"
  /** The field that is compared. */
  readonly field: Field
  /** How it is compared. */
  readonly operator: Operator
  /** What it is compared with. */
  readonly value: Value
}

/** Compares the UTC month and day of a date, written `MM-dd`. */
export interface MonthDay {
  readonly _tag: "MonthDay"
  /** The field that is compared. */
  readonly field: Field
  /** The month and the day, as `MM-DD`. */
  readonly monthDay: string
}

/** Compares the number of whole days since a date. */
export interface DaysFrom {
  readonly _tag: "DaysFrom"
  /** The field that is compared. */
  readonly field: Field
  /** How it is compared. */
  readonly operator: Comparison
  /** The number of days. */
  readonly days: number
}

/** Whether a contact is on a list, or is not. Only Roster has this condition, so no other service is sent it. */
export interface OnList {
  readonly _tag: "OnList"
  /** The name of the list, which is compared case-insensitively. */
  readonly list: string
  /** Whether the contact has to be on the list. */
  readonly isOn: boolean
}

/** The field of a condition. The name of a custom field is kept as written and compared case-insensitively. */
export type Field =
  | { readonly _tag: "RecordField"; readonly name: RecordFieldName }
  | { readonly _tag: "CustomField"; readonly name: string }

/** A literal; its tag decides how the field is compared. A `Word` is a known value of an enumeration. */
export type Value =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Number"; readonly number: number }
  | { readonly _tag: "Word"; readonly word: string }
  | { readonly _tag: "Date"; readonly date: DateLiteral }

/** The comparison operators. */
export const comparisons = ["=", "!=", "<", "<=", ">", ">="] as const

/** A comparison operator. */
export type Comparison = (typeof comparisons)[number]

/** The operators that look into a text. */
export const textOperators = ["starts-with", "ends-with", "contains", "not-contains"] as const

/** An operator that looks into a text. */
export type TextOperator = (typeof textOperators)[number]

/** The operators of `Compare`. */
export type Operator = Comparison | TextOperator

/** The value of `All`. */
export const all: All = { _tag: "All" }

const join =
  (tag: "And" | "Or") =>
  (terms: Arr.NonEmptyReadonlyArray<Condition>): Condition =>
    terms.length === 1
      ? terms[0]
      : { _tag: tag, terms: terms.flatMap((term) => (term._tag === tag ? term.terms : [term])) }

/** Joins conditions by AND, flattens nested ones and returns a single condition unchanged. */
export const and = join("And")

/** Joins conditions by OR, flattens nested ones and returns a single condition unchanged. */
export const or = join("Or")

/** Makes a `Compare`. */
export const compare = (field: Field, operator: Operator, value: Value): Compare => ({
  _tag: "Compare",
  field,
  operator,
  value
})

/** Makes a `MonthDay`. */
export const monthDay = (field: Field, monthDay: string): MonthDay => ({ _tag: "MonthDay", field, monthDay })

/** Makes a `DaysFrom`. */
export const daysFrom = (field: Field, operator: Comparison, days: number): DaysFrom => ({
  _tag: "DaysFrom",
  field,
  operator,
  days
})

/** Makes an `OnList`. */
export const onList = (list: string, isOn = true): OnList => ({ _tag: "OnList", list, isOn })

/** Names a field of the record. */
export const recordField = (name: RecordFieldName): Field => ({ _tag: "RecordField", name })

/** Names a custom field. */
export const customField = (name: string): Field => ({ _tag: "CustomField", name })

/** A text literal. */
export const text = (text: string): Value => ({ _tag: "Text", text })

/** A number literal. */
export const number = (number: number): Value => ({ _tag: "Number", number })

/** The known value of an enumeration. */
export const word = (word: string): Value => ({ _tag: "Word", word })

/** A date literal. */
export const date = (date: DateLiteral): Value => ({ _tag: "Date", date })

/** The kind of a field; every custom field is of the kind `custom`. */
export const fieldKind = (field: Field): FieldKind | "custom" =>
  field._tag === "CustomField" ? "custom" : recordFieldInfo(field.name).kind

/** The leaves of a rule, in its order. */
export const leavesOf = (rule: Rule): ReadonlyArray<Leaf> => {
  switch (rule._tag) {
    case "All":
      return []
    case "And":
    case "Or":
      return rule.terms.flatMap(leavesOf)
    default:
      return [rule]
  }
}

/** The fields of the conditions of a rule, each as often as it is named. */
export const fieldsOf = (rule: Rule): ReadonlyArray<Field> =>
  leavesOf(rule).flatMap((leaf) => (leaf._tag === "OnList" ? [] : [leaf.field]))

/** Whether a rule asks who is on a list. */
export const namesLists = (rule: Rule): boolean => leavesOf(rule).some(({ _tag }) => _tag === "OnList")

const isOrder = (operator: Operator): boolean => operator.startsWith("<") || operator.startsWith(">")

/**
 * What a value has to be for a condition to compare it. `undefined` if any value can be compared: `=`, `!=` and the
 * operators that look into a text, and an order with a text that is no date.
 */
export const comparedAs = (condition: Leaf): "date" | "number" | undefined => {
  if (condition._tag === "OnList") return undefined
  if (condition._tag === "MonthDay") return "date"
  if (!isOrder(condition.operator)) return undefined
  if (condition._tag === "DaysFrom") return "date"
  switch (condition.value._tag) {
    case "Number":
      return "number"
    case "Date":
      return "date"
    case "Text":
      return parseDate(condition.value.text) === undefined ? undefined : "date"
    case "Word":
      return undefined
  }
}

/** Prints a rule in its canonical form, without a check that the text parses to the same rule, as `printRule` has it. */
export const printUnchecked = (rule: Rule): string => {
  switch (rule._tag) {
    case "All":
      return "All"
    case "And":
      return rule.terms.map(printTerm).join(" AND ")
    case "Or":
      return rule.terms.map(printUnchecked).join(" OR ")
    case "Compare":
      return `${printField(rule.field)} ${rule.operator} ${printValue(rule.value)}`
    case "MonthDay":
      return `${printField(rule.field)} month-day ${quoteText(rule.monthDay)}`
    case "DaysFrom":
      return `daysfrom ${printField(rule.field)} ${rule.operator} ${rule.days}`
    case "OnList":
      return `${rule.isOn ? "on-list" : "not-on-list"} ${quoteText(rule.list)}`
  }
}

const printField = ({ _tag, name }: Field): string =>
  _tag === "RecordField" || (isBareName(name) && !isRecordFieldName(name.toLowerCase())) ? name : quoteText(name)

const printTerm = (term: Condition): string => (term._tag === "Or" ? `(${printUnchecked(term)})` : printUnchecked(term))

const printValue = (value: Value): string => {
  switch (value._tag) {
    case "Text":
      return quoteText(value.text)
    case "Number":
      return String(value.number)
    case "Word":
      return value.word
    case "Date":
      return quoteText(formatDate(value.date))
  }
}

export { foldText } from "../values/FieldNames.ts"

/** Orders folded texts by code points, as `COLLATE BINARY` in SQLite does; `<` orders by UTF-16 units instead. */
export const compareText = (left: string, right: string): number => {
  const length = Math.min(left.length, right.length)
  for (let i = 0; i < length; i++) {
    const a = left.charCodeAt(i)
    const b = right.charCodeAt(i)
    if (a !== b) return rank(a) - rank(b)
  }
  return left.length - right.length
}

// Surrogates encode the code points above U+FFFF, so they rank above every other unit.
const rank = (unit: number): number => (unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit)

/** Parses a decimal number such as `42`, `-1.5` or `1e-7`; `undefined` for any other text. */
export const numberOf = (text: string): number | undefined => {
  if (!/^-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?$/.test(text)) return undefined
  const number = Number(text)
  if (!Number.isFinite(number)) return undefined
  return number === 0 ? 0 : number
}
