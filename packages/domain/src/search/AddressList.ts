/** Addresses in a text that a person pastes, as mail programs, pages and spreadsheets write them. */
import { canonicalEmail, emailAddressIssue } from "../contacts/EmailAddress.ts"
import { correctedAddress } from "../corrections/AddressCorrection.ts"
import { addressesIn, everyInvisible, isHidden } from "../csv/CellProblems.ts"

/** A part of the text that is no address. */
export interface NoAddress {
  /** The part as it is written. */
  readonly text: string
  /** The address that it means, if nothing about that is open. */
  readonly meant?: string | undefined
}

/** What a text holds. */
export interface AddressList {
  /** The addresses in the order of the text, each once, as it is written first. */
  readonly addresses: ReadonlyArray<string>
  /** Those that are written again, each as often as that. */
  readonly repeated: ReadonlyArray<string>
  /** The parts that are none, but for names. */
  readonly others: ReadonlyArray<NoAddress>
}

/** The most characters that are read: some 20,000 addresses. */
export const longestAddressList = 1_000_000

const lineEnd = /[\n\r\v\f\u0085\u2028\u2029]+/

/** A part up to the next comma, semicolon or tab outside of quotes, brackets and parentheses; what is not closed is a sign like any other. */
const part = /((?:"(?:[^"\\]|\\.)*"|<[^<>]*>|\([^()]*\)|[^,;\t])+)|[,;\t]/g

const bracketed = /<([^<>@]*@[^<>]*)>/g

/** Whether a part may be a name before an address in brackets, as in `Meyer, Anna <ann@example.com>`, rather than an address without its sign. */
const isName = (text: string): boolean => !/^\S+\.[^\s.]+$/.test(text)

const isAddress = (text: string): boolean => emailAddressIssue(text) === undefined && !isHidden(text)

/** What a word that holds an `@` says. */
const readWord = (word: string): ReadonlyArray<string | NoAddress> => {
  if (isAddress(word)) return [word]
  const found = addressesIn(word)
  if (found.length === 0) {
    const meant = correctedAddress(word)
    // A notation has the address as it is; what a slip of the hand means is a guess.
    return [meant !== undefined && isAllOf(word, [meant]) ? meant : { text: word, meant }]
  }
  return isAllOf(word, found) ? found : [...found, { text: word }]
}

/** Whether a word holds these addresses and no other. */
const isAllOf = (word: string, found: ReadonlyArray<string>): boolean =>
  found.every((one) => word.includes(one)) && !found.reduce((rest, one) => rest.replaceAll(one, ""), word).includes("@")

/** What a part that holds an `@` says. */
const readPart = (text: string): ReadonlyArray<string | NoAddress> => {
  if (isAddress(text)) return [text]
  const plain = text.replaceAll(everyInvisible, "").trim()
  const inBrackets = Array.from(plain.matchAll(bracketed), ([, inside = ""]) => inside.trim())
  if (inBrackets.length > 0) return inBrackets.flatMap(readPart)
  const words = plain.split(/\s+/).filter((word) => word.includes("@"))
  const read = words.flatMap(readWord)
  if (read.some((one) => typeof one === "string")) return read
  return [{ text: plain, meant: correctedAddress(plain) }]
}

/** What a line says. */
const readLine = (line: string): ReadonlyArray<string | NoAddress> => {
  const parts = Array.from(line.matchAll(part), ([sign, text]) => ({ sign, text: text?.trim() ?? "" }))
  const read = parts.map(({ text }) => (text.includes("@") ? readPart(text) : undefined))
  // The other cells of a row that has an address say nothing here.
  const isRow = line.includes("\t") && read.some((found) => found?.some((one) => typeof one === "string"))
  const all: Array<string | NoAddress> = []
  /** Whether the part behind is an address in brackets, with nothing but names and commas before it. */
  let isBeforeBrackets = false
  for (const [index, { sign, text }] of [...parts.entries()].toReversed()) {
    const found = read[index]
    if (found !== undefined) {
      for (const one of found.toReversed()) all.push(one)
      isBeforeBrackets = text.search(bracketed) >= 0
    } else if (sign === ";") isBeforeBrackets = false
    else if (text.replaceAll(everyInvisible, "").trim() !== "" && !isRow && !(isBeforeBrackets && isName(text))) {
      all.push({ text, meant: correctedAddress(text) })
      isBeforeBrackets = false
    }
  }
  return all.toReversed()
}

/**
 * Reads the addresses of a text: one a line or many, with names or without, separated by commas, semicolons, tabs or spaces, in
 * brackets, with `mailto:`, in the cells of a spreadsheet. Nothing that may be an address is left out in silence: a part that is
 * none, and no name before one, is among the others. Of a text beyond `longestAddressList` only that much is read.
 */
export const readAddressList = (text: string): AddressList => {
  const addresses = new Map<string, string>()
  const repeated: Array<string> = []
  const others: Array<NoAddress> = []
  for (const one of text.slice(0, longestAddressList).split(lineEnd).flatMap(readLine)) {
    if (typeof one !== "string") others.push(one)
    else if (addresses.has(canonicalEmail(one))) repeated.push(one)
    else addresses.set(canonicalEmail(one), one)
  }
  return { addresses: [...addresses.values()], repeated, others }
}
