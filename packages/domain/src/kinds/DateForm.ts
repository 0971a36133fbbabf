/** Dates in the forms of people, databases and frameworks, read as ISO 8601. */
import { parseWireDate } from "../values/WireDate.ts"

/** The parts of a date and the digits that each may have. */
const dateParts: { readonly [part: string]: string } = {
  YYYY: String.raw`\d{4}`,
  YY: String.raw`\d{2}`,
  MM: String.raw`\d{1,2}`,
  DD: String.raw`\d{1,2}`,
  HH: String.raw`\d{1,2}`,
  mm: String.raw`\d{2}`,
  ss: String.raw`\d{2}`
}

const anyPart = /YYYY|YY|MM|DD|HH|mm|ss/g

/** The first of the hundred years that two digits mean, behind the form: `DD.MM.YY@1930`. */
const pivot = /@(\d{4})$/

/** Why a text is no form of dates, or `undefined`. */
export const dateFormatIssue = (format: string): string | undefined => {
  const form = format.replace(pivot, "")
  const found: ReadonlyArray<string> = form.match(anyPart) ?? []
  if (found.includes("YY") && form === format) {
    return `a form with YY names the first of the hundred years that its two digits mean, such as ${form}@1930 for 1930 to 2029`
  }
  const isWhole = [found.includes("YY") ? "YY" : "YYYY", "MM", "DD"].every((part) => found.includes(part))
  const isOnce = new Set(found.map((part) => (part === "YY" ? "YYYY" : part))).size === found.length
  const hasNoOther = !/[\p{L}\d@]/u.test(form.replaceAll(anyPart, "").replaceAll(/(?<=[DY])T(?=H)/g, ""))
  return isWhole && isOnce && hasNoOther && (form === format || found.includes("YY"))
    ? undefined
    : "a form of dates has YYYY, MM and DD, and may have HH, mm and ss, such as DD.MM.YYYY or MM/DD/YYYY HH:mm"
}

/**
 * Makes the function that reads dates of a form as ISO 8601: a day, or an instant in UTC if the form has a time. A text that has
 * not this form, or names no day, is none.
 */
export const makeDateReader = (format: string): ((text: string) => string | undefined) => {
  const first = Number(pivot.exec(format)?.[1] ?? "0")
  const form = format.replace(pivot, "")
  const names = form.match(anyPart) ?? []
  // What stands between the parts is no letter or digit, and so is itself behind a backslash.
  const pattern = new RegExp(
    `^${form
      .split(new RegExp(`(${anyPart.source})`))
      .map((piece) =>
        dateParts[piece] === undefined ? piece.replaceAll(/[^\p{L}\d\s]/gu, String.raw`\$&`) : `(${dateParts[piece]})`
      )
      .join("")}$`
  )
  const hasTime = names.some((name) => name === "HH" || name === "mm" || name === "ss")
  return (text) => {
    const match = pattern.exec(text.trim())
    if (match === null) return undefined
    const part = (name: string): string => {
      const at = names.findIndex((each) => each === name)
      return (at < 0 ? "0" : (match[at + 1] ?? "0")).padStart(2, "0")
    }
    const two = first - (first % 100) + Number(part("YY"))
    const year = names.some((name) => name === "YY")
      ? String(two < first ? two + 100 : two).padStart(4, "0")
      : part("YYYY")
    const day = `${year}-${part("MM")}-${part("DD")}`
    const time = `T${part("HH")}:${part("mm")}:${part("ss")}Z`
    if (parseWireDate(`${day}${time}`) === undefined) return undefined
    return hasTime ? `${day}${time}` : day
  }
}

const printed =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(?::(\d{2})(?:[.,](\d{1,9}))?)?)?(?: ?(?:[Zz]|UTC|GMT)| ?[+-]\d{2}(?::?\d{2}){0,2}(?: UTC)?)?$/

/** Reads a day or an instant of ISO 8601, or one as databases and frameworks print it: a day, or an instant in UTC. */
export const isoOf = (text: string): string | undefined => {
  const [given, day, minutes, , fraction] = printed.exec(text) ?? []
  const date = given === undefined ? undefined : parseWireDate(given)
  if (date === undefined) return undefined
  if (minutes === undefined) return day
  const second = new Date(date.epochMilliseconds).toISOString().slice(0, 19)
  return `${second}${fraction === undefined ? "" : `.${fraction}`}Z`
}
