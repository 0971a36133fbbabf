/**
 * Days of the reader's calendar, to choose where a rule compares a date of the record. A day that is written is one of UTC, so a day
 * that is chosen becomes the instant at which it begins or ends here. (docs/rules.md)
 */
import type { RuleSuggestion } from "@roster/domain"
import { RuleDate, RuleFields } from "@roster/domain/internal"
import { localDay } from "../texts/Language.ts"
import { ruleTexts } from "../texts/RuleTexts.ts"

/** What may be written, and what it means. */
export interface Suggestion extends RuleSuggestion {
  readonly words?: string | undefined
}

const comparison = /(?<!\w)(\w+) ?(<=|>=|<|>)$/

const isDate = (name: string): boolean =>
  RuleFields.isRecordFieldName(name) && RuleFields.recordFieldInfo(name).kind === "date"

/** An instant as rules have it. */
const instantText = (instant: Date): string => instant.toISOString().replace(/(?::00)?\.000Z$/, "Z")

/** The instant at which a day of the reader begins, which is given as `2026-01-31`; `undefined` for another text. */
export const startOfDay = (day: string): string | undefined => {
  const [, year, month, date] = (/^(\d{4})-(\d\d)-(\d\d)$/.exec(day) ?? []).map(Number)
  return year === undefined || month === undefined || date === undefined
    ? undefined
    : instantText(new Date(year, month - 1, date))
}

/** The day of the reader on which a date of a rule begins, as `2026-01-31`; empty for another text. */
export const dayOf = (text: string): string => {
  const date = RuleDate.parseDate(text)
  if (date === undefined) return ""
  const start = new Date(date.start)
  const [year, month, day] = [start.getFullYear(), start.getMonth() + 1, start.getDate()].map(String)
  return `${year?.padStart(4, "0")}-${month?.padStart(2, "0")}-${day?.padStart(2, "0")}`
}

/** Some days until today, each as the instant with which a comparison has the whole day on the right side. */
export const localDays = (before: string, now: Date): ReadonlyArray<Suggestion> => {
  const [, field = "", operator = ""] = comparison.exec(before.trimEnd()) ?? []
  if (!isDate(field.toLowerCase())) return []
  const [year, month, day] = [now.getFullYear(), now.getMonth(), now.getDate()]
  const { firstOfMonth, firstOfYear, today, weekAgo, yesterday } = ruleTexts.days
  const days: ReadonlyArray<readonly [words: string, month: number, day: number]> = [
    [today, month, day],
    [yesterday, month, day - 1],
    [weekAgo, month, day - 7],
    [firstOfMonth, month, 1],
    [firstOfYear, 0, 1]
  ]
  return days.map(([words, month, day]) => {
    const start = new Date(year, month, day)
    // After a day, and up to it, means its end.
    const isEnd = operator === ">" || operator === "<="
    const instant = isEnd ? new Date(new Date(year, month, day + 1).getTime() - 1) : start
    const text = `'${instantText(instant)}'`
    return { text, words: ruleTexts.dayHere(words, localDay(start)) }
  })
}
