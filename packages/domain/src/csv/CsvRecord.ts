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

/** The longest text that is kept of an unreadable line, in UTF-16 units. */
const keptText = 64 * 1024

const kept = (line: string): string => {
  const text = line.slice(0, keptText + 2).replace(/[\r\n]+$/, "")
  return text.length <= keptText ? text : `${text.slice(0, keptText).toWellFormed()}…`
}

const utf8 = new TextDecoder("utf-8", { ignoreBOM: true })
const quote = 0x22

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

  get isBlank(): boolean {
    return (
      this.problem === undefined && this.count === 1 && (this.start === this.end(0) || this.cells[0]?.trim() === "")
    )
  }

  /** The unreadable line as it stands in the file, or its beginning. */
  get text(): string {
    const end = Math.min(this.end(0), this.start + 4 * (keptText + 2))
    return kept(utf8.decode(this.#piece.bytes.subarray(this.start, end)))
  }
}
