/**
 * What the texts of the page are made with. All of them stand in this room, one file for each room of the page, so that a view that is
 * fetched later brings its own along. A file exports one object of texts and of functions from values to a text. A sentence stands as a
 * whole: what is an element in it, such as a link, is a slot, which another language may put elsewhere.
 *
 * Another language is a folder with the same files of texts, whose objects have the types of these (`typeof runTexts`), and a page that is
 * bundled with them in place of these and names the language (docs/decisions/studio.md). Plurals are of the language of the texts (`plural`),
 * whatever their number of forms; numbers and times are of the locale of the reader, who may have set another one (`number`, `localTime`).
 *
 * Texts of `domain` and `workflows` are not here: errors, words of rules, what is odd in rows, reports and command lines are the same on
 * the page and in a terminal.
 */
import { DateTime } from "effect"
import type { ReactNode } from "preact/compat"

/** The language of the texts, as the page names it. Without a page, as in a test or a worker, it is English. */
const language = globalThis.document?.documentElement.lang || "en"

// Numbers

const numbers = new Intl.NumberFormat()

/** A number for people. */
export const number = (value: number): string => numbers.format(value)

/** Whether numbers have a comma before their decimals, as where spreadsheets read semicolons between cells (default: the reader's locale). */
export const hasDecimalComma = (locale?: string): boolean =>
  new Intl.NumberFormat(locale).formatToParts(1.5).some(({ type, value }) => type === "decimal" && value === ",")

/** The forms of a word: `other` goes with every number that has none of its own. */
export type Forms = Readonly<Partial<Record<Intl.LDMLPluralRule, string>> & { other: string }>

const plurals = new Intl.PluralRules(language)

/** The form that goes with a number. */
export const plural = (count: number, forms: Forms): string => forms[plurals.select(count)] ?? forms.other

/** A number with the form that goes with it. */
export const counted = (count: number, forms: Forms): string => `${number(count)} ${plural(count, forms)}`

// Times

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const ofThisYear = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "numeric",
  minute: "2-digit"
})
const days = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })

const millis = (time: DateTime.DateTime | number): number =>
  typeof time === "number" ? time : DateTime.toEpochMillis(time)

/** A time for people, to the second. */
export const localTime = (time: DateTime.DateTime | number): string => exact.format(millis(time))

/** A time for people as a table has it: of this year its day and minute, of another year its day. */
export const shortTime = (time: DateTime.DateTime | number, now = new Date()): string => {
  const at = new Date(millis(time))
  return (at.getFullYear() === now.getFullYear() ? ofThisYear : days).format(at)
}

/** A day for people. */
export const localDay = (time: Date): string => days.format(time)

const months = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric", timeZone: "UTC" })

/** A month for people, which is given as `2026-11`. */
export const monthWords = (month: string): string => months.format(new Date(`${month}-01T00:00:00Z`))

// Sentences

/** Words as a list in a sentence: all of them, or one of them. */
export const listed = (words: ReadonlyArray<string>, type: "conjunction" | "disjunction"): string =>
  new Intl.ListFormat(language, { type }).format(words)

/** Makes an element of words, such as a link. */
export type Marked = (words: string) => ReactNode

/** A sentence with elements in it; with texts in their place, `join("")` makes a text of it. */
export const sentence = <Slot extends ReactNode>(
  words: TemplateStringsArray,
  ...slots: ReadonlyArray<Slot>
): Array<string | Slot | undefined> => words.flatMap((text, at) => [text, slots[at]])
