/** What looks odd in the text of a cell, which an import takes as it is. */

/** What stands behind the first byte of a character of UTF-8 that was read as Windows-1252 or Latin-1. */
const behind = "[\\u0080-\\u00bf€‚ƒ„…†‡ˆ‰Š‹ŒŽ‘’“”•–—˜™š›œžŸ]"

/**
 * UTF-8 that was read as another encoding, such as `Ã¼` for ü, `â€™` for an apostrophe and `Ð˜Ð²` of Cyrillic, and the
 * character that stands for lost ones. Beginnings that are also letters before a quote count only two in a row.
 */
const wrong = new RegExp(`\ufffd|[ÂÃÄÅ]${behind}|â[€‚„]${behind}|(?:[\u00c6-\u00df]${behind}){2}`)

/** Whether a text looks like one that was read by the wrong encoding. */
export const looksWronglyDecoded = (text: string): boolean => wrong.test(text)

const decimalPoint = /^[+-]?(?:\d{1,3}(?:,\d{3})+|\d+)\.\d+$/
const decimalComma = /^[+-]?(?:\d{1,3}(?:\.\d{3})+|\d+),\d+$/
/** One separator, which may part thousands or decimals. */
const unclearNumber = /^[+-]?[1-9]\d{0,2}[.,]\d{3}$/
const isoDate = /^\d{4}-\d{1,2}-\d{1,2}(?:[T ]|$)/
const yearFirst = /^\d{4}([./])\d{1,2}\1\d{1,2}(?: |$)/
const yearLast = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})(?: |$)/

/** The form in which a text writes a number or a date, as people write forms. */
export interface CellForm {
  /** What the text writes. */
  readonly of: "numbers" | "dates"
  /** How it is written, such as `1.234,5` or `DD.MM.YYYY`. */
  readonly form: string
  /** Whether it could as well be of another form with the same separator. */
  readonly isUnclear?: true
  /** The kinds of a column that read such a text, if rules cannot compare it as it is; several if it is not clear which. */
  readonly kinds?: ReadonlyArray<string>
}

/** The first year of two digits in a proposal, which a person looks at. */
const pivot = 1940

const dateKind = (form: string): string => `date:${form}${form.includes("YYYY") ? "" : `@${pivot}`}`

/** The form of a number or date; `undefined` for other texts, and for numbers that are the same in every form. */
export const formOf = (cell: string): CellForm | undefined => {
  // An amount of money or a share is a number.
  const text = cell.replace(/\s?[\p{Sc}%]$/u, "")
  const first = text.charCodeAt(0)
  const isNumeric = (first >= 0x30 && first <= 0x39) || first === 0x2b || first === 0x2d
  if (!isNumeric || text.length > 40) return undefined
  if (unclearNumber.test(text)) return undefined
  if (decimalPoint.test(text)) {
    const isPlain = cell === text && !text.includes(",")
    return { of: "numbers", form: "1234.5", ...(isPlain ? {} : { kinds: ["number:1,234.56"] }) }
  }
  if (decimalComma.test(text)) return { of: "numbers", form: "1234,5", kinds: ["number:1.234,56"] }
  if (isoDate.test(text)) return { of: "dates", form: "YYYY-MM-DD" }
  const [, between] = yearFirst.exec(text) ?? []
  if (between !== undefined) {
    const form = `YYYY${between}MM${between}DD`
    return { of: "dates", form, kinds: [dateKind(form)] }
  }
  const [, one, separator, two, year = ""] = yearLast.exec(text) ?? []
  if (separator === undefined) return undefined
  const end = `${separator}${year.length === 4 ? "YYYY" : "YY"}`
  // A form with a time behind the day is not proposed.
  const kindsOf = (...forms: ReadonlyArray<string>) => (text.includes(" ") ? {} : { kinds: forms.map(dateKind) })
  const american = `MM${separator}DD${end}`
  if (Number(two) > 12) return { of: "dates", form: american, ...kindsOf(american) }
  const form = `DD${separator}MM${end}`
  // No country writes the month first before a dot.
  return separator === "." || Number(one) > 12
    ? { of: "dates", form, ...kindsOf(form) }
    : { of: "dates", form, isUnclear: true, ...kindsOf(form, american) }
}
