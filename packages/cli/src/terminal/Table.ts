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

const two = (part: number): string => String(part).padStart(2, "0")

/** A time in the zone of the reader. */
export const localTime = (time: Date): string => {
  const day = [time.getFullYear(), two(time.getMonth() + 1), two(time.getDate())].join("-")
  return `${day} ${[time.getHours(), time.getMinutes(), time.getSeconds()].map(two).join(":")}`
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/.test(text)

const minutesOf = (text: string): string => (isTime(text) ? text.slice(0, 16) : text)

const instant = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/

/** Fields whose texts are those of people, and stay as they are. */
const foreign = new Set(["CustomFields", "Examples"])

/** A record with its times in the zone of the reader. */
export const inReadersZone = (value: unknown): unknown => {
  if (Predicate.isString(value)) return instant.test(value) ? localTime(new Date(value)) : value
  if (Array.isArray(value)) return value.map(inReadersZone)
  if (!Predicate.isObject(value)) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, foreign.has(name) ? field : inReadersZone(field)])
  )
}

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

/** The width of a column that wraps, for which another one that says nothing is left out. */
const wideWrapped = 24

const clippedEnd = (text: string, width: number): string => {
  let kept = ""
  for (const character of text) {
    if (CliOutput.displayWidth(kept + character) >= width) break
    kept += character
  }
  return `${kept}…`
}

const clippedStart = (text: string, width: number): string => {
  let kept = ""
  for (const character of Array.from(text).toReversed()) {
    if (CliOutput.displayWidth(character + kept) >= width) break
    kept = character + kept
  }
  return `…${kept}`
}

/** Whether the end of a text says more: a path, or the id of a run, which begins with its time. */
const endSaysMore = (text: string): boolean => /[/\\]|^\d{8}T\d{9}Z-/.test(text)

/** Cuts a cell. Of a time the seconds say the least. */
const clipped = (text: string, width: number): string => {
  if (CliOutput.displayWidth(text) <= width) return text
  if (isTime(text) && width >= minutesOf(text).length) return minutesOf(text)
  return endSaysMore(text) ? clippedStart(text, width) : clippedEnd(text, width)
}

/** Divides a text at its blanks, and a word that is too long anywhere. */
const wrapped = (text: string, width: number): ReadonlyArray<string> => {
  const lines: Array<string> = []
  let last = ""
  for (const word of text.split(" ")) {
    if (last !== "" && CliOutput.displayWidth(`${last} ${word}`) > width) {
      lines.push(last)
      last = ""
    }
    last = last === "" ? word : `${last} ${word}`
    while (CliOutput.displayWidth(last) > width) {
      const part = clippedEnd(last, width + 1).slice(0, -1)
      lines.push(part)
      last = last.slice(part.length)
    }
  }
  return [...lines, last]
}

/** The columns that identify a record: the next command needs them whole, so that they are never cut. */
const identifying = new Set(["id", "Run", "Email", "Name", "PublicExportID", "MessageID"])

export interface TableOptions {
  /** Width of the terminal; `undefined` where there is none, infinite where nothing is cut. */
  readonly available?: number | undefined
  /** The columns whose texts are sentences: they wrap and are not cut. */
  readonly wraps?: ReadonlyArray<string> | undefined
  /** Whether somebody asked for these columns, so that each of them is shown. */
  readonly areAsked?: boolean | undefined
  /** The fields of a record that columns name. */
  readonly fieldsIn?: typeof fieldsOf
}

interface Column {
  readonly name: string
  readonly place: number
  /** The width that shows all, one that is wide enough, and the smallest one. */
  readonly widest: number
  readonly enough: number
  readonly narrowest: number
  /** The text of all rows, if that tells no row from another. */
  readonly same: string | undefined
  /** Whether it can be left out. */
  readonly isOptional: boolean
}

const widthOf = (widths: ReadonlyArray<number>): number =>
  widths.reduce((sum, width) => sum + width, gap * (widths.length - 1))

/** Shrinks the widest column until the line fits, or no column can shrink further. */
const fitted = (columns: ReadonlyArray<Column>, available: number): ReadonlyArray<number> => {
  const widths = columns.map(({ widest }) => widest)
  for (;;) {
    const excess = widthOf(widths) - available
    const shrinking = columns.flatMap(({ narrowest }, index) => ((widths[index] ?? 0) > narrowest ? [index] : []))
    const [first, ...others] = shrinking.toSorted((one, other) => (widths[other] ?? 0) - (widths[one] ?? 0))
    if (excess <= 0 || first === undefined) return widths
    const next = Math.max(
      columns[first]?.narrowest ?? 0,
      ...others.slice(0, 1).map((index) => (widths[index] ?? 0) - 1)
    )
    widths[first] = Math.max(next, (widths[first] ?? 0) - excess)
  }
}

