/** Rows of a file that are no contacts, put right: checked as an import reads them, proposed, and put in their place. */
import { Option, Result, Stream } from "effect"
import type { ContactPayload } from "../contacts/Contact.ts"
import {
  addressColumn,
  faultOf,
  importColumns,
  importRow,
  restoreCell,
  type RowFault,
  rowLists
} from "../csv/ContactColumns.ts"
import type { ImportMapping } from "../csv/ImportMapping.ts"
import type { ImportRow } from "../csv/ImportRow.ts"
import type { FileHeader } from "../csv/FileHeader.ts"
import { correctedAddress } from "./AddressCorrection.ts"

/** The cells of a row. */
export type RowCells = ReadonlyArray<string>

/** What an import makes of the cells of a row, and what they probably mean. */
export interface RowCheck {
  /** The contact, or what is wrong. */
  readonly read: (cells: RowCells) => Result.Result<ContactPayload, RowFault>
  /** The lists that they name. */
  readonly lists: (cells: RowCells) => ImportRow["lists"]
  /** The cells with a slip put right, by which they are a contact; `undefined` if there is none, or none that is certain. */
  readonly propose: (cells: RowCells) => RowCells | undefined
}

/** Makes the check of the rows below a header. There is none for rows of JSON, which are corrected in their file. */
export const makeRowCheck = ({ cells: header, format }: FileHeader, mapping: ImportMapping): RowCheck | undefined => {
  const columns = format === undefined ? Result.getOrUndefined(importColumns(header, mapping)) : undefined
  if (columns === undefined) return undefined
  const at = addressColumn(columns)

  const proposals = (cells: RowCells): ReadonlyArray<RowCells> => {
    const address = correctedAddress(restoreCell(cells[at] ?? "").trim())
    if (address !== undefined) return [cells.with(at, address)]
    // The comma of `ann@example,com` has made two cells of one.
    const both = `${restoreCell(cells[at] ?? "").trim()},${(cells[at + 1] ?? "").trim()}`
    const joined = cells.length > header.length ? correctedAddress(both) : undefined
    return joined === undefined ? [] : [cells.toSpliced(at, 2, joined)]
  }

  return {
    read: (cells) =>
      Result.mapError(importRow(columns, cells), (problem) => faultOf(problem, { columns, header, cells })),
    lists: (cells) => Result.getOrUndefined(rowLists(columns, cells)),
    propose: (cells) =>
      Result.isSuccess(importRow(columns, cells))
        ? undefined
        : proposals(cells).find((proposed) => Result.isSuccess(importRow(columns, proposed)))
  }
}

/** A row with other cells, at its place in the file. */
const withCells = ({ header, line }: ImportRow, cells: RowCells, { lists, read }: RowCheck): ImportRow => {
  const contact = read(cells)
  return {
    line,
    header,
    cells,
    contact: Result.mapError(contact, ({ reason }) => reason),
    lists: lists(cells),
    fault: Option.getOrUndefined(Result.getFailure(contact)),
    record: { names: header.cells, cells }
  }
}

/**
 * The rows of a file with other cells for some of them, by their lines. Each stays at its place, so that which of the rows with
 * the same address is imported is decided as if the file had been so: a corrected row overwrites no later one.
 */
export const correctedRows = <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  corrections: ReadonlyMap<number, RowCells>,
  mapping: ImportMapping
): Stream.Stream<ImportRow, E, R> => {
  if (corrections.size === 0) return rows
  let check: RowCheck | undefined
  return Stream.map(rows, (row) => {
    const cells = corrections.get(row.line)
    if (cells === undefined) return row
    check ??= makeRowCheck(row.header, mapping)
    return check === undefined ? row : withCells(row, cells, check)
  })
}
