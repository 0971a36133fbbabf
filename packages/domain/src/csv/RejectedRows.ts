/**
 * A file of the rows that an import rejected: the columns and cells of the file they came from, exactly as they were, and
 * behind each row why it was rejected. Corrected, it is imported as it is; not corrected, it is rejected again.
 * (docs/decisions/jobs.md)
 */
import { Schema, Stream } from "effect"
import { errorColumn } from "./ContactColumns.ts"
import { protectCell, restoreCell } from "./CsvCell.ts"

/** How a file of contacts begins. */
export const FileHeader = Schema.Struct({
  cells: Schema.Array(Schema.String),
  delimiter: Schema.Literals([",", ";", "\t"])
})
export type FileHeader = typeof FileHeader.Type

export interface RejectedRow {
  /** Where the row begins in its file, counted from 1. */
  readonly line: number
  readonly reason: string
  /** Its cells; the whole text of a row that could not be split into cells stands in one. */
  readonly cells: ReadonlyArray<string>
}

/** A reader finds the delimiter by what stands outside of quotes in the header, so every candidate is quoted. */
const special = /[",;\t\r\n]/

const record = (cells: ReadonlyArray<string>, delimiter: string): string =>
  `${cells.map((cell) => (special.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)).join(delimiter)}\r\n`

/**
 * The bytes of the file, which says that it is UTF-8 by a byte order mark. The reason is the last cell of its row: under
 * the column `_error`, unless it is the number of cells that was wrong.
 */
export const rejectedFile = <E, R>(
  header: FileHeader,
  rows: Stream.Stream<Pick<RejectedRow, "cells" | "reason">, E, R>
): Stream.Stream<Uint8Array, E, R> =>
  Stream.make(`\ufeff${record([...header.cells, errorColumn], header.delimiter)}`).pipe(
    Stream.concat(
      Stream.mapArray(rows, (part) => [
        // Our words are protected like everybody's: they can quote the file.
        part.map(({ cells, reason }) => record([...cells, protectCell(reason)], header.delimiter)).join("")
      ])
    ),
    Stream.encodeText
  )

/**
 * How to take the reasons out of the records of a file, given its header: from the header itself and from each row.
 * Nothing is taken where there is no column `_error`, in whatever case.
 */
export const withoutReasons = (
  header: ReadonlyArray<string>
): ((cells: ReadonlyArray<string>) => ReadonlyArray<string>) | undefined => {
  const at = header.findLastIndex((name) => restoreCell(name).trim().toLowerCase() === errorColumn)
  if (at < 0) return undefined
  if (at < header.length - 1) return (cells) => cells.toSpliced(at, 1)
  return (cells) => {
    let end = cells.length
    // What a spreadsheet adds is behind the reason.
    while (end > header.length && cells[end - 1] === "") end--
    return cells.slice(0, Math.max(0, end - 1))
  }
}
