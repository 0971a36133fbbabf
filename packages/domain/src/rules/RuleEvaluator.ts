import * as DateTime from "effect/DateTime"
import type { Compare, Condition, DaysFrom, Field, MonthDay, Operator, Rule } from "./Rule.ts"
import { compareText, foldText, numberOf } from "./Rule.ts"
import { dateRange, type DateRange, monthDayOf, parseDate, wholeDays } from "./RuleDate.ts"
import { type FieldValue, recordFieldInfo, type RuleSubject } from "./RuleFields.ts"

/**
 * Whether a rule selects a contact; `daysfrom` and `contactage` count from `now`. A field without a value equals the
 * empty text and matches no order comparison. Texts are compared case-insensitively. A custom field matches a number or
 * date literal only if its text is one. `!=` and `not-contains` are the exact complements of `=` and `contains`.
 */
export const matchesRule = (rule: Rule, subject: RuleSubject, now: DateTime.Utc): boolean =>
  rule._tag === "All" || matchesCondition(rule, subject, DateTime.toEpochMillis(now))

const matchesCondition = (condition: Condition, subject: RuleSubject, now: number): boolean => {
  switch (condition._tag) {
    case "And":
      return condition.terms.every((term) => matchesCondition(term, subject, now))
    case "Or":
      return condition.terms.some((term) => matchesCondition(term, subject, now))
    case "Compare":
      return matchesCompare(condition, read(condition.field, subject, now))
    case "MonthDay":
      return matchesMonthDay(condition, read(condition.field, subject, now))
    case "DaysFrom":
      return matchesDaysFrom(condition, read(condition.field, subject, now), now)
  }
}

/** Reads a custom field. A name in the same case wins, then the first one in another case. */
export const customValue = ({ customFields }: RuleSubject, name: string): FieldValue => {
  if (customFields === undefined || customFields === null) return undefined
  if (Object.hasOwn(customFields, name)) return customFields[name]
  const folded = foldText(name)
  const key = Object.keys(customFields).find((key) => foldText(key) === folded)
  return key === undefined ? undefined : customFields[key]
}

const read = (field: Field, subject: RuleSubject, now: number): FieldValue =>
  field._tag === "CustomField"
    ? customValue(subject, field.name)
    : (recordFieldInfo(field.name).read(subject, now) ?? undefined)

const matchesCompare = ({ operator, value }: Compare, actual: FieldValue): boolean => {
  switch (value._tag) {
    case "Text":
      return matchesText(operator, textOf(actual), foldText(value.text))
    case "Word":
      return matchesText(operator, textOf(actual), foldText(value.word))
    case "Number":
      return matchesNumber(operator, numberIn(actual), value.number)
    case "Date":
      return matchesDate(operator, instantIn(actual), dateRange(value.date))
  }
}

const matchesMonthDay = ({ monthDay }: MonthDay, actual: FieldValue): boolean => {
  const instant = instantIn(actual)
  return instant !== undefined && monthDayOf(instant) === monthDay
}

const matchesDaysFrom = ({ days, operator }: DaysFrom, actual: FieldValue, now: number): boolean => {
  const instant = instantIn(actual)
  return matchesNumber(operator, instant === undefined ? undefined : wholeDays(instant, now), days)
}

const matchesText = (operator: Operator, actual: string, literal: string): boolean => {
  switch (operator) {
    case "starts-with":
      return actual.startsWith(literal)
    case "ends-with":
      return actual.endsWith(literal)
    case "contains":
      return actual.includes(literal)
    case "not-contains":
      return !actual.includes(literal)
    case "=":
      return actual === literal
    case "!=":
      return actual !== literal
    default:
      return actual !== "" && inOrder(operator, compareText(actual, literal))
  }
}

const matchesNumber = (operator: Operator, actual: number | undefined, literal: number): boolean => {
  if (operator === "!=") return actual !== literal
  return actual !== undefined && inOrder(operator, actual - literal)
}

const matchesDate = (operator: Operator, actual: number | undefined, { from, until }: DateRange): boolean => {
  if (operator === "!=") return !matchesDate("=", actual, { from, until })
  // Before the span, within it, or after it.
  return actual !== undefined && inOrder(operator, actual < from ? -1 : actual < until ? 0 : 1)
}

const inOrder = (operator: Operator, difference: number): boolean => {
  switch (operator) {
    case "=":
      return difference === 0
    case "!=":
      return difference !== 0
    case "<":
      return difference < 0
    case "<=":
      return difference <= 0
    case ">":
      return difference > 0
    case ">=":
      return difference >= 0
    default:
      return false
  }
}

const textOf = (value: FieldValue): string =>
  value === undefined
    ? ""
    : typeof value === "string"
      ? foldText(value)
      : typeof value === "number"
        ? String(value)
        : DateTime.formatIso(value)

const numberIn = (value: FieldValue): number | undefined =>
  typeof value === "number" ? value : typeof value === "string" ? numberOf(value) : undefined

const instantIn = (value: FieldValue): number | undefined =>
  typeof value === "string"
    ? parseDate(value)?.start
    : typeof value === "object"
      ? DateTime.toEpochMillis(value)
      : undefined
