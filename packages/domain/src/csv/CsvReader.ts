/**
 * Splits a CSV file (RFC 4180, any line break) into records with line numbers. Only a cell that begins with a quote is
 * quoted. After a malformed record, reading resumes at the next line, so that an unclosed quote does not swallow the
 * rest. It scans the bytes of UTF-8, in which no part of a character looks like a quote or a line break, and makes the
 * texts of each record from its own bytes, so that a text which is kept keeps no more than its record in memory.
 * (docs/decisions/csv.md)
 */
import { joinBytes } from "../values/Bytes.ts"

/** A record of a file: its cells without their quotes, or its problem. */
export interface CsvRecord {
  readonly line: number
  /** Those of a malformed record are cut for people, who correct them; any other one with a problem is a single cell. */
  readonly cells: ReadonlyArray<string>
  readonly problem: string | undefined
}

/** The maximum length of a record, in bytes: enough for a text of 1 MB that is all (doubled) quotes. */
export const maximumRecord = 8 * 1024 * 1024

/** The maximum number of cells of a record, as a sheet has columns. */
const maximumCells = 16_384

const tooLong = `the row is longer than ${maximumRecord} bytes`
const tooMany = `the row has more than ${maximumCells} cells; take the surplus ones out`
const textAfterQuote = "there is text after a closing quote"
const neverClosed = "a quote is opened and never closed"

/** Whether a problem is that of a misplaced quote. */
export const isMalformed = (problem: string | undefined): boolean =>
  problem === textAfterQuote || problem === neverClosed

const quote = 0x22
const lineFeed = 0x0a
const carriageReturn = 0x0d

const decoder = new TextDecoder("utf-8", { ignoreBOM: true })
const textOf = (bytes: Uint8Array, from: number, end: number): string => decoder.decode(bytes.subarray(from, end))

/** The start of the next line, or -1 while the piece does not show it. */
export const nextLine = (bytes: Uint8Array, from: number, last: boolean): number => {
  let at = from
  while (at < bytes.length && bytes[at] !== lineFeed && bytes[at] !== carriageReturn) at++
  if (at >= bytes.length) return last ? bytes.length : -1
  if (bytes[at] === lineFeed) return at + 1
  // A CR at the very end may be half of a CRLF.
  if (at + 1 === bytes.length && !last) return -1
  return bytes[at + 1] === lineFeed ? at + 2 : at + 1
}

/** Makes a function that finds the next such byte from a place on, which never goes back, or the end. */
const finder = (bytes: Uint8Array, byte: number) => {
  let at = -1
  return (from: number): number => {
    if (at >= from) return at
    at = bytes.indexOf(byte, from)
    return at < 0 ? (at = bytes.length) : at
  }
}

const lineBreaks = (bytes: Uint8Array, start: number, end: number): number => {
  let count = 0
  for (let at = start; at < end; at = nextLine(bytes, at, true)) count++
  return count
}

interface Split {
  readonly cells: ReadonlyArray<string>
  /** Where its line break is, or the end of the bytes. */
  readonly end: number
}

/** Splits a record with quotes, or gives its problem; `undefined` while it may go on behind the bytes. */
const splitQuoted = (
  bytes: Uint8Array,
  start: number,
  separator: number,
  last: boolean
): Split | string | undefined => {
  const { length } = bytes
  const cells: Array<string> = []
  for (let at = start; ; at++) {
    const from = at
    const isQuoted = bytes[at] === quote
    if (isQuoted) {
      let close = bytes.indexOf(quote, at + 1)
      while (close >= 0 && bytes[close + 1] === quote) close = bytes.indexOf(quote, close + 2)
      if (close < 0) return last || length - start > maximumRecord ? neverClosed : undefined
      at = close + 1
    } else while (at < length && bytes[at] !== separator && bytes[at] !== lineFeed && bytes[at] !== carriageReturn) at++
    if (at - start > maximumRecord) return tooLong
    if (at === length && !last) return undefined
    const isLast = bytes[at] !== separator
    if (isQuoted && isLast && at < length && bytes[at] !== lineFeed && bytes[at] !== carriageReturn)
      return textAfterQuote
    cells.push(isQuoted ? textOf(bytes, from + 1, at - 1).replaceAll('""', '"') : textOf(bytes, from, at))
    if (isLast) return { cells, end: at }
    if (cells.length === maximumCells) return tooMany
  }
}

/** The longest text that is kept of an unreadable line, in UTF-16 units. */
const keptText = 64 * 1024

