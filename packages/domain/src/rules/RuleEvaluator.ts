/** Decides in memory which contacts a rule selects. The SQL of the stores selects the same ones. */
import * as DateTime from "effect/DateTime"
import type { Compare, Condition, Field, Operator, Rule } from "./Rule.ts"
import { compareText, foldText, numberOf } from "./Rule.ts"
import { byFoldedName } from "../values/FieldNames.ts"
import { dateRange, type DateRange, monthDayOf, parseDate, wholeDays } from "./RuleDate.ts"
import { type RecordFieldValue, type RecordFieldInfo, recordFieldInfo, type RuleSubject } from "./RuleFields.ts"

/**
 * Whether a rule selects a contact; `daysfrom` and `contactage` count from `now`. A field without a value equals the
 * empty text and matches no order comparison. Texts are compared case-insensitively. A custom field matches a number or
 * date literal only if its text is one. `!=` and `not-contains` are the exact complements of `=` and `contains`.
 */
export const matchesRule = (rule: Rule, subject: RuleSubject, now: DateTime.DateTime): boolean =>
  ruleMatcher(rule, now)(subject)

/**
 * Compiles `matchesRule` for many contacts. Each field of a contact is read, folded and parsed at most once, however
 * many conditions name it.
 */
export const ruleMatcher = (rule: Rule, now: DateTime.DateTime): ((subject: RuleSubject) => boolean) => {
  if (rule._tag === "All") return () => true
  const { fieldOf, turnTo } = fieldReaders(DateTime.toEpochMillis(now))
  const holds = compiled(rule, fieldOf)
  return (subject) => {
    turnTo(subject)
    return holds()
  }
}

/** The value of a field of the current contact, in the forms that conditions compare. */
interface FieldReader {
  readonly text: () => string
  readonly number: () => number | undefined
  readonly instant: () => number | undefined
  readonly monthDay: () => string | undefined
  /** The whole days since the instant. */
  readonly days: () => number | undefined
}

const fieldReaders = (now: number) => {
  let subject: RuleSubject = { email: "" }
  let turn = 0

  const oncePerSubject = <A>(none: A, compute: () => A): (() => A) => {
    let known = none
    let of = turn
    return () => {
      if (of !== turn) {
        known = compute()
        of = turn
      }
      return known
    }
  }

  /** The custom fields by folded name; of two with the same, the first one. */
  const foldedFields = oncePerSubject<ReadonlyMap<string, string>>(new Map(), () =>
    byFoldedName(subject.customFields ?? {})
  )

  /** Reads a custom field. Only another service can hold two equal names, of which that in the same case wins. */
  const customReader = (name: string) => {
    const folded = foldText(name)
    return (): RecordFieldValue => {
      const { customFields } = subject
      if (customFields === undefined || customFields === null) return undefined
      return Object.hasOwn(customFields, name) ? customFields[name] : foldedFields().get(folded)
    }
  }

  const recordReader = ({ read }: RecordFieldInfo) => {
    return (): RecordFieldValue => read(subject, now) ?? undefined
  }

  const readerOf = (field: Field): FieldReader => {
    const value = oncePerSubject(
      undefined,
      field._tag === "CustomField" ? customReader(field.name) : recordReader(recordFieldInfo(field.name))
    )
    const instant = oncePerSubject(undefined, () => instantIn(value()))
    const ofInstant =
      <A>(f: (instant: number) => A) =>
      () => {
        const known = instant()
        return known === undefined ? undefined : f(known)
      }
    return {
      text: oncePerSubject("", () => textOf(value())),
      number: oncePerSubject(undefined, () => numberIn(value())),
      instant,
      monthDay: oncePerSubject(undefined, ofInstant(monthDayOf)),
      days: ofInstant((instant) => wholeDays(instant, now))
    }
  }

  const readers = new Map<string, FieldReader>()
  return {
    turnTo: (next: RuleSubject) => {
      subject = next
      turn++
    },
    fieldOf: (field: Field): FieldReader => {
      const key = `${field._tag} ${field.name}`
      const reader = readers.get(key) ?? readerOf(field)
      readers.set(key, reader)
      return reader
    }
  }
}

const compiled = (condition: Condition, fieldOf: (field: Field) => FieldReader): (() => boolean) => {
  switch (condition._tag) {
    case "And": {
      const terms = condition.terms.map((term) => compiled(term, fieldOf))
      return () => terms.every((holds) => holds())
    }
    case "Or": {
      const terms = condition.terms.map((term) => compiled(term, fieldOf))
      return () => terms.some((holds) => holds())
    }
    case "Compare":
      return comparing(condition, fieldOf(condition.field))
    case "MonthDay": {
      const { monthDay } = fieldOf(condition.field)
      return () => monthDay() === condition.monthDay
    }
    case "DaysFrom": {
      const { days } = fieldOf(condition.field)
      return () => matchesNumber(condition.operator, days(), condition.days)
    }
  }
}

const comparing = ({ operator, value }: Compare, { instant, number, text }: FieldReader): (() => boolean) => {
  switch (value._tag) {
    case "Text":
    case "Word": {
      const literal = foldText(value._tag === "Text" ? value.text : value.word)
      return () => matchesText(operator, text(), literal)
    }
    case "Number":
      return () => matchesNumber(operator, number(), value.number)
    case "Date": {
      const range = dateRange(value.date)
      return () => matchesDate(operator, instant(), range)
    }
  }
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
    case "<":
    case "<=":
    case ">":
    case ">=":
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
    case "starts-with":
    case "ends-with":
    case "contains":
    case "not-contains":
      return false
  }
}

const textOf = (value: RecordFieldValue): string =>
  value === undefined
    ? ""
    : typeof value === "string"
      ? foldText(value)
      : typeof value === "number"
        ? String(value)
        : DateTime.formatIso(value)

const numberIn = (value: RecordFieldValue): number | undefined =>
  typeof value === "number" ? value : typeof value === "string" ? numberOf(value) : undefined

const instantIn = (value: RecordFieldValue): number | undefined =>
  typeof value === "string"
    ? parseDate(value)?.start
    : typeof value === "object"
      ? DateTime.toEpochMillis(value)
      : undefined
