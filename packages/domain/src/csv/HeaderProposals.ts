/**
 * What a header that cannot be read probably means: one further down, a line that is quoted as a whole, no headings at all, or
 * columns of other names. What is proposed was tried against the same header.
 */
import { Result } from "effect"
import { foldName } from "../values/FieldNames.ts"
import { isImported, isRecordColumn } from "./ColumnNames.ts"
import { importColumns, isAddress, likelyFields, namesIn, placeOf } from "./ContactColumns.ts"
import { makeCsvReader } from "./CsvReader.ts"
import { type Delimiter, sniffDelimiter } from "./FileHeader.ts"
import type { ColumnMap, ImportMapping } from "./ImportMapping.ts"
import type { UnreadableFile } from "./TextDecoding.ts"

/** The header of a file without headings, by its first row: the first address in it is below Email, and nothing else has a name. */
export const unheaded = (cells: ReadonlyArray<string>, { columns = {} }: ImportMapping): ReadonlyArray<string> => {
  const isEmail = (name: string | null): boolean => name?.trim().toLowerCase() === "email"
  const isNumbered = Object.entries(columns).some(([column, field]) => isEmail(field) && !isEmail(column))
  const at = isNumbered ? -1 : cells.findIndex(isAddress)
  return cells.map((_, index) => (index === at ? "Email" : ""))
}

/** Where a header may stand below the first line, which may be a title or a comment. */
export const consideredLines = 20

/** The cells of lines, each read for itself, as far as it can be. */
const cellsOf = (lines: ReadonlyArray<string>, delimiter?: Delimiter): ReadonlyArray<ReadonlyArray<string>> =>
  lines.map((line) => {
    const [record] = makeCsvReader(delimiter ?? sniffDelimiter(line))(new TextEncoder().encode(line), true)
    return record === undefined || record.problem !== undefined ? [] : record.cells
  })

/** How a mapping names a column, by its place; `undefined` if no name or number is that of it. */
const keyOf = (names: ReadonlyArray<string>, at: number): string | undefined =>
  [names[at] ?? "", `#${at + 1}`].find(
    (key) => key !== "" && key.length <= longestKey && !/[\r\n]/.test(key) && placeOf(names, key) === at
  )

/** The longest heading that a proposal repeats. */
const longestKey = 100

/** The part of the cells of a column that have to be addresses. */
const addressShare = 0.9

/** The place of the column that has addresses in the most of these rows, and hardly anything else. */
const addressesBelow = (rows: ReadonlyArray<ReadonlyArray<string>>, isFree: (at: number) => boolean): number => {
  const width = Math.max(0, ...rows.map(({ length }) => length))
  const counts = Array.from({ length: width }, (_, at) => {
    const filled = rows.filter((cells) => (cells[at] ?? "").trim() !== "")
    const addresses = filled.filter((cells) => isAddress(cells[at] ?? "")).length
    return isFree(at) && addresses >= filled.length * addressShare ? addresses : 0
  })
  const most = Math.max(0, ...counts)
  return most === 0 ? -1 : counts.indexOf(most)
}

/**
 * What the columns of a header probably mean, to be given as `columns` beside those of the mapping: fields by the names that
 * others give them, the column whose cells are addresses if no name is known, and another name for one that comes twice.
 * `undefined` if there is nothing to propose, or if the header could not be read with it.
 */
export const proposedColumns = (
  header: ReadonlyArray<string>,
  mapping: ImportMapping,
  rows: ReadonlyArray<ReadonlyArray<string>> = []
): ColumnMap | undefined => {
  const names = namesIn(header)
  const spokenOf = (by: Readonly<Record<string, unknown>> = {}) => Object.keys(by).map((key) => placeOf(names, key))
  const mapped = new Map(
    spokenOf(mapping.columns).map((at, index) => [at, Object.values(mapping.columns ?? {})[index]])
  )
  const kinds = new Set(spokenOf(mapping.kinds))
  const proposed = new Map<number, string>()
  const fieldOf = (at: number): string | null =>
    proposed.get(at) ?? (mapped.get(at) === undefined ? (names[at] ?? "") : (mapped.get(at) ?? null))
  for (const [name, field] of Object.entries(likelyFields(header, mapping.columns))) {
    const at = names.indexOf(name)
    if (!kinds.has(at)) proposed.set(at, field)
  }
  const isEmail = (at: number): boolean => fieldOf(at)?.trim().toLowerCase() === "email"
  if (!names.some((_, at) => isEmail(at))) {
    const at = addressesBelow(rows, (at) => at < names.length && !mapped.has(at) && !proposed.has(at))
    if (at >= 0) proposed.set(at, "Email")
  }
  const taken = new Set<string>()
  for (const at of names.keys()) {
    const field = fieldOf(at)
    if (field === null || field === "" || foldName(field) === "status" || (isRecordColumn(field) && !isImported(field)))
      continue
    let other = field
    for (let number = 2; taken.has(foldName(other)); number++) other = `${field} ${number}`
    if (other !== field) proposed.set(at, other)
    taken.add(foldName(other))
  }
  if (proposed.size === 0) return undefined
  const columns: Record<string, string> = {}
  for (const [at, field] of proposed) {
    const key = keyOf(names, at)
    if (key === undefined) return undefined
    columns[key] = field
  }
  return isReadWith(header, mapping, columns) ? columns : undefined
}

