/** What can be seen in a file before anything is said about it: its first rows, and what each column holds. */
import type { FileHeader, ImportMapping, ImportRow } from "@roster/domain"

/** Maximum number of columns that are looked at. */
export const maximumColumns = 500

/** Numbers beyond which values of a column are not told apart, and beyond which they are not shown. */
const mostValues = 1000
const shownValues = 100
const shownRows = 8
const longestValue = 200

/** A text of a column, and the number of rows that have it. */
export interface ColumnValue {
  readonly value: string
  readonly count: number
}

/** What a column holds. */
export interface ColumnSight {
  /** Its heading. */
  readonly name: string
  /** The number of rows with a text in it. */
  readonly filled: number
  /** Its values, the most frequent first, up to 100. */
  readonly values: ReadonlyArray<ColumnValue>
  /** The number of different values that were counted. */
  readonly distinct: number
  /** Whether there are more than that. */
  readonly hasMore: boolean
}

/** What a mapping says of how a file is read. */
export const readingKeys = ["encoding", "delimiter", "skipLines", "header"] as const

/** How a file is read. */
export interface Reading extends Pick<ImportMapping, (typeof readingKeys)[number]> {
  /** The sheet of a workbook, by its name or number (default: the first). */
  readonly sheet?: string
}

/** What is known of a file so far. */
export interface FileSight {
  /** How it is read: what the person said, and what was found where they said nothing. */
  readonly reading: Reading
  /** The encoding that its mark names, or that it is read in. */
  readonly encoding: string
  readonly isMarked: boolean
  /** Whether it is the sheet of a workbook. */
  readonly isWorkbook: boolean
  readonly header: FileHeader | undefined
  readonly columns: ReadonlyArray<ColumnSight>
  /** The first rows: a text below each column. */
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** The number of rows that were read. */
  readonly read: number
  /** How many of them cannot be split into cells. */
  readonly malformed: number
  /** Whether all of it was read. */
  readonly isComplete: boolean
}

interface Column {
  readonly name: string
  readonly values: Map<string, number>
  filled: number
  hasMore: boolean
}

/** Collects what rows hold. */
export const makeFileSight = (how: Pick<FileSight, "reading" | "encoding" | "isMarked" | "isWorkbook">) => {
  const columns: Array<Column> = []
  const places = new Map<string, number>()
  const rows: Array<Array<string>> = []
  let header: FileHeader | undefined
  let read = 0
  let malformed = 0

  const column = (name: string): number => {
    columns.push({ name, values: new Map(), filled: 0, hasMore: false })
    return columns.length - 1
  }
  /** The place of the value of an object: objects have names of their own. */
  const placeOf = (name: string): number | undefined => {
    const known = places.get(name)
    if (known !== undefined || columns.length === maximumColumns) return known
    const made = column(name)
    places.set(name, made)
    return made
  }

  const count = (place: number, cell: string): void => {
    const of = columns[place]
    if (of === undefined || cell.trim() === "") return
    of.filled++
    const value = cell.trim().slice(0, longestValue)
    const known = of.values.get(value)
    if (known === undefined && of.values.size === mostValues) of.hasMore = true
    else of.values.set(value, (known ?? 0) + 1)
  }

  const add = (part: ReadonlyArray<ImportRow>): void => {
    for (const row of part) {
      read++
      const { record } = row
      if (header === undefined) {
        header = row.header
        if (header.format === undefined) header.cells.slice(0, maximumColumns).forEach(column)
      }
      if (record === undefined) {
        malformed++
        continue
      }
      const isJson = header.format !== undefined
      const shown: Array<string> | undefined = rows.length < shownRows ? [] : undefined
      for (const [index, name] of record.names.entries()) {
        const place = isJson ? placeOf(name) : index < maximumColumns ? index : undefined
        if (place === undefined) break
        const cell = record.cells[index] ?? ""
        count(place, cell)
        if (shown !== undefined) shown[place] = cell.slice(0, longestValue)
      }
      if (shown !== undefined) rows.push(shown)
    }
  }

  const sight = (isComplete: boolean): FileSight => ({
    ...how,
    header,
    columns: columns.map(({ filled, hasMore, name, values }) => ({
      name,
      filled,
      hasMore,
      distinct: values.size,
      values: Array.from(values, ([value, count]) => ({ value, count }))
        .toSorted((one, other) => other.count - one.count)
        .slice(0, shownValues)
    })),
    rows: rows.map((row) => columns.map((_, index) => row[index] ?? "")),
    read,
    malformed,
    isComplete
  })
  return { add, sight }
}
