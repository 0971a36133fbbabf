/**
 * One record of a CSV file, as the bytes in which it stands.
 */

/** A piece of the file, and where in it each cell ends. */
export interface CsvPiece {
  readonly bytes: Uint8Array
  readonly delimiter: string
  ends: Int32Array
}

/** Where a record stands. */
export interface CsvPlace {
  start: number
  /** Of its first cell among those of the piece. */
  first: number
  count: number
  isPlain: boolean
  problem: string | undefined
}

/** What is kept of a line that is no record, in UTF-16 units. */
const keptText = 64 * 1024

const kept = (line: string): string => {
  const text = line.slice(0, keptText + 2).replace(/[\r\n]+$/, "")
  return text.length <= keptText ? text : `${text.slice(0, keptText).toWellFormed()}…`
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const quote = 0x22

/**
 * The cells of a record, or what is wrong with it. It holds the piece of the file that it stands in, and is not to be kept.
 */
export class CsvRecord {
  readonly line: number
  readonly problem: string | undefined
  /** How many cells it has. */
  readonly count: number
  /** Whether its bytes are those of its cells as they are, and those of JSON too: no quotes, no signs that are escaped. */
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

  /** Behind a cell. The next one begins behind the delimiter that stands there. */
  end(cell: number): number {
    return this.#piece.ends[this.#first + cell] ?? 0
  }

  /** The cells, without their quotes. */
  get cells(): ReadonlyArray<string> {
    const { bytes, delimiter } = this.#piece
    if (this.isPlain) return utf8.decode(bytes.subarray(this.start, this.end(this.count - 1))).split(delimiter)
    const cells: Array<string> = []
    for (let cell = 0; cell < this.count; cell++) {
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

  /** Whether there is nothing in it, so that it is a blank line. */
  get isBlank(): boolean {
    return (
      this.problem === undefined && this.count === 1 && (this.start === this.end(0) || this.cells[0]?.trim() === "")
    )
  }

  /** The line of a record that is none, as it stands in the file, or its beginning. */
  get text(): string {
    const end = Math.min(this.end(0), this.start + 4 * (keptText + 2))
    return kept(utf8.decode(this.#piece.bytes.subarray(this.start, end)))
  }
}
