/**
 * Records as text for people: columns that line up, and one record as a list of its fields. Works on records as they are
 * on the wire, so that a table names things as JSON does.
 */
import { Predicate } from "effect"
import { CliOutput } from "effect/cli"
import { printable } from "./Printable.ts"

const cellText = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (Array.isArray(value)) return value.map(cellText).join(", ")
  return printable(typeof value === "string" ? value : JSON.stringify(value))
}

/**
 * The fields of a record with what is nested in it, by their paths.
 *
 * @category inspection
 * @since 0.1.0
 */
export const fieldsOf = (record: unknown, path = ""): ReadonlyArray<readonly [name: string, text: string]> =>
  Predicate.isObject(record) && !Array.isArray(record)
    ? Object.entries(record).flatMap(([name, value]) => fieldsOf(value, path === "" ? name : `${path}.${name}`))
    : [[printable(path), cellText(record)]]

const padded = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - CliOutput.displayWidth(text)))

const line = (cells: ReadonlyArray<string>, widths: ReadonlyArray<number>): string =>
  cells
    .map((cell, index) => padded(cell, widths[index] ?? 0))
    .join("  ")
    .trimEnd()

/**
 * One record: a field on each line.
 *
 * @category printing
 * @since 0.1.0
 */
export const recordText = (record: unknown): string => {
  const fields = fieldsOf(record)
  const width = Math.max(0, ...fields.map(([name]) => CliOutput.displayWidth(name)))
  return fields.map((field) => line(field, [width])).join("\n")
}

/** A wider cell would leave no room for its neighbours; the record alone, and JSON, have all of it. */
const widestCell = 60

const clipped = (text: string): string => (text.length > widestCell ? `${text.slice(0, widestCell - 1)}…` : text)

/**
 * A table that comes in parts. The first part decides how wide the columns are, and has the header above it.
 *
 * @category printing
 * @since 0.1.0
 */
export const tableOf = (columns: ReadonlyArray<string>) => {
  let widths: ReadonlyArray<number> | undefined
  return (records: ReadonlyArray<unknown>): string => {
    const rows = records.map((record) => {
      const fields = new Map(fieldsOf(record))
      return columns.map((column) => clipped(fields.get(column) ?? ""))
    })
    const lines = widths === undefined ? [columns, ...rows] : rows
    const measured = (widths ??= columns.map((_, index) =>
      Math.max(...lines.map((row) => CliOutput.displayWidth(row[index] ?? "")))
    ))
    return lines.map((row) => line(row, measured)).join("\n")
  }
}
