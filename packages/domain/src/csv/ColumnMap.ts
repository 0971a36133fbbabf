/**
 * What the columns of a file are, where their names do not say it.
 */
import { imported } from "./ContactColumns.ts"
import { restoreCell } from "./CsvCell.ts"

/** Columns of a file, by the names in its header, and what they are to be: fields of the record, or custom fields. */
export type ColumnMap = ReadonlyArray<readonly [column: string, field: string]>

const bareName = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "")
const importedByBareName = new Map(imported.map((name) => [bareName(name), name]))

/** The columns that become custom fields though their names are all but those of fields: "First Name", "last_name". */
export const likelyFields = (header: ReadonlyArray<string>, map: ColumnMap = []): ColumnMap => {
  const mapped = new Set(map.map(([column]) => column.trim().toLowerCase()))
  const names = header.map((cell) => restoreCell(cell).trim())
  const taken = new Set([...names, ...map.map(([, field]) => field)].map((name) => name.toLowerCase()))
  return names.flatMap((name) => {
    const field = importedByBareName.get(bareName(name))
    return field === undefined || taken.has(field.toLowerCase()) || mapped.has(name.toLowerCase())
      ? []
      : [[name, field]]
  })
}
