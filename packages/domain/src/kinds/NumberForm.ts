/** Numbers in the forms of people, read as plain decimals. */

/** One thousand two hundred and thirty-four, as a form writes it, with or without a fraction. */
const sample = /^1([.,'’ ]?)234(?:([.,])\d+)?$/

/** Blanks of any width, as spreadsheets and pages put them between digits. */
const blanks = /[\s\u00a0\u2007\u2009\u202f]/g

/** Why a text is no form of numbers, or `undefined`. */
export const numberFormatIssue = (format: string): string | undefined => {
  const [whole, group = "", decimal] = sample.exec(format.replaceAll(blanks, " ")) ?? []
  return whole !== undefined && group !== decimal
    ? undefined
    : "a form of numbers is 1234 with what stands between its digits, such as 1.234,56 or 1234.5"
}

/** Whether numbers of a form may have a fraction: `1.234` is a form of whole numbers. */
export const hasFraction = (format: string): boolean => sample.exec(format.replaceAll(blanks, " "))?.[2] !== undefined

/** The names of currencies, as people write them beside numbers. A unit such as kg is none, since it would be lost. */
const currencies = new Set([...Intl.supportedValuesOf("currency"), ..."zł Kč Ft kr kr. lei Fr. грн руб. р.".split(" ")])
const mark = String.raw`(%|[\p{Sc}\p{L}]{1,5}\.?)?`

const isMark = (text: string): boolean => text === "" || /[%\p{Sc}]/u.test(text) || currencies.has(text)

/** The digits that groups are parted by, as a pattern. */
const groupPattern = (group: string): string =>
  group === "" ? "" : group === "'" || group === "’" ? "['’]" : `[${group}]`

/**
 * Makes the function that reads numbers of a form: `1.234,56 €`, `-12 %` and `12,5-` by `1.234,56`. The sign of a currency and `%`
 * are left out, and a text that has not this form is none.
 */
export const makeNumberReader = (format: string): ((text: string) => string | undefined) => {
  const [, group = "", decimal] = sample.exec(format.replaceAll(blanks, " ")) ?? []
  const between = groupPattern(group)
  const whole = between === "" ? String.raw`\d+` : String.raw`\d{1,3}(?:${between}\d{3})+|\d+`
  const fraction = decimal === undefined ? "()" : `(?:[${decimal}](\\d+))?`
  const number = new RegExp(`^([-+−]?) ?${mark} ?([-+−]?) ?(${whole})${fraction} ?([-−]?) ?${mark} ?([-−]?)$`, "u")
  return (text) => {
    const match = text.length > 100 ? null : number.exec(text.replaceAll(blanks, " ").trim())
    if (match === null) return undefined
    const [before = "", markBefore = "", inner = "", digits = "", part = "", behind = "", markBehind = "", last = ""] =
      match.slice(1)
    const [sign = "", ...more] = [before, inner, behind, last].filter((one) => one !== "")
    const isOnce = more.length === 0 && (markBefore === "" || markBehind === "")
    if (!isOnce || !isMark(markBefore) || !isMark(markBehind)) return undefined
    const plain = digits.replaceAll(/\D/g, "").replace(/^0+(?=\d)/, "") + (part === "" ? "" : `.${part}`)
    return (sign === "-" || sign === "−") && /[1-9]/.test(plain) ? `-${plain}` : plain
  }
}
