/**
 * The rows of an export as pieces of its file, each as soon as its rows are read: what a row has of the columns that only a
 * later one shows is nothing, and room for them is made where a piece needs it.
 */
import type { CustomFields } from "@roster/domain"
import type { ContactRow } from "../../contacts/ContactRow.ts"
import type { ExportFormat } from "./ExportFormat.ts"

export interface ExportPiece {
  readonly text: string
  readonly rows: number
  /** The names of custom fields that have a column in it. */
  readonly names: ReadonlyArray<string>
}

/** As much as is worth a call, in characters. */
const pieceLength = 64 * 1024

/** Makes pieces of the rows that it is given, in their order. */
export const makeExportPieces = (format: ExportFormat) => {
  const known = new Set<string>()
  let names: ReadonlyArray<string> = []
  let text = ""
  let rows = 0
  let separator = ""

  /** A column that is empty in every row would not come back from an import: it gets none. */
  const isNew = (own: CustomFields): boolean => {
    for (const name in own) if (own[name] !== "" && !known.has(name)) return true
    return false
  }

  const take = (): ReadonlyArray<ExportPiece> => {
    if (rows === 0) return []
    const piece = { text, rows, names }
    text = ""
    rows = 0
    return [piece]
  }

  return {
    /** The pieces that are full. */
    add: (some: ReadonlyArray<ContactRow>): ReadonlyArray<ExportPiece> => {
      const full: Array<ExportPiece> = []
      for (const row of some) {
        const own = format.fields(row)
        if (isNew(own)) {
          full.push(...take())
          for (const [name, value] of Object.entries(own)) if (value !== "") known.add(name)
          // In alphabetical order, whatever the language of the machine.
          names = [...known].sort()
        }
        text += separator + format.row(row, own, names)
        separator = format.separator
        rows++
        if (text.length >= pieceLength) full.push(...take())
      }
      return full
    },
    /** The piece that is not full. */
    take,
    /** The names of all custom fields that hold something in some row. */
    names: () => names
  }
}
