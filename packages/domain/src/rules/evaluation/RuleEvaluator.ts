/** Decides which contacts a rule selects, and of which it cannot decide. Every store and client asks it. */
import * as DateTime from "effect/DateTime"
import type { Condition, Field, Leaf, OnList, Operator, Rule } from "../Rule.ts"
import { comparedAs, compareText, foldText, numberOf } from "../Rule.ts"
import { byFoldedName } from "../../values/FieldNames.ts"
import { type DateLiteral, dateRange, type DateRange, monthDayOf, parseDate, wholeDays } from "../RuleDate.ts"
import { type RecordFieldValue, type RecordFieldInfo, recordFieldInfo, type RuleSubject } from "../RuleFields.ts"

/** What keeps a rule from deciding about a contact: a value that a condition cannot compare. */
export interface Undecided {
  /** The field, as the rule has it. */
  readonly field: string
  /** What its value would have to be. */
  readonly kind: "date" | "number"
  /** The value of the contact that was judged last. */
  readonly value: () => string
}

/** Whether a rule selects a contact, or why it cannot decide. */
export type Verdict = boolean | Undecided

/**
 * Whether a rule selects a contact; `daysfrom` and `contactage` count from `now`. A field without a value equals the
 * empty text and matches no order comparison. Texts are compared case-insensitively. A custom field matches a number or
 * date literal only if its text is one. `!=` and `not-contains` are the exact complements of `=` and `contains`.
 */
export const matchesRule = (rule: Rule, subject: RuleSubject, now: DateTime.DateTime): boolean =>
  ruleMatcher(rule, now)(subject)

/** Compiles `matchesRule` for many contacts. A contact about which the rule cannot decide is not selected. */
export const ruleMatcher = (rule: Rule, now: DateTime.DateTime): ((subject: RuleSubject) => boolean) => {
  const verdictOf = ruleJudge(rule, now)
  return (subject) => verdictOf(subject) === true
}

/**
 * Compiles a rule to a function that decides about contacts by the logic of three values: a condition that cannot compare
 * a value leaves the rule undecided unless its other conditions decide. Each field of a contact is read, folded and parsed
 * at most once, however many conditions name it.
 */
export const ruleJudge = (rule: Rule, now: DateTime.DateTime): ((subject: RuleSubject) => Verdict) => {
  if (rule._tag === "All") return () => true
  const { fieldOf, onList, turnTo } = fieldReaders(DateTime.toEpochMillis(now))
  const verdict = compiled(rule, fieldOf, onList)
  return (subject) => {
    turnTo(subject)
    return verdict()
  }
}

/** The value of a field of the current contact, in the forms that conditions compare. */
interface FieldReader {
  readonly value: () => RecordFieldValue
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
      value,
      text: oncePerSubject("", () => textOf(value())),
      number: oncePerSubject(undefined, () => numberIn(value())),
      instant,
      monthDay: oncePerSubject(undefined, ofInstant(monthDayOf)),
      days: ofInstant((instant) => wholeDays(instant, now))
    }
  }

  /** The folded names of the lists of the contact. */
  const lists = oncePerSubject<ReadonlySet<string>>(new Set(), () => new Set(subject.lists?.map(foldText)))

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
    },
    /** A contact whose lists are not known is selected neither as one that is on a list nor as one that is not. */
    onList: ({ isOn, list }: OnList) => {
      const folded = foldText(list)
      return (): Verdict => subject.lists !== undefined && lists().has(folded) === isOn
    }
  }
}

const compiled = (
  condition: Condition,
  fieldOf: (field: Field) => FieldReader,
  onList: (condition: OnList) => () => Verdict
): (() => Verdict) => {
  switch (condition._tag) {
    case "And": {
      const terms = condition.terms.map((term) => compiled(term, fieldOf, onList))
      return () => {
        let all: Verdict = true
        for (const verdict of terms) {
          const one = verdict()
          if (one === false) return false
          if (all === true) all = one
        }
        return all
      }
    }
    case "Or": {
      const terms = condition.terms.map((term) => compiled(term, fieldOf, onList))
      return () => {
        let any: Verdict = false
        for (const verdict of terms) {
          const one = verdict()
          if (one === true) return true
          if (any === false) any = one
        }
        return any
      }
    }
    case "OnList":
      return onList(condition)
    default:
      return placing(condition, fieldOf(condition.field))
  }
}

/** A condition that is undecided about a value that it cannot compare. A field without a value is no such value. */
const placing = (condition: Exclude<Leaf, OnList>, reader: FieldReader): (() => Verdict) => {
  const holds = comparing(condition, reader)
  const kind = comparedAs(condition)
  if (kind === undefined) return holds
  const placed = kind === "number" ? reader.number : reader.instant
  const value = () => {
    const given = reader.value()
    return typeof given === "string" ? given : ""
  }
  const undecided: Undecided = { field: condition.field.name, kind, value }
  return () => holds() || (placed() === undefined && value() !== "" && undecided)
}

const comparing = (
  condition: Exclude<Leaf, OnList>,
  { days, instant, monthDay, number, text }: FieldReader
): (() => boolean) => {
  switch (condition._tag) {
    case "MonthDay":
      return () => monthDay() === condition.monthDay
    case "DaysFrom":
      return () => matchesNumber(condition.operator, days(), condition.days)
    case "Compare": {
      const { operator, value } = condition
      switch (value._tag) {
        case "Text":
        case "Word": {
          const written = value._tag === "Text" ? value.text : value.word
          const date = comparedAs(condition) === "date" ? parseDate(written) : undefined
          if (date !== undefined) return dated(operator, instant, date)
          const literal = foldText(written)
          return () => matchesText(operator, text(), literal)
        }
        case "Number":
          return () => matchesNumber(operator, number(), value.number)
        case "Date":
          return dated(operator, instant, value.date)
      }
    }
  }
}

const dated = (operator: Operator, instant: FieldReader["instant"], date: DateLiteral) => {
  const range = dateRange(date)
  return () => matchesDate(operator, instant(), range)
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
