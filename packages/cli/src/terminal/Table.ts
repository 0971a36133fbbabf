/** Formats records in their wire form as a table, or one record as a list of its fields. */
import { Predicate } from "effect"
import { CliOutput } from "effect/cli"
import { printable } from "./Printable.ts"

const valueText = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (Array.isArray(value)) return value.map(valueText).join(", ")
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** The fields of a record with their texts, unescaped. Nested fields are named by their paths. */
export const fieldsOf = (record: unknown, path = ""): ReadonlyArray<readonly [name: string, text: string]> =>
  Predicate.isObject(record) && !Array.isArray(record)
    ? Object.entries(record).flatMap(([name, value]) => fieldsOf(value, path === "" ? name : `${path}.${name}`))
    : [[path, valueText(record)]]

/** Width of the space between columns. */
const gap = 2

const padded = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - CliOutput.displayWidth(text)))

const line = (cells: ReadonlyArray<string>, widths: ReadonlyArray<number>): string =>
  cells
    .map((cell, index) => padded(cell, widths[index] ?? 0))
    .join(" ".repeat(gap))
    .trimEnd()

/** One record, with a field on each line. */
export const recordText = (record: unknown): string => {
  const fields = fieldsOf(record).map((field) => field.map(printable))
  const width = Math.max(0, ...fields.map(([name = ""]) => CliOutput.displayWidth(name)))
  return fields.map((field) => line(field, [width])).join("\n")
}

/** Maximum width of a cell, which leaves room for its neighbours. A single record and JSON show the whole text. */
const widestCell = 60

/** Minimum width of a column: a narrower one is of no use. */
const narrowestCell = 8

const clipped = (text: string, width: number): string => {
  if (CliOutput.displayWidth(text) <= width) return text
  let kept = ""
  for (const character of text) {
    if (CliOutput.displayWidth(kept + character) >= width) break
    kept += character
  }
  return `${kept}…`
}

/** The columns that identify a record: the next command needs them whole, so that they are never cut. */
const identifying = new Set(["id", "Email", "Name", "PublicExportID", "MessageID"])

const isIdentifying = (column: string | undefined): boolean => column !== undefined && identifying.has(column)

/** Shrinks the widest column until the line fits, or no column can shrink further. */
const fitted = (
  columns: ReadonlyArray<string>,
  widths: ReadonlyArray<number>,
  available: number
): ReadonlyArray<number> => {
  const fitting = [...widths]
  for (;;) {
    const line = fitting.reduce((sum, width) => sum + width, gap * (fitting.length - 1))
    const widest = Math.max(...fitting.filter((_, index) => !isIdentifying(columns[index])))
    if (line <= available || widest <= narrowestCell) return fitting
    const place = fitting.findIndex((width, index) => width === widest && !isIdentifying(columns[index]))
    fitting[place] = Math.max(narrowestCell, widest - (line - available))
  }
}

/** Formats a table in parts; the first has the header and sets the widths, if possible at most `available` in all. */
export const tableOf = (
  columns: ReadonlyArray<string>,
  available = Number.POSITIVE_INFINITY,
  fieldsIn: (record: unknown) => ReadonlyArray<readonly [name: string, text: string]> = fieldsOf
) => {
  let widths: ReadonlyArray<number> | undefined
  return (records: ReadonlyArray<unknown>): string => {
    const rows = records.map((record) => {
      const fields = new Map(fieldsIn(record))
      return columns.map((column) => printable(fields.get(column) ?? ""))
    })
    const lines = widths === undefined ? [columns, ...rows] : rows
    const measured = (widths ??= fitted(
      columns,
      columns.map((_, index) => {
        const widest = Math.max(...lines.map((row) => CliOutput.displayWidth(row[index] ?? "")))
        // The last column has no neighbour.
        return index === columns.length - 1 || isIdentifying(columns[index]) ? widest : Math.min(widestCell, widest)
      }),
      available
    ))
    return lines
      .map((row) =>
        line(
          row.map((cell, index) =>
            isIdentifying(columns[index]) ? cell : clipped(cell, measured[index] ?? widestCell)
          ),
          measured
        )
      )
      .join("\n")
  }
}