const isReadWith = (header: ReadonlyArray<string>, mapping: ImportMapping, columns: ColumnMap = {}): boolean =>
  Result.isSuccess(importColumns(header, { ...mapping, columns: { ...mapping.columns, ...columns } }))

/** Whether cells are a row of contacts, and no header stands below them; a title may have the one address of who made the file. */
const isRow = (cells: ReadonlyArray<string>): boolean => cells.length > 1 && cells.some(isAddress)

/** A header that cannot be read, and the lines from it on. */
interface RefusedHeader {
  readonly cells: ReadonlyArray<string>
  readonly line: number
  readonly lines: ReadonlyArray<string>
  readonly delimiter: Delimiter | undefined
}

/** By what else a file can be read whose header cannot: each proposal was tried. Its reason says the rest. */
export const headerProposal = (
  { cells, delimiter, line, lines }: RefusedHeader,
  mapping: ImportMapping
): Pick<UnreadableFile, "likelyFields" | "skipLines" | "header"> => {
  const below = lines.slice(1, consideredLines + 1)
  const headers = cellsOf(below, mapping.delimiter)
  // What only resembles a heading below a row is a cell of another one, such as "eva at example.com".
  const firstRow = isRow(cells) ? 0 : headers.findIndex(isRow)
  const isAboveRows = (at: number): boolean => firstRow < 0 || at < firstRow
  for (const [at, later] of headers.entries()) {
    const isRead = later.length > 0 && isReadWith(later, mapping)
    const columns = isRead || later.length === 0 || !isAboveRows(at) ? undefined : proposedColumns(later, mapping)
    if (isRead || columns !== undefined) {
      return { skipLines: line + at, ...(columns === undefined ? {} : { likelyFields: columns }) }
    }
  }
  if (mapping.header === undefined && cells.some(isAddress)) {
    const names = unheaded(cells, mapping)
    const spoken = new Set(Object.keys(mapping.columns ?? {}).map((key) => placeOf(names, key)))
    const others = names.flatMap((name, at) => (name === "" && !spoken.has(at) ? [[`#${at + 1}`, null] as const] : []))
    const columns = Object.fromEntries(others)
    if (isReadWith(names, mapping, columns))
      return { header: false, ...(others.length === 0 ? {} : { likelyFields: columns }) }
  }
  const columns = proposedColumns(cells, mapping, cellsOf(below, delimiter))
  if (columns !== undefined) return { likelyFields: columns }
  // Below a title, a header without a known name.
  for (const [at, later] of headers.entries()) {
    if (later.length < 2 || !isAboveRows(at)) continue
    const by = mapping.delimiter ?? sniffDelimiter(below[at] ?? "")
    const found = proposedColumns(later, mapping, cellsOf(below.slice(at + 1), by))
    if (found !== undefined) return { skipLines: line + at, likelyFields: found }
  }
  return {}
}

/** Whether cells are one that is a whole line of several, as in a file whose lines were quoted as a whole when it was saved. */
export const isQuotedLine = (cells: ReadonlyArray<string>, mapping: ImportMapping): boolean => {
  const [line = "", ...others] = cells.filter((cell) => cell.trim() !== "")
  if (others.length > 0) return false
  const [record] = makeCsvReader(sniffDelimiter(line))(new TextEncoder().encode(line), true)
  if (record === undefined || record.problem !== undefined || record.cells.length < 2) return false
  return (
    Result.isSuccess(importColumns(record.cells, mapping)) ||
    Object.values(likelyFields(record.cells)).includes("Email")
  )
}

/** Said of such a file. */
export const quotedLines =
  "each line is quoted as a whole, so that it is one cell; take off the quotes around each line and make two quotes within it one, " +
  "or save the file as CSV where it was made"
