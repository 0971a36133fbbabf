/**
 * Records as text for people: columns that line up, and one record as a list of its fields. Works on records as they are
 * on the wire, so that a table names things as JSON does.
 */
import { Predicate } from "effect"
import { CliOutput } from "effect/cli"
import { printable } from "./Printable.ts"

const valueText = (value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (Array.isArray(value)) return value.map(valueText).join(", ")
  return typeof value === "string" ? value : JSON.stringify(value)
}

/** The fields of a record with what is nested in it, by their paths; their texts exactly as they are. */
export const fieldsOf = (record: unknown, path = ""): ReadonlyArray<readonly [name: string, text: string]> =>
  Predicate.isObject(record) && !Array.isArray(record)
    ? Object.entries(record).flatMap(([name, value]) => fieldsOf(value, path === "" ? name : `${path}.${name}`))
    : [[path, valueText(record)]]

/** The space between columns. */
const gap = 2

const padded = (text: string, width: number): string =>
  text + " ".repeat(Math.max(0, width - CliOutput.displayWidth(text)))

const line = (cells: ReadonlyArray<string>, widths: ReadonlyArray<number>): string =>
  cells
    .map((cell, index) => padded(cell, widths[index] ?? 0))
    .join(" ".repeat(gap))
    .trimEnd()

/** One record: a field on each line. */
export const recordText = (record: unknown): string => {
  const fields = fieldsOf(record).map((field) => field.map(printable))
  const width = Math.max(0, ...fields.map(([name = ""]) => CliOutput.displayWidth(name)))
  return fields.map((field) => line(field, [width])).join("\n")
}

/** A wider cell would leave no room for its neighbours; the record alone, and JSON, have all of it. */
const widestCell = 60

/** A column that is narrower says nothing. */
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

/** Takes from the widest column until the line fits, or nothing more can be taken. */
const fitted = (widths: ReadonlyArray<number>, available: number): ReadonlyArray<number> => {
  const fitting = [...widths]
  for (;;) {
    const line = fitting.reduce((sum, width) => sum + width, gap * (fitting.length - 1))
    const widest = Math.max(...fitting)
    if (line <= available || widest <= narrowestCell) return fitting
    fitting[fitting.indexOf(widest)] = Math.max(narrowestCell, widest - (line - available))
  }
}

/**
 * A table that comes in parts. The first part decides how wide the columns are, and has the header above it; the lines of
 * a table that is to fit are no longer than `available`, as far as that can be done.
 */
export const tableOf = (columns: ReadonlyArray<string>, available = Number.POSITIVE_INFINITY) => {
  let widths: ReadonlyArray<number> | undefined
  return (records: ReadonlyArray<unknown>): string => {
    const rows = records.map((record) => {
      const fields = new Map(fieldsOf(record))
      return columns.map((column) => printable(fields.get(column) ?? ""))
    })
    const lines = widths === undefined ? [columns, ...rows] : rows
    const measured = (widths ??= fitted(
      columns.map((_, index) => {
        const widest = Math.max(...lines.map((row) => CliOutput.displayWidth(row[index] ?? "")))
        // The last one has no neighbour.
        return index === columns.length - 1 ? widest : Math.min(widestCell, widest)
      }),
      available
    ))
    return lines
      .map((row) =>
        line(
          row.map((cell, index) => clipped(cell, measured[index] ?? widestCell)),
          measured
        )
      )
      .join("\n")
  }
}
