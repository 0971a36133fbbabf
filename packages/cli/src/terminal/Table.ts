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

const instant = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(?:\.\d+)?Z$/

/** A time as people read it, which is in UTC, as rules mean it. */
const timeInWords = /^(\d{4}-\d\d-\d\d \d\d:\d\d:\d\d) UTC$/

/** Fields whose texts are those of people, and stay as they are. */
const foreign = new Set(["CustomFields", "Examples"])

/** A record with its times as people read them. */
export const timesInWords = (value: unknown): unknown => {
  if (Predicate.isString(value)) return value.replace(instant, "$1 $2 UTC")
  if (Array.isArray(value)) return value.map(timesInWords)
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, foreign.has(name) ? field : timesInWords(field)])
  )
}

const withoutZone = (text: string): string => text.replace(timeInWords, "$1")

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

/** Maximum width of a cell, which leaves room for its neighbours. A single record, `--wide` and JSON show the whole text. */
const widestCell = 60

/** Minimum width of a column: a narrower one is of no use. */
const narrowestCell = 12

/** Minimum width of a last column of sentences, which the terminal wraps. */
const narrowestSentence = 24

/** Cuts a cell. The end of a path says more than its start. */
const clipped = (text: string, width: number): string => {
  if (CliOutput.displayWidth(text) <= width) return text
  const isPath = /[/\\]/.test(text)
  let kept = ""
  for (const character of isPath ? Array.from(text).toReversed() : text) {
    const next = isPath ? character + kept : kept + character
    if (CliOutput.displayWidth(next) >= width) break
    kept = next
  }
  return isPath ? `…${kept}` : `${kept}…`
}

/** The columns that identify a record: the next command needs them whole, so that they are never cut. */
const identifying = new Set(["id", "Run", "Email", "Name", "PublicExportID", "MessageID"])

export interface TableOptions {
  /** Width of the terminal; `undefined` where there is none, infinite where nothing is cut. */
  readonly available?: number | undefined
  /** Whether the last column holds sentences, which are not cut. */
  readonly hasSentences?: boolean | undefined
  /** Whether the user asked for these columns, so that each of them is shown. */
  readonly areAsked?: boolean | undefined
  /** The fields of a record that columns name. */
  readonly fieldsIn?: typeof fieldsOf
}

interface Column {
  readonly name: string
  /** Its name, with the zone of its times. */
  readonly heading: string
  /** Whether its cells are times, of which the heading has the zone. */
  readonly hasTimes: boolean
  readonly place: number
  /** Whether its texts are never cut, nor the column left out. */
  readonly isNeeded: boolean
  readonly narrowest: number
  width: number
}

const widthOf = (columns: ReadonlyArray<Column>, width: (column: Column) => number): number =>
  columns.reduce((sum, column) => sum + width(column), gap * (columns.length - 1))

/** Leaves out the last columns until the others fit at their narrowest, and then narrows the widest. */
const fitted = (all: ReadonlyArray<Column>, available: number, areAsked: boolean): ReadonlyArray<Column> => {
  let columns = all
  while (widthOf(columns, ({ narrowest }) => narrowest) > available) {
    const last = areAsked ? undefined : columns.findLast(({ isNeeded, place }) => place > 0 && !isNeeded)
    if (last === undefined) break
    columns = columns.filter((column) => column !== last)
  }
  while (widthOf(columns, ({ width }) => width) > available) {
    const [widest] = columns
      .filter(({ narrowest, width }) => width > narrowest)
      .toSorted((one, other) => other.width - one.width)
    if (widest === undefined) break
    widest.width--
  }
  return columns
}

/** Formats a table in parts, which fit into the terminal if possible. The first one has the header and sets the widths. */
export const tableOf = (names: ReadonlyArray<string>, options: TableOptions = {}) => {
  const { areAsked = false, available, fieldsIn = fieldsOf, hasSentences = false } = options
  let columns: ReadonlyArray<Column> | undefined
  const isLast = (place: number) => place === names.length - 1

  const measured = (name: string, place: number, rows: ReadonlyArray<ReadonlyArray<string>>): Column => {
    const texts = rows.map((row) => row[place] ?? "")
    const filled = texts.filter((text) => text !== "")
    const hasTimes = filled.length > 0 && filled.every((text) => timeInWords.test(text))
    const heading = hasTimes ? `${name} (UTC)` : name
    const cells = hasTimes ? texts.map(withoutZone) : texts
    const widest = Math.max(...[heading, ...cells].map((text) => CliOutput.displayWidth(text)))
    const given = { name, heading, hasTimes, place }
    const isSentence = hasSentences && isLast(place)
    if (isSentence) return { ...given, isNeeded: true, narrowest: narrowestSentence, width: narrowestSentence }
    const isNeeded = identifying.has(name)
    // A part of a number or a time is another one.
    const isWhole = isNeeded || cells.every((cell) => /^[\d.,:\- ]*$/.test(cell))
    // The last column has no neighbour.
    const isCapped = available !== Number.POSITIVE_INFINITY && !isWhole && !isLast(place)
    return {
      ...given,
      isNeeded,
      narrowest: isWhole ? widest : Math.min(narrowestCell, widest),
      width: isCapped ? Math.min(widestCell, widest) : Math.min(widest, available ?? widest)
    }
  }

  return {
    part: (records: ReadonlyArray<unknown>): string => {
      const rows = records.map((record) => {
        const fields = new Map(fieldsIn(record))
        return names.map((name) => printable(fields.get(name) ?? ""))
      })
      const isFirst = columns === undefined
      const shown = (columns ??= fitted(
        names.map((name, place) => measured(name, place, rows)),
        available ?? Number.POSITIVE_INFINITY,
        areAsked
      ))
      const cellsOf = (row: ReadonlyArray<string>) =>
        shown.map(({ hasTimes, isNeeded, place, width }) => {
          const cell = row[place] ?? ""
          const text = hasTimes ? withoutZone(cell) : cell
          // A part of a time is another one.
          return isNeeded || timeInWords.test(cell) ? text : clipped(text, width)
        })
      const headings = shown.map(({ heading, width }) => clipped(heading, width))
      return [...(isFirst ? [headings] : []), ...rows.map(cellsOf)]
        .map((cells) =>
          line(
            cells,
            shown.map(({ width }) => width)
          )
        )
        .join("\n")
    },
    /** The columns that are not shown. */
    leftOut: (): ReadonlyArray<string> =>
      columns === undefined ? [] : names.filter((name) => columns?.every((column) => column.name !== name))
  }
}
