/** One record of a CSV file, as a range of its bytes. */

/** A piece of the file, and the end of each cell in it. */
export interface CsvPiece {
  readonly bytes: Uint8Array
  readonly delimiter: string
  ends: Int32Array
}

/** The place of a record in a piece, as the reader finds it. */
export interface CsvPlace {
  start: number
  /** The index of its first cell among those of the piece. */
  first: number
  count: number
  isPlain: boolean
  problem: string | undefined
}

/** The problem of a record with a quoted cell that does not end with its quote. */
export const textAfterQuote = "there is text after a closing quote"

/** The problem of a record with a quoted cell that has no end. */
export const neverClosed = "a quote is opened and never closed"

/** Whether a problem is that of a misplaced quote. */
export const isMalformed = (problem: string | undefined): boolean =>
  problem === textAfterQuote || problem === neverClosed

/** The longest text that is kept of an unreadable line, in UTF-16 units. */
const keptText = 64 * 1024

const kept = (line: string): string => {
  const text = line.slice(0, keptText + 2).replace(/(?<![\r\n])[\r\n]+$/, "")
  return text.length <= keptText ? text : `${text.slice(0, keptText).toWellFormed()}…`
}

const quotedText = /"((?:[^"]|"")*)"/y

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const quote = 0x22
const space = 0x20

/** The cells of a record, or its problem. It holds on to its piece of the file, so it must not be kept. */
export class CsvRecord {
  readonly line: number
  readonly problem: string | undefined
  /** The number of cells. */
  readonly count: number
  /** Whether the cells have no quotes and nothing that JSON escapes, so that their bytes can be copied. */
  readonly isPlain: boolean
  readonly start: number
  readonly #piece: CsvPiece
  readonly #first: number

  constructor(piece: CsvPiece, at: CsvPlace, line: number) {
    this.line = line
    this.problem = at.problem
    this.count = at.count
    this.isPlain = at.isPlain
    this.start = at.start
    this.#piece = piece
    this.#first = at.first
  }

  get bytes(): Uint8Array {
    return this.#piece.bytes
  }

  begin(cell: number): number {
    return cell === 0 ? this.start : this.end(cell - 1) + 1
  }

  /** The end of a cell, where its delimiter stands. */
  end(cell: number): number {
    return this.#piece.ends[this.#first + cell] ?? 0
  }

  /** The cells, without their quotes. Those of a malformed record are cut for people, who correct them. */
  get cells(): ReadonlyArray<string> {
    if (isMalformed(this.problem)) return this.#malformedCells
    return this.problem === undefined ? this.#firstCells(this.count) : [this.#text]
  }

  /** The cells of so many columns, if those behind them are blank, or else all cells. */
  within(columns: number): ReadonlyArray<string> {
    return this.problem === undefined && this.count > columns && this.#isBlankFrom(columns)
      ? this.#firstCells(columns)
      : this.cells
  }

  /** Whether all cells from one on have nothing but spaces, as far as their bytes tell. */
  #isBlankFrom(column: number): boolean {
    const { bytes, delimiter } = this.#piece
    const separator = delimiter.charCodeAt(0)
    for (let place = this.begin(column); place < this.end(this.count - 1); place++) {
      if (bytes[place] !== separator && bytes[place] !== space) return false
    }
    return true
  }

  #firstCells(count: number): ReadonlyArray<string> {
    const { bytes, delimiter } = this.#piece
    if (this.isPlain) return utf8.decode(bytes.subarray(this.start, this.end(count - 1))).split(delimiter)
    const cells: Array<string> = []
    for (let cell = 0; cell < count; cell++) {
      const from = this.begin(cell)
      const end = this.end(cell)
      cells.push(
        bytes[from] === quote && from < end
          ? utf8.decode(bytes.subarray(from + 1, end - 1)).replaceAll('""', '"')
          : utf8.decode(bytes.subarray(from, end))
      )
    }
    return cells
  }

  get isBlank(): boolean {
    return (
      this.problem === undefined && this.count === 1 && (this.start === this.end(0) || this.cells[0]?.trim() === "")
    )
  }

  /** The cells of a malformed line. A quoted cell that does not end with its quote keeps the quotes that it has. */
  get #malformedCells(): ReadonlyArray<string> {
    const { delimiter } = this.#piece
    const text = this.#text
    const cells: Array<string> = []
    for (let at = 0; at <= text.length;) {
      quotedText.lastIndex = at
      const [quoted = "", inner = ""] = quotedText.exec(text) ?? []
      const found = text.indexOf(delimiter, at + quoted.length)
      const end = found < 0 ? text.length : found
      const isWhole = quoted !== "" && at + quoted.length === end
      cells.push(isWhole ? inner.replaceAll('""', '"') : text.slice(at, end))
      at = end + 1
    }
    return cells
  }

  /** The unreadable line as it stands in the file, or its beginning. */
  get #text(): string {
    const end = Math.min(this.end(0), this.start + 4 * (keptText + 2))
    return kept(utf8.decode(this.#piece.bytes.subarray(this.start, end)))
  }
}