/** Leaves out columns until the line fits: first those that are the same in all rows, then from the last to the first. */
const chosen = (all: ReadonlyArray<Column>, available: number): ReadonlyArray<Column> => {
  let columns = all
  const leaveOut = (isLeast: (column: Column) => boolean, width: (columns: ReadonlyArray<Column>) => number) => {
    while (width(columns) > available) {
      const least = columns.findLast((column) => column.isOptional && isLeast(column))
      if (least === undefined) return
      columns = columns.filter((column) => column !== least)
    }
  }
  const enough = (columns: ReadonlyArray<Column>) => widthOf(columns.map(({ enough }) => enough))
  leaveOut(
    ({ same }) => same === "",
    (columns) => widthOf(columns.map(({ widest }) => widest))
  )
  leaveOut(({ same }) => same !== undefined, enough)
  leaveOut(
    () => true,
    (columns) => widthOf(columns.map(({ narrowest }) => narrowest))
  )
  // What was left out for a wide column may fit now that this one is left out, too.
  return all.reduce((some, column) => {
    const more = all.filter((one) => one === column || some.includes(one))
    return column.same !== "" && enough(more) <= available ? more : some
  }, columns)
}

/**
 * Formats a table in parts, which fit into the terminal if possible. The first one has the header and sets the widths; a later
 * one has a header if its rows differ in a column that was left out.
 */
export const tableOf = (names: ReadonlyArray<string>, options: TableOptions = {}) => {
  const { areAsked = false, available, fieldsIn = fieldsOf, wraps = [] } = options
  const width = available ?? Number.POSITIVE_INFINITY
  const cap = available === Number.POSITIVE_INFINITY ? available : widestCell
  const differing = new Set<string>()
  let shown: ReadonlyArray<Column> = []
  let leftOut: ReadonlyArray<Column> = []
  let widths: ReadonlyArray<number> | undefined

  const measured = (name: string, place: number, rows: ReadonlyArray<ReadonlyArray<string>>): Column => {
    const cells = rows.map((row) => row[place] ?? "")
    const widest = Math.max(...[name, ...cells].map((text) => CliOutput.displayWidth(text)))
    const isWhole = identifying.has(name) || cells.every((cell) => /^[\d.,]*$/.test(cell))
    const least = cells.some(isTime) ? Math.max(...cells.map((cell) => minutesOf(cell).length)) : narrowestCell
    const [first = ""] = cells
    const isSame = (rows.length > 1 || first === "") && cells.every((cell) => cell === first)
    const doesWrap = wraps.includes(name)
    // The last column has no neighbour.
    const most = isWhole || doesWrap || place === names.length - 1 ? widest : Math.min(cap, widest)
    return {
      name,
      place,
      widest: most,
      enough: doesWrap ? Math.min(wideWrapped, most) : most,
      narrowest: isWhole ? widest : Math.min(least, widest),
      same: isSame && !differing.has(name) ? first : undefined,
      isOptional: !areAsked && place > 0 && !doesWrap && !identifying.has(name)
    }
  }

  const lines = (row: ReadonlyArray<string>, widths: ReadonlyArray<number>): ReadonlyArray<string> => {
    const cells = shown.map(({ name, place }, index) => {
      const [text, width] = [row[place] ?? "", widths[index] ?? 0]
      return wraps.includes(name) ? wrapped(text, width) : [identifying.has(name) ? text : clipped(text, width)]
    })
    return Array.from({ length: Math.max(...cells.map(({ length }) => length)) }, (_, number) =>
      line(
        cells.map((cell) => cell[number] ?? ""),
        widths
      )
    )
  }

  return {
    part: (records: ReadonlyArray<unknown>): string => {
      const rows = records.map((record) => {
        const fields = new Map(fieldsIn(record))
        return names.map((name) => printable(fields.get(name) ?? ""))
      })
      const isFirst = widths === undefined
      for (const { name, place, same } of leftOut) {
        if (same !== undefined && rows.some((row) => row[place] !== same)) {
          differing.add(name)
          widths = undefined
        }
      }
      if (widths !== undefined) return rows.flatMap((row) => lines(row, widths ?? [])).join("\n")
      const all = names.map((name, place) => measured(name, place, rows))
      shown = chosen(all, width)
      leftOut = all.filter((column) => !shown.includes(column))
      const now = (widths = fitted(shown, width))
      const table = [names, ...rows].flatMap((row) => lines(row, now))
      return (isFirst ? table : ["", ...table]).join("\n")
    },
    /** The columns that are not shown, with the text that all rows have there. */
    leftOut: (): ReadonlyArray<string> =>
      leftOut.map(({ name, same }) =>
        same === undefined ? name : `${name} (${same === "" ? "none" : clipped(same, wideWrapped)})`
      )
  }
}
