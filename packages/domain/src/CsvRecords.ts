/**
 * Splitting the text of a CSV file (RFC 4180, any line break) into records, each with the line it begins on. A record
 * that cannot be read costs itself and nothing else: reading goes on with the next line, and a quote that is never closed
 * does not swallow the rows behind it. (docs/decisions/csv.md)
 */

/**
 * The cells of a record, or what is wrong with it.
 *
 * @category models
 * @since 0.1.0
 */
export type CsvRecord = { readonly line: number } & (
  | { readonly cells: ReadonlyArray<string>; readonly problem?: undefined }
  | {
      readonly cells?: undefined
      readonly problem: string
      /** The line as it stands in the file, or its beginning. */
      readonly text: string
    }
)

/** The longest record, in UTF-16 units: room for a text of 1 MB that is all quotes, each of which is written twice. */
const maximumRecord = 4 * 1024 * 1024

const tooLong = `the row is longer than ${maximumRecord} characters`

/** What is kept of a line that is no record, in UTF-16 units. */
const keptText = 64 * 1024

const kept = (line: string): string => {
  const text = line.slice(0, keptText + 2).replace(/[\r\n]+$/, "")
  return text.length <= keptText ? text : `${text.slice(0, keptText).toWellFormed()}…`
}

interface Scanned {
  readonly cells?: ReadonlyArray<string>
  readonly problem?: string
  /** Where the next record begins. */
  readonly end: number
}

const lineBreak = /\r\n|\r|\n/g

/** Behind the line break at or after a place, or `undefined` where it is not certain yet. */
const nextLine = (text: string, from: number, last: boolean): number | undefined => {
  lineBreak.lastIndex = from
  const found = lineBreak.exec(text)
  if (found === null) return last ? text.length : undefined
  // A CR at the very end may be half of a CRLF.
  return found[0] === "\r" && lineBreak.lastIndex === text.length && !last ? undefined : lineBreak.lastIndex
}

/** Reads one record from a place, or gives `undefined` where the text ends before it does. */
const scan = (text: string, start: number, last: boolean, delimiter: string): Scanned | undefined => {
  // The lines of a record that is none are read again, each as a record of its own, so that every row is accounted for.
  const bad = (problem: string): Scanned | undefined => {
    const end = nextLine(text, start, last)
    return end === undefined ? undefined : { problem, end }
  }
  const isBreak = (at: number) => text[at] === "\r" || text[at] === "\n"
  const cells: Array<string> = []
  let at = start
  for (;;) {
    if (text[at] === '"') {
      let close = text.indexOf('"', at + 1)
      while (close >= 0 && text[close + 1] === '"') close = text.indexOf('"', close + 2)
      if (close < 0 || (close + 1 === text.length && !last)) {
        if (close < 0 && (last || text.length - start > maximumRecord)) return bad("a quote is opened and never closed")
        return undefined
      }
      cells.push(text.slice(at + 1, close).replaceAll('""', '"'))
      at = close + 1
      if (at < text.length && text[at] !== delimiter && !isBreak(at)) return bad("there is text behind a closing quote")
    } else {
      const begin = at
      while (at < text.length && text[at] !== delimiter && !isBreak(at)) {
        if (text[at] === '"') return bad("there is a quote in the middle of a cell")
        at++
      }
      cells.push(text.slice(begin, at))
    }
    if (at - start > maximumRecord) return bad(tooLong)
    if (text[at] === delimiter) {
      at++
      continue
    }
    const end = nextLine(text, at, last)
    return end === undefined ? undefined : { cells, end }
  }
}

/** Reads a line without quotes at the speed of `split`, or gives `undefined` where it takes a closer look. */
const scanPlain = (text: string, start: number, quote: number, delimiter: string): Scanned | undefined => {
  const newline = text.indexOf("\n", start)
  if (newline < 0 || newline > quote || newline - start > maximumRecord) return undefined
  const end = text[newline - 1] === "\r" && newline > start ? newline - 1 : newline
  const line = text.slice(start, end)
  return line.includes("\r") ? undefined : { cells: line.split(delimiter), end: newline + 1 }
}

/**
 * Makes a reader that takes the text piece by piece and gives the records that are whole. The last call says that
 * nothing follows.
 *
 * @category constructors
 * @since 0.1.0
 */
export const makeCsvReader = (delimiter: string): ((piece: string, last: boolean) => ReadonlyArray<CsvRecord>) => {
  let rest = ""
  let line = 1
  // The rest of a line that was given up is not held until its end comes.
  let skipping = false
  return (piece, last) => {
    const text = rest + piece
    const records: Array<CsvRecord> = []
    let at = 0
    let quote = -1
    while (at < text.length) {
      if (skipping) {
        const end = nextLine(text, at, last)
        skipping = end === undefined
        if (end === undefined) at = text.endsWith("\r") ? text.length - 1 : text.length
        else {
          line++
          at = end
        }
        if (skipping) break
        continue
      }
      if (quote < at) {
        quote = text.indexOf('"', at)
        if (quote < 0) quote = text.length
      }
      const plain = scanPlain(text, at, quote, delimiter)
      const scanned = plain ?? scan(text, at, last, delimiter)
      if (scanned === undefined) {
        if (text.length - at <= maximumRecord) break
        records.push({ line, problem: tooLong, text: kept(text.slice(at)) })
        skipping = true
        continue
      }
      const { cells, end, problem } = scanned
      records.push(
        cells === undefined
          ? { line, problem: problem ?? "it cannot be read", text: kept(text.slice(at, end)) }
          : { line, cells }
      )
      line += plain === undefined ? (text.slice(at, end).match(lineBreak)?.length ?? 0) : 1
      at = end
    }
    rest = text.slice(at)
    return records
  }
}