/** An unreadable line as it stands in the file, or its beginning. */
const unreadable = (bytes: Uint8Array, start: number, end: number): string => {
  const text = textOf(bytes, start, Math.min(end, start + 4 * (keptText + 2)))
    .slice(0, keptText + 2)
    .replace(/(?<![\r\n])[\r\n]+$/, "")
  return text.length <= keptText ? text : `${text.slice(0, keptText).toWellFormed()}…`
}

const quotedText = /"((?:[^"]|"")*)"/y

/** The cells of a malformed line. A quoted cell that does not end with its quote keeps the quotes that it has. */
const malformedCells = (text: string, delimiter: string): ReadonlyArray<string> => {
  const cells: Array<string> = []
  for (let at = 0; at <= text.length;) {
    quotedText.lastIndex = at
    const [quoted = "", inner = ""] = quotedText.exec(text) ?? []
    const next = text.indexOf(delimiter, at + quoted.length)
    const end = next < 0 ? text.length : next
    const isWhole = quoted !== "" && at + quoted.length === end
    cells.push(isWhole ? inner.replaceAll('""', '"') : text.slice(at, end))
    at = end + 1
  }
  return cells
}

const isBlank = (cells: ReadonlyArray<string>): boolean => cells.length === 1 && cells[0]?.trim() === ""

/**
 * Makes a function that takes the pieces of a file as UTF-8, from the line of that number on, and gives their complete
 * records but those that are blank. The last call has `last`.
 */
export const makeCsvReader = (
  delimiter: string,
  firstLine = 1
): ((piece: Uint8Array, last: boolean) => ReadonlyArray<CsvRecord>) => {
  const separator = delimiter.charCodeAt(0)
  /** What is read of an unfinished record, and of pieces that are too small to look at it again. */
  let held: Array<Uint8Array> = []
  let heldLength = 0
  let enough = 0
  let line = firstLine
  // Whether the rest of an overlong line is being dropped.
  let skipping = false

  const splitLine = (bytes: Uint8Array, start: number, end: number): Split | string => {
    if (end - start > maximumRecord) return tooLong
    const cells = textOf(bytes, start, end).split(delimiter, maximumCells + 1)
    return cells.length > maximumCells ? tooMany : { cells, end }
  }

  /** Reads the complete records, and returns where the rest begins. */
  const read = (bytes: Uint8Array, last: boolean, records: Array<CsvRecord>): number => {
    const { length } = bytes
    const quotes = finder(bytes, quote)
    const feeds = finder(bytes, lineFeed)
    const returns = finder(bytes, carriageReturn)
    let start = 0
    while (start < length) {
      let next: number
      if (skipping) {
        next = nextLine(bytes, start, last)
        // A CR at the very end is kept, since it may be half of a CRLF.
        if (next < 0) return bytes[length - 1] === carriageReturn ? length - 1 : length
        skipping = false
        line++
        start = next
        continue
      }
      const end = Math.min(feeds(start), returns(start))
      const isOneLine = quotes(start) >= end
      const split = isOneLine ? splitLine(bytes, start, end) : splitQuoted(bytes, start, separator, last)
      next = typeof split === "object" ? nextLine(bytes, split.end, last) : -1
      if (typeof split === "object" && next >= 0) {
        if (!isBlank(split.cells)) records.push({ line, cells: split.cells, problem: undefined })
        line += isOneLine ? 1 : lineBreaks(bytes, start, next)
      } else {
        // A CR may follow.
        if (typeof split !== "string" && length - start <= maximumRecord + 1) return start
        const problem = typeof split === "string" ? split : tooLong
        // The lines after its first one are records, and the rest of the first is not waited for.
        next = nextLine(bytes, start, last)
        skipping = next < 0
        if (skipping) next = length
        const text = unreadable(bytes, start, next)
        records.push({ line, cells: isMalformed(problem) ? malformedCells(text, delimiter) : [text], problem })
        if (!skipping) line++
      }
      start = next
    }
    return start
  }

  return (piece, last) => {
    held.push(piece)
    heldLength += piece.length
    if (heldLength < enough && !last) return []
    const records: Array<CsvRecord> = []
    const joined = joinBytes(held)
    // A Node buffer is another class, and monomorphic code is faster.
    const bytes = new Uint8Array(joined.buffer, joined.byteOffset, joined.length)
    const rest = bytes.slice(read(bytes, last, records))
    held = [rest]
    heldLength = rest.length
    // A record is looked at again when it may be twice as long, so that pieces of any size take linear time.
    enough = Math.min(2 * rest.length, maximumRecord + 1)
    return records
  }
}
