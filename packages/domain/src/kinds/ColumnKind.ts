/**
 * What the texts of a column are: dates, numbers or answers in some form. They are stored in the form that rules compare: ISO
 * 8601, a plain decimal, `true` or `false`. (docs/decisions/csv.md)
 */
import { dateFormatIssue, isoOf, makeDateReader } from "./DateForm.ts"
import { hasFraction, makeNumberReader, numberFormatIssue } from "./NumberForm.ts"
import { yesOrNo } from "./YesNo.ts"

/** The part of a kind before its colon, and that behind it. */
const partsOf = (kind: string): readonly [name: string, form: string | undefined] => {
  const colon = kind.indexOf(":")
  return colon < 0 ? [kind.trim(), undefined] : [kind.slice(0, colon).trim(), kind.slice(colon + 1).trim()]
}

/** Why a text is no kind of columns, or `undefined`. */
export const kindIssue = (kind: string): string | undefined => {
  const [name, form] = partsOf(kind)
  if (name === "date") return form === undefined ? undefined : dateFormatIssue(form)
  if (name === "number" && form !== undefined) return numberFormatIssue(form)
  return name === "boolean" && form === undefined
    ? undefined
    : "a kind is date:DD.MM.YYYY, number:1.234,56 or boolean, with the form in which the file writes it, or date for ISO 8601"
}

/** The kind without its form: `date`, `number` or `boolean`. */
export const kindName = (kind: string): string => partsOf(kind)[0]

/** Whether the form of a kind has fractions, or parts that a date of ISO 8601 has, too. */
export const readsFractions = (kind: string): boolean => {
  const [name, form] = partsOf(kind)
  return name !== "number" || form === undefined || hasFraction(form)
}

/** Whether the texts of a kind are dates. */
export const isDateKind = (kind: string): boolean => kindName(kind) === "date"

/**
 * Makes the function that reads the texts of a kind in the form in which they are stored. A text that is not of the kind is
 * `undefined`, and never changed.
 */
export const makeKindReader = (kind: string): ((text: string) => string | undefined) => {
  const [name, form] = partsOf(kind)
  if (name === "number") return makeNumberReader(form ?? "1234.5")
  if (name === "boolean") {
    return (text) => {
      const answer = yesOrNo(text)
      return answer === undefined ? undefined : String(answer)
    }
  }
  const dateOf = form === undefined ? undefined : makeDateReader(form)
  return (text) => dateOf?.(text) ?? isoOf(text.trim())
}
