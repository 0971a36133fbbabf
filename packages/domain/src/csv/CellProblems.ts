/**
 * What is wrong with a row or the text of a cell, in words for the user who has the file: they quote it, as no error of a call does.
 */
import { emailAddressIssue } from "../contacts/EmailAddress.ts"
import { oneOf } from "./ImportMapping.ts"

/** Why a row is no contact. */
export interface RowProblem {
  /** The kind of the fault. `Field` is any other value that a field does not take, `Format` a row that cannot be split. */
  readonly code: "Format" | "Cells" | "Unnamed" | "NoAddress" | "Address" | "Word" | "Field"
  /** The whole reason, in words. */
  readonly reason: string
  /** The reason without what differs from row to row: rows with the same fault have the same. */
  readonly cause: string
  /** The place of the column, counted from 0, if it is one. */
  readonly at?: number
  /** The text of the cell, up to 100 characters. */
  readonly value?: string
  /** What the field takes, if that are a few words. */
  readonly allowed?: ReadonlyArray<string>
}

/** A problem that is the same in all rows that have it. */
export const rowProblem = (code: RowProblem["code"], reason: string): RowProblem => ({ code, reason, cause: reason })

/** A text as a report shows it. */
export const cellText = (text: string): string => text.trim().slice(0, 100)

/** Characters that neither show nor take room, and that copying from pages and mails leaves in a text. */
const invisible = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u
/** Each of them. */
export const everyInvisible = new RegExp(invisible, "gu")

const codeOf = (character: string): string =>
  `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}`

/** A text in quotes, short, with a name in place of each character that would not show. */
const shown = (text: string): string => `"${text.slice(0, 100).replaceAll(everyInvisible, codeOf)}"`

/** Names the first invisible character of a text and its place, or gives `undefined`. */
const invisibleIn = (text: string): string | undefined => {
  const found = invisible.exec(text)
  if (found === null) return undefined
  const [character] = found
  const behind = found.index + character.length
  const place =
    behind === text.length
      ? "at the end"
      : found.index === 0
        ? "at the beginning"
        : `after ${shown(text.slice(0, found.index))}`
  return `the invisible character ${codeOf(character)} stands ${place}`
}

const maybeAddress = /(?<=^|[\s<([,;:|])[^\s<>()[\]",;:|@]+@[^\s<>()[\]",;:|@]+(?=$|[\s>)\],;|])/g
const mostAddresses = 3

/** The valid addresses in a text, each once. */
export const addressesIn = (text: string): ReadonlyArray<string> => {
  const found = text.replaceAll(everyInvisible, " ").match(maybeAddress) ?? []
  const addresses = found.map((part) => part.replace(/\?.*/, "").replace(/(?<![.!])[.!]+$/, ""))
  // A domain without a dot is rather the beginning of one.
  return [...new Set(addresses)].filter(
    (address) => emailAddressIssue(address) === undefined && /^[^@]*@.*\./.test(address)
  )
}

/** The valid addresses in a text that is none itself: `Ann <ann@example.com>`, `mailto:ann@example.com`, two in one cell. */
export const likelyAddresses = (text: string): ReadonlyArray<string> =>
  emailAddressIssue(text) === undefined && !isHidden(text)
    ? []
    : // A cell may have 8 MiB; an address is among its first characters.
      addressesIn(text.slice(0, 1000)).slice(0, mostAddresses)

const isAscii = (code: number): boolean => code < 0x80

/** Whether an invisible character stands at an end, where no address has one on purpose. */
export const isHidden = (text: string): boolean =>
  !(isAscii(text.charCodeAt(0)) && isAscii(text.charCodeAt(text.length - 1))) && /^\p{Cf}|\p{Cf}$/u.test(text)

/** Why the text of a cell is no address, and which would do. */
export const addressProblem = (text: string): RowProblem => {
  const addresses = likelyAddresses(text)
  const invisible = invisibleIn(text)
  const issue = emailAddressIssue(text) ?? ""
  const would = addresses.length === 0 ? "" : `; ${oneOf(addresses.map((address) => `"${address}"`))} would do`
  return {
    code: "Address",
    reason: `Email: ${invisible ?? issue}${would}`,
    cause: `Email: ${invisible === undefined ? issue : "an invisible character stands in it"}`,
    value: cellText(text)
  }
}

/** Why a word is none of the values of a field, and how to say which it stands for. */
export const wordProblem = (field: string, values: ReadonlyArray<string>, text: string): RowProblem => {
  const word = text.trim()
  return {
    code: "Word",
    reason:
      `${field}: ${shown(word)} is not ${oneOf(values)}; ` +
      (invisibleIn(word) ?? "a mapping says which of them it stands for"),
    cause: `${field}: not ${oneOf(values)}`,
    value: cellText(text),
    allowed: values
  }
}
