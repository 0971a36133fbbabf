/**
 * Splits a CSV file (RFC 4180, any line break) into records with line numbers. Only a cell that begins with a quote is
 * quoted. After a malformed record, parsing resumes at the next line, so that an unclosed quote does not swallow the
 * rest. Works on the bytes of UTF-8, in which no part of a character looks like a quote or a line break.
 * (docs/decisions/csv.md)
 */
import { joinBytes } from "../values/Bytes.ts"
import { CsvRecord, type CsvPiece, type CsvPlace, neverClosed, textAfterQuote } from "./CsvRecord.ts"

/** The maximum length of a record, in bytes: enough for a text of 1 MB that is all (doubled) quotes. */
export const maximumRecord = 8 * 1024 * 1024

const tooLong = `the row is longer than ${maximumRecord} bytes`

/** The maximum number of cells of a record, as a sheet has columns. */
const maximumCells = 16_384

const tooMany = `the row has more than ${maximumCells} cells; take the surplus ones out`

/** The bytes after which the density of cells is known. */
const longEnough = 4096

const quote = 0x22
const lineFeed = 0x0a
const carriageReturn = 0x0d

const other = 0
const escaped = 1
const ending = 2

/** Classifies the bytes of an unquoted cell: ordinary, escaped in JSON as a quote is, or the end of the cell. */
const kindsOf = (delimiter: number): Uint8Array => {
  const kinds = new Uint8Array(256).fill(escaped, 0, 0x20)
  kinds[0x5c] = kinds[quote] = escaped
  kinds[lineFeed] = kinds[carriageReturn] = kinds[delimiter] = ending
  return kinds
}

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

const lineBreaks = (bytes: Uint8Array, start: number, end: number): number => {
  let count = 0
  for (let at = start; at < end; at++) {
    if (bytes[at] === lineFeed ? bytes[at - 1] !== carriageReturn || at === start : bytes[at] === carriageReturn)
      count++
  }
  return count
}

/**
 * Makes a function that takes the pieces of a file as UTF-8, from the line of that number on, and gives their complete
 * records. The last call has `last`.
 */
export const makeCsvReader = (
  delimiter: string,
  firstLine = 1
): ((piece: Uint8Array, last: boolean) => ReadonlyArray<CsvRecord>) => {
  const separator = delimiter.charCodeAt(0)
  const kinds = kindsOf(separator)
  let rest: Uint8Array = new Uint8Array(0)
  let line = firstLine
  /** The number of cells per byte so far. */
  let density = 1 / 16
  // Whether the rest of an overlong line is being dropped.
  let skipping = false
  const at: CsvPlace = { start: 0, first: 0, count: 0, isPlain: true, problem: undefined }

  const grown = (piece: CsvPiece): Int32Array => {
    const larger = new Int32Array(piece.ends.length * 2)
    larger.set(piece.ends)
    return (piece.ends = larger)
  }

  /** Notes the problem of a record that is not split. */
  const refuse = (piece: CsvPiece, end: number, problem: string): void => {
    piece.ends[at.first] = end
    at.count = 1
    at.isPlain = false
    at.problem = problem
  }

  /** Reports the first line of a malformed record; the lines after it are read as records. */
  const bad = (piece: CsvPiece, last: boolean, problem: string): number => {
    const end = nextLine(piece.bytes, at.start, last)
    if (end >= 0) refuse(piece, end, problem)
    return end
  }

  /** Finds one record and gives the start of the next one, or -1 if the piece ends within it. */
  const scan = (piece: CsvPiece, start: number, last: boolean): number => {
    const { bytes } = piece
    const { length } = bytes
    const table = kinds
    let { ends } = piece
    let cell = at.first
    const most = cell + maximumCells
    let isPlain = true
    at.start = start
    at.problem = undefined
    for (let place = start; ; place++) {
      if (cell + 1 >= ends.length) ends = grown(piece)
      if (place < length && bytes[place] === quote) {
        isPlain = false
        let close = bytes.indexOf(quote, place + 1)
        while (close >= 0 && bytes[close + 1] === quote) close = bytes.indexOf(quote, close + 2)
        if (close < 0 || (close + 1 === length && !last)) {
          return close < 0 && (last || length - start > maximumRecord) ? bad(piece, last, neverClosed) : -1
        }
        place = close + 1
        if (place < length && kinds[bytes[place] ?? 0] !== ending) {
          return bad(piece, last, textAfterQuote)
        }
      } else {
        let kind = other
        let seen = other
        for (; place < length; place++) {
          kind = table[bytes[place] ?? 0] ?? other
          if (kind > escaped) break
          seen |= kind
        }
        if (seen !== other) isPlain = false
      }
      ends[cell++] = place
      if (place - start > maximumRecord) return bad(piece, last, tooLong)
      if (place < length && bytes[place] === separator) {
        if (cell < most) continue
        at.problem = tooMany
        return bad(piece, last, tooMany)
      }
      at.count = cell - at.first
      at.isPlain = isPlain
      return nextLine(bytes, place, last)
    }
  }

  /** Reads the complete records of a piece and keeps the rest. */
  const read = (bytes: Uint8Array, last: boolean, records: Array<CsvRecord>): void => {
    const piece: CsvPiece = { bytes, delimiter, ends: new Int32Array(Math.ceil(bytes.length * density) + 16) }
    at.first = 0
    let start = 0
    while (start < bytes.length) {
      if (skipping) {
        const end = nextLine(bytes, start, last)
        skipping = end < 0
        // A CR at the very end is kept, since it may be half of a CRLF.
        start = !skipping ? end : bytes.at(-1) === carriageReturn ? bytes.length - 1 : bytes.length
        if (skipping) break
        line++
        continue
      }
      let end = scan(piece, start, last)
      if (end < 0) {
        if (at.problem === undefined && bytes.length - start <= maximumRecord) break
        // The rest of the line is not waited for.
        skipping = true
        end = start
        refuse(piece, bytes.length, at.problem ?? tooLong)
      }
      records.push(new CsvRecord(piece, at, line))
      at.first += at.count
      line += at.isPlain ? 1 : at.problem === undefined ? lineBreaks(bytes, start, end) : skipping ? 0 : 1
      start = end
    }
    if (start > longEnough) density = (1.1 * at.first) / start
    rest = bytes.slice(start)
  }

  return (content, last) => {
    const records: Array<CsvRecord> = []
    // A Node buffer is another class, and monomorphic code is faster.
    let bytes = new Uint8Array(content.buffer, content.byteOffset, content.length)
    const lineEnd = rest.length === 0 || last ? 0 : bytes.indexOf(lineFeed) + 1
    if (lineEnd > 0) {
      // Only the line that the rest belongs to is copied, not the whole piece.
      read(joinBytes([rest, bytes.subarray(0, lineEnd)]), false, records)
      bytes = bytes.subarray(lineEnd)
    }
    read(joinBytes([rest, bytes]), last, records)
    return records
  }
}
