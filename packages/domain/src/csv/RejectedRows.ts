/** The file of the rows that an import rejects, which can be corrected and imported. */
import { Stream, Struct } from "effect"
import { errorColumn } from "./ColumnNames.ts"
import { protectCell, restoreCell } from "./ContactColumns.ts"
import type { FileHeader } from "./FileHeader.ts"
import type { ImportMapping } from "./ImportMapping.ts"

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

const reasonAtEnd = /(?:,|(?<![\s,]))\s*"_error"\s*:\s*"(?:[^"\\]|\\.)*"\s*\}$/

/** A cell from which an import reads the same as from this one, and a spreadsheet no formula. Blank ones may be surplus. */
const safeCell = (cell: string): string => (cell.trim() === "" ? cell : protectCell(restoreCell(cell)))

/** An object with the reason as its last value, on one line. */
const withReason = ({ cells: [text = "{}"], reason }: Pick<RejectedRow, "cells" | "reason">): string => {
  const own = text
    .replaceAll(/[\r\n]+\s*/g, " ")
    .replace(reasonAtEnd, "}")
    .replace(/(?<!\s)\s*\}$/, "")
  return `${own}${own === "{" ? "" : ","}${JSON.stringify(errorColumn)}:${JSON.stringify(reason)}}\n`
}

/**
 * The file of rejected rows in UTF-8: CSV with a byte order mark, their cells, and the reason in the last one, under
 * `_error`; or NDJSON, if the rows were objects of JSON. It can be corrected and imported again.
 * (docs/decisions/jobs.md)
 */
export const rejectedFile = <E, R>(
  { cells, delimiter, format }: FileHeader,
  rows: Stream.Stream<Pick<RejectedRow, "cells" | "reason">, E, R>
): Stream.Stream<Uint8Array, E, R> => {
  // The rows are those of others, and reasons can quote them.
  const lineOf = ({ cells, reason }: Pick<RejectedRow, "cells" | "reason">) =>
    csvLine([...cells.map(safeCell), protectCell(reason)], delimiter)
  const isJson = format === "Ndjson"
  return Stream.make(isJson ? "" : `\ufeff${csvLine([...cells.map(safeCell), errorColumn], delimiter)}`).pipe(
    Stream.concat(Stream.mapArray(rows, (part) => [part.map(isJson ? withReason : lineOf).join("")])),
    Stream.encodeText
  )
}

/**
 * The file of rows that are merged into others with their addresses, in UTF-8: CSV with a byte order mark, the line of each
 * row, that of the row which it is merged into, and the cells of the row; or its object, if it was one of JSON.
 */
export const repeatedFile = <E, R>(
  { cells, delimiter, format }: FileHeader,
  rows: Stream.Stream<{ readonly line: number; readonly winner: number; readonly cells: ReadonlyArray<string> }, E, R>
): Stream.Stream<Uint8Array, E, R> =>
  Stream.make(
    `\ufeff${csvLine(["Line", "WinnerLine", ...(format === undefined ? cells.map(safeCell) : ["Row"])], delimiter)}`
  ).pipe(
    Stream.concat(
      Stream.mapArray(rows, (part) => [
        part
          .map(({ cells, line, winner }) => csvLine([String(line), String(winner), ...cells.map(safeCell)], delimiter))
          .join("")
      ])
    ),
    Stream.encodeText
  )

/** The mapping by which the file of rejected rows is read, which is UTF-8 and begins with its header; `undefined` if it needs none. */
export const rejectedMapping = (
  { delimiter, format }: FileHeader,
  mapping: ImportMapping
): ImportMapping | undefined => {
  const meaning = Struct.omit(mapping, ["encoding", "delimiter", "skipLines", "header"])
  if (Object.keys(meaning).length === 0) return undefined
  return { ...(format === undefined ? { delimiter } : {}), ...meaning }
}

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
