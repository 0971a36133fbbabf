/**
 * The syntax tree of the rule language, which selects contacts. Rules are plain
 * data: `RuleParser` reads them, `RulePrinter` writes them, `RuleEvaluator`
 * decides whether a contact matches.
 */
import type * as Arr from "effect/Array"
import type { DateLiteral } from "./RuleDate.ts"
import { type FieldKind, recordFieldInfo, type RecordFieldName } from "./RuleFields.ts"

/** A rule: either every contact, or a condition. */
export type Rule = All | Condition

/**
 * Everything a rule can be except `All`, which stands alone and is never a part
 * of another rule.
 */
export type Condition = And | Or | Compare | MonthDay | DaysFrom

/** The rule that selects every contact. */
export interface All {
  readonly _tag: "All"
}

/**
 * Selects what all of its terms select. No term is itself an `And`; use the
 * constructor `and`, which keeps it so.
 */
export interface And {
  readonly _tag: "And"
  readonly terms: ReadonlyArray<Condition>
}

/**
 * Selects what any of its terms selects. No term is itself an `Or`; use the
 * constructor `or`, which keeps it so.
 */
export interface Or {
  readonly _tag: "Or"
  readonly terms: ReadonlyArray<Condition>
}

/** Compares a field with a literal. */
export interface Compare {
  readonly _tag: "Compare"
  readonly field: Field
  readonly operator: Operator
  readonly value: Value
}

/** Compares the UTC month and day of a date, written `MM-dd`. */
export interface MonthDay {
  readonly _tag: "MonthDay"
  readonly field: Field
  readonly monthDay: string
}

/** Compares the number of whole days since a date. */
export interface DaysFrom {
  readonly _tag: "DaysFrom"
  readonly field: Field
  readonly operator: Comparison
  readonly days: number
}

/**
 * The field that a condition looks at: one of the record, or a custom field,
 * whose name is kept as written and compared case-insensitively.
 */
export type Field =
  | { readonly _tag: "RecordField"; readonly name: RecordFieldName }
  | { readonly _tag: "CustomField"; readonly name: string }

/**
 * A literal. Its tag decides how the field is compared: as text, as a number,
 * or as a span of time; a `Word` is the known value of an enumeration.
 */
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

/** The rule that selects every contact. */
export const all: All = { _tag: "All" }

/**
 * Joins conditions by AND. Nested conjunctions are flattened, and a single
 * condition is returned as it is.
 */
export const and = (terms: Arr.NonEmptyReadonlyArray<Condition>): Condition =>
  terms.length === 1
    ? terms[0]
    : { _tag: "And", terms: terms.flatMap((term) => (term._tag === "And" ? term.terms : [term])) }

/**
 * Joins conditions by OR. Nested disjunctions are flattened, and a single
 * condition is returned as it is.
 */
export const or = (terms: Arr.NonEmptyReadonlyArray<Condition>): Condition =>
  terms.length === 1
    ? terms[0]
    : { _tag: "Or", terms: terms.flatMap((term) => (term._tag === "Or" ? term.terms : [term])) }

/** Compares a field with a literal. */
export const compare = (field: Field, operator: Operator, value: Value): Compare => ({
  _tag: "Compare",
  field,
  operator,
  value
})

/** Compares the UTC month and day of a date field with `MM-dd`. */
export const monthDay = (field: Field, monthDay: string): MonthDay => ({ _tag: "MonthDay", field, monthDay })

/** Compares the number of whole days since the date in a field. */
export const daysFrom = (field: Field, operator: Comparison, days: number): DaysFrom => ({
  _tag: "DaysFrom",
  field,
  operator,
  days
})

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

/** The kind of a field, where every custom field is of the kind `custom`. */
export const fieldKind = (field: Field): FieldKind | "custom" =>
  field._tag === "CustomField" ? "custom" : recordFieldInfo(field.name).kind
