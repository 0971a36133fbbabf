/** What the formats of numbers in a workbook show: days and times, or zeros in front. (ECMA-376, part 1, 18.8.31) */

/** Whether a format, without quoted texts, colours and conditions, shows days or times. */
export const isDateFormat = (code: string): boolean =>
  /[dmyhs]/i.test(code.replaceAll(/"[^"]*"?|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]?|General|E[+-]/gi, ""))

/** Gives the digits of a number as they are shown; `undefined` for a number that is shown otherwise. */
export type PaddedFormat = (digits: string) => string | undefined

/** A part of a format: whether it is for a number, and what stands in the places of digits. */
interface Section {
  readonly isFor: (number: number) => boolean
  /** One `0` for each digit, and other characters as they are. */
  readonly places: ReadonlyArray<{ readonly isDigit: boolean; readonly text: string }>
}

const comparisons: { readonly [sign: string]: (number: number, bound: number) => boolean } = {
  "<": (number, bound) => number < bound,
  "<=": (number, bound) => number <= bound,
  ">": (number, bound) => number > bound,
  ">=": (number, bound) => number >= bound,
  "=": (number, bound) => number === bound,
  "<>": (number, bound) => number !== bound
}

/** Quoted and escaped texts, what stands in brackets, room that is left, and other characters one by one. */
const token = /"([^"]*)"?|\\(.)|\[([^\]]*)\]?|[_*].|([^"\\[])/gsu

const plain = /^[ \u00a0()/+:-]$/

/** The longest format that a spreadsheet takes. */
const longestFormat = 255

/** A section that has only zeros and texts, with two zeros at least; `undefined` for another. */
const sectionOf = (code: string): Section | undefined => {
  let isFor: Section["isFor"] = () => true
  const places: Array<Section["places"][number]> = []
  for (const [, quoted, escaped, bracketed, other] of code.matchAll(token)) {
    const [, sign = "", bound] = /^(<=|>=|<>|<|>|=)(-?\d+(?:\.\d+)?)$/.exec(bracketed ?? "") ?? []
    const compare = comparisons[sign]
    if (compare !== undefined) isFor = (number) => compare(number, Number(bound))
    const text = quoted ?? escaped ?? other
    if (text === undefined) continue
    const isDigit = other === "0"
    if (other !== undefined && !isDigit && !plain.test(other)) return undefined
    places.push({ isDigit, text })
  }
  return places.filter(({ isDigit }) => isDigit).length > 1 ? { isFor, places } : undefined
}

/** The digits in the places of a section, those that have none before the first. */
const filled = ({ places }: Section, digits: string): string => {
  const count = places.filter(({ isDigit }) => isDigit).length
  const padded = digits.padStart(count, "0")
  let at = padded.length - count
  let isFirst = true
  return places
    .map(({ isDigit, text }) => {
      if (!isDigit) return text
      const shown = isFirst ? padded.slice(0, ++at) : padded.slice(at, ++at)
      isFirst = false
      return shown
    })
    .join("")
}

/** What shows a number by a format of zeros, such as `00000` of a postcode; `undefined` for a format of others. */
export const paddedFormat = (code: string): PaddedFormat | undefined => {
  if (code.length > longestFormat) return undefined
  const sections = (code.match(/(?:"[^"]*"?|\\.|\[[^\]]*\]?|[^;"\\[])+/gsu) ?? []).map(sectionOf)
  if (sections.every((section) => section === undefined)) return undefined
  const isConditional = /\[[<>=]/.test(code)
  return (digits) => {
    // Numbers below zero and with a fraction are none that people write with zeros in front.
    if (!/^\d+$/.test(digits)) return undefined
    // Without conditions, the others are for numbers below zero, zero and texts.
    const section = isConditional
      ? sections.find((section) => section === undefined || section.isFor(Number(digits)))
      : sections[0]
    return section === undefined ? undefined : filled(section, digits)
  }
}
