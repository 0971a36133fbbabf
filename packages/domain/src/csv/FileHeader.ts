/** What the first line of a file of contacts says, and what stands between its cells. */
import { Schema } from "effect"

/** The characters that may stand between two cells. */
export const Delimiter = Schema.Literals([",", ";", "\t", "|"])
export type Delimiter = typeof Delimiter.Type

/** The header of a file of contacts and the delimiter of its cells. */
export const FileHeader = Schema.Struct({
  /** The texts of the cells, in the order of the file. */
  cells: Schema.Array(Schema.String),
  /** The character between two cells. */
  delimiter: Delimiter,
  /** What the file is (default: CSV). The one cell of a row of NDJSON is its object. */
  format: Schema.optionalKey(Schema.Literals(["Ndjson"]))
})
export interface FileHeader extends Schema.Schema.Type<typeof FileHeader> {}

/** The length of a header that shows its delimiter, in UTF-16 units. */
export const sniffed = 64 * 1024

const quotedCell = /(^|[,;\t|\r\n])"((?:[^"]|"")*)(?:"|$)/g

/** The text with a placeholder for each quoted cell that contains separators, and the others without quotes. */
export const unquoted = (text: string): string =>
  text
    .slice(0, sniffed)
    .replaceAll(quotedCell, (_, before: string, cell: string) => before + (/[,;\t|\r\n]/.test(cell) ? "_" : cell))

/** The end of a line. */
export const lineBreak = /\r\n|\r|\n/

/** Detects the delimiter by the earliest address column, since later names may contain others, or by frequency. */
export const sniffDelimiter = (head: string): Delimiter => {
  const header = unquoted(head).split(lineBreak, 1)[0] ?? ""
  const look = (delimiter: Delimiter) => {
    const cells = header.split(delimiter)
    const email = cells.findIndex((cell) => cell.trim().toLowerCase() === "email")
    const before = email < 0 ? Infinity : cells.slice(0, email).join(delimiter).length
    return { delimiter, before, count: cells.length }
  }
  return Delimiter.literals
    .map(look)
    .reduce((best, next) =>
      next.before < best.before || (next.before === best.before && next.count > best.count) ? next : best
    ).delimiter
}
