/**
 * The syntax tree of the rule language, which selects contacts. Rules are plain
 * data: `RuleParser` reads them, `RulePrinter` writes them, `RuleEvaluator`
 * decides whether a contact matches.
 *
 * @since 0.1.0
 */
import type * as Arr from "effect/Array"
import type { DateLiteral } from "./RuleDate.ts"
import { type FieldKind, recordFieldInfo, type RecordFieldName } from "./RuleFields.ts"

/**
 * A rule: either every contact, or a condition.
 *
 * @category models
 * @since 0.1.0
 */
export type Rule = All | Condition

/**
 * Everything a rule can be except `All`, which stands alone and is never a part
 * of another rule.
 *
 * @category models
 * @since 0.1.0
 */
export type Condition = And | Or | Compare | MonthDay | DaysFrom

/**
 * The rule that selects every contact.
 *
 * @category models
 * @since 0.1.0
 */
export interface All {
  readonly _tag: "All"
}

/**
 * Selects what all of its terms select. No term is itself an `And`; use the
 * constructor `and`, which keeps it so.
 *
 * @category models
 * @since 0.1.0
 */
export interface And {
  readonly _tag: "And"
  readonly terms: ReadonlyArray<Condition>
}

/**
 * Selects what any of its terms selects. No term is itself an `Or`; use the
 * constructor `or`, which keeps it so.
 *
 * @category models
 * @since 0.1.0
 */
export interface Or {
  readonly _tag: "Or"
  readonly terms: ReadonlyArray<Condition>
}

/**
 * Compares a field with a literal.
 *
 * @category models
 * @since 0.1.0
 */
export interface Compare {
  readonly _tag: "Compare"
  readonly field: Field
  readonly operator: Operator
  readonly value: Value
}

/**
 * Compares the UTC month and day of a date, written `MM-dd`.
 *
 * @category models
 * @since 0.1.0
 */
export interface MonthDay {
  readonly _tag: "MonthDay"
  readonly field: Field
  readonly monthDay: string
}

/**
 * Compares the number of whole days since a date.
 *
 * @category models
 * @since 0.1.0
 */
export interface DaysFrom {
  readonly _tag: "DaysFrom"
  readonly field: Field
  readonly operator: Comparison
  readonly days: number
}

/**
 * The field that a condition looks at: one of the record, or a custom field,
 * whose name is kept as written and compared case-insensitively.
 *
 * @category models
 * @since 0.1.0
 */
export type Field =
  | { readonly _tag: "RecordField"; readonly name: RecordFieldName }
  | { readonly _tag: "CustomField"; readonly name: string }

/**
 * A literal. Its tag decides how the field is compared: as text, as a number,
 * or as a span of time; a `Word` is the known value of an enumeration.
 *
 * @category models
 * @since 0.1.0
 */
export type Value =
  | { readonly _tag: "Text"; readonly text: string }
  | { readonly _tag: "Number"; readonly number: number }
  | { readonly _tag: "Word"; readonly word: string }
  | { readonly _tag: "Date"; readonly date: DateLiteral }

/**
 * The comparison operators.
 *
 * @category operators
 * @since 0.1.0
 */
export const comparisons = ["=", "!=", "<", "<=", ">", ">="] as const

/**
 * A comparison operator.
 *
 * @category models
 * @since 0.1.0
 */
export type Comparison = (typeof comparisons)[number]

/**
 * The operators that look into a text.
 *
 * @category operators
 * @since 0.1.0
 */
export const textOperators = ["starts-with", "ends-with", "contains", "not-contains"] as const

/**
 * An operator that looks into a text.
 *
 * @category models
 * @since 0.1.0
 */
export type TextOperator = (typeof textOperators)[number]

/**
 * The operators of `Compare`.
 *
 * @category models
 * @since 0.1.0
 */
export type Operator = Comparison | TextOperator

/**
 * The rule that selects every contact.
 *
 * @category constructors
 * @since 0.1.0
 */
export const all: All = { _tag: "All" }

/**
 * Joins conditions by AND. Nested conjunctions are flattened, and a single
 * condition is returned as it is.
 *
 * @category constructors
 * @since 0.1.0
 */
export const and = (terms: Arr.NonEmptyReadonlyArray<Condition>): Condition =>
  terms.length === 1
    ? terms[0]
    : { _tag: "And", terms: terms.flatMap((term) => (term._tag === "And" ? term.terms : [term])) }

/**
 * Joins conditions by OR. Nested disjunctions are flattened, and a single
 * condition is returned as it is.
 *
 * @category constructors
 * @since 0.1.0
 */
export const or = (terms: Arr.NonEmptyReadonlyArray<Condition>): Condition =>
  terms.length === 1
    ? terms[0]
    : { _tag: "Or", terms: terms.flatMap((term) => (term._tag === "Or" ? term.terms : [term])) }

/**
 * Compares a field with a literal.
 *
 * @category constructors
 * @since 0.1.0
 */
export const compare = (field: Field, operator: Operator, value: Value): Compare => ({
  _tag: "Compare",
  field,
  operator,
  value
})

/**
 * Compares the UTC month and day of a date field with `MM-dd`.
 *
 * @category constructors
 * @since 0.1.0
 */
export const monthDay = (field: Field, monthDay: string): MonthDay => ({ _tag: "MonthDay", field, monthDay })

/**
 * Compares the number of whole days since the date in a field.
 *
 * @category constructors
 * @since 0.1.0
 */
export const daysFrom = (field: Field, operator: Comparison, days: number): DaysFrom => ({
  _tag: "DaysFrom",
  field,
  operator,
  days
})

/**
 * Names a field of the record.
 *
 * @category constructors
 * @since 0.1.0
 */
export const recordField = (name: RecordFieldName): Field => ({ _tag: "RecordField", name })

/**
 * Names a custom field.
 *
 * @category constructors
 * @since 0.1.0
 */
export const customField = (name: string): Field => ({ _tag: "CustomField", name })

/**
 * A text literal.
 *
 * @category constructors
 * @since 0.1.0
 */
export const text = (text: string): Value => ({ _tag: "Text", text })

/**
 * A number literal.
 *
 * @category constructors
 * @since 0.1.0
 */
export const number = (number: number): Value => ({ _tag: "Number", number })

/**
 * The known value of an enumeration.
 *
 * @category constructors
 * @since 0.1.0
 */
export const word = (word: string): Value => ({ _tag: "Word", word })

/**
 * A date literal.
 *
 * @category constructors
 * @since 0.1.0
 */
export const date = (date: DateLiteral): Value => ({ _tag: "Date", date })

/**
 * The kind of a field, where every custom field is of the kind `custom`.
 *
 * @category fields
 * @since 0.1.0
 */
export const fieldKind = (field: Field): FieldKind | "custom" =>
  field._tag === "CustomField" ? "custom" : recordFieldInfo(field.name).kind
