/** The rows that an import rejects, and the CSV file of them, which can be corrected and imported again. */
import { Schema, Stream } from "effect"
import { errorColumn } from "./ColumnNames.ts"
import { protectCell, restoreCell } from "./ContactColumns.ts"
import { Delimiter } from "./ImportMapping.ts"

/** The header of a file of contacts and the delimiter of its cells. */
export const FileHeader = Schema.Struct({
  /** The texts of the cells, in the order of the file. */
  cells: Schema.Array(Schema.String),
  /** The character between two cells. */
  delimiter: Delimiter
})
export interface FileHeader extends Schema.Schema.Type<typeof FileHeader> {}

/** A row that an import rejected, and why. */
export interface RejectedRow {
  /** The line on which the row begins, counted from 1. */
  readonly line: number
  /** Why the import rejected the row, in words. */
  readonly reason: string
  /** The address that would do in place of that of the row; several are listed. */
  readonly suggestion?: string | undefined
  /** Its cells, as far as it can be split; those with a misplaced quote keep their quotes. */
  readonly cells: ReadonlyArray<string>
}

/** Readers detect the delimiter outside of quotes in the header, so every candidate is quoted. */
const special = /[",;\t|\r\n]/

/** A line of a CSV file. */
export const csvLine = (cells: ReadonlyArray<string>, delimiter: string): string =>
  `${cells.map((cell) => (special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(delimiter)}\r\n`

/**
 * The file of rejected rows in UTF-8 with a byte order mark: their cells, and the reason in the last one, under
 * `_error`. It can be corrected and imported again. (docs/decisions/jobs.md)
 */
export const rejectedFile = <E, R>(
  header: FileHeader,
  rows: Stream.Stream<Pick<RejectedRow, "cells" | "reason">, E, R>
): Stream.Stream<Uint8Array, E, R> =>
  Stream.make(`\ufeff${csvLine([...header.cells, errorColumn], header.delimiter)}`).pipe(
    Stream.concat(
      Stream.mapArray(rows, (part) => [
        // Reasons can quote the file, so they are protected too.
        part.map(({ cells, reason }) => csvLine([...cells, protectCell(reason)], header.delimiter)).join("")
      ])
    ),
    Stream.encodeText
  )

/** The reasons among the cells of a file of rejected rows. */
export interface Reasons {
  /** The cells of the header or of a row without the reason. */
  readonly without: (cells: ReadonlyArray<string>) => ReadonlyArray<string>
  /** The reason of a row. */
  readonly of: (cells: ReadonlyArray<string>) => string
}

/** Finds the reasons by the header, or `undefined` without a column `_error`. */
export const reasonsIn = (header: ReadonlyArray<string>): Reasons | undefined => {
  const at = header.findLastIndex((name) => restoreCell(name).trim().toLowerCase() === errorColumn)
  if (at < 0) return undefined
  if (at < header.length - 1) return { without: (cells) => cells.toSpliced(at, 1), of: (cells) => cells[at] ?? "" }
  const behind = (cells: ReadonlyArray<string>): number => {
    let end = cells.length
    // Spreadsheets add empty cells after the reason.
    while (end > header.length && cells[end - 1] === "") end--
    return end
  }
  return {
    without: (cells) => cells.slice(0, Math.max(0, behind(cells) - 1)),
    of: (cells) => cells[behind(cells) - 1] ?? ""
  }
}
