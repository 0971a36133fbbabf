/**
 * Reading contacts from a CSV file as it comes: bytes in, one row after another out, each with the line it stands on and
 * either a contact to add or the reason why there is none.
 */
import { Effect, Result, Sink, Stream } from "effect"
import type { ContactPayload } from "./Contact.ts"
import type { ColumnMap } from "./ColumnMap.ts"
import { type ImportColumns, importColumns, importRow, isCountIssue } from "./ContactColumns.ts"
import { type CsvRecord, makeCsvReader } from "./CsvRecords.ts"
import { decodeText, UnreadableFile } from "./FileText.ts"
import { type FileHeader, withoutReasons } from "./RejectedRows.ts"

/**
 * A row of the file below its header.
 *
 * @category models
 * @since 0.1.0
 */
export interface ContactRow {
  /** Where the row begins, counted from 1 as an editor counts. */
  readonly line: number
  readonly contact: Result.Result<ContactPayload, string>
  /** The cells as they stand in the file; the text of a row that cannot be split into cells is one. */
  readonly cells: ReadonlyArray<string>
  /** The header of the file, one and the same for all its rows. */
  readonly header: FileHeader
}

const longestHeader = 1024 * 1024

/** The text without quotes, and a sign in place of what separates nothing within them. */
const unquoted = (text: string): string =>
  text
    .slice(0, longestHeader)
    .replaceAll(/"([^"]*)(?:"|$)/g, (_, cell: string) => (/[,;\t\r\n]/.test(cell) ? "_" : cell))

const delimiters: ReadonlyArray<FileHeader["delimiter"]> = [",", ";", "\t"]

/**
 * The delimiter is the one that gives the column of addresses soonest, since the names behind it may hold others; where
 * there is none, the one that the header has most of. A header of one column has none, and a comma does no harm.
 */
const sniffDelimiter = (head: string): FileHeader["delimiter"] => {
  const header = unquoted(head).split(/[\r\n]/, 1)[0] ?? ""
  const look = (delimiter: FileHeader["delimiter"]) => {
    const cells = header.split(delimiter)
    const email = cells.findIndex((cell) => cell.trim().toLowerCase() === "email")
    const before = email < 0 ? Infinity : cells.slice(0, email).join(delimiter).length
    return { delimiter, before, count: cells.length }
  }
  return delimiters
    .map(look)
    .reduce((best, next) =>
      next.before < best.before || (next.before === best.before && next.count > best.count) ? next : best
    ).delimiter
}

/** The text up to some place behind the header, since the delimiter must be known before anything is read. */
const head = Sink.fold<string, string>(
  () => "",
  (text) => text.length < longestHeader && !/[\r\n]/.test(unquoted(text.trimStart())),
  (text, part) => Effect.succeed(text + part)
)

/** What the header says of the rows below it. */
interface Head {
  readonly header: FileHeader
  readonly columns: ImportColumns
  readonly ownCells: ReturnType<typeof withoutReasons>
}

const readHead = (
  cells: ReadonlyArray<string>,
  delimiter: FileHeader["delimiter"],
  map: ColumnMap | undefined
): Result.Result<Head, string> => {
  const ownCells = withoutReasons(cells)
  const header = { cells: ownCells?.(cells) ?? cells, delimiter }
  return Result.map(importColumns(header.cells, map), (columns) => ({ header, columns, ownCells }))
}

const readRow = ({ columns, header, ownCells }: Head, record: CsvRecord): ContactRow => {
  const { line } = record
  if (record.cells === undefined) {
    return { line, header, cells: [record.text], contact: Result.fail(record.problem) }
  }
  if (ownCells === undefined) return { line, header, cells: record.cells, contact: importRow(columns, record.cells) }
  const cells = ownCells(record.cells)
  // A spreadsheet fills a short row up, so that its reason would become the value of another column.
  const contact = cells.some(isCountIssue) ? Result.fail(reasonInCell) : importRow(columns, cells)
  return { line, header, cells, contact }
}

const reasonInCell = "a cell holds the reason for which the row was rejected; put the right value there"

/** Reads the first record that is not blank as the header and the others by it. */
const makeRowReader = (delimiter: FileHeader["delimiter"], map: ColumnMap | undefined) => {
  let head: Head | undefined
  return Effect.fnUntraced(function* (records: ReadonlyArray<CsvRecord>) {
    const rows: Array<ContactRow> = []
    for (const record of records) {
      const { cells, line, problem } = record
      if (cells?.length === 1 && cells[0]?.trim() === "") continue
      if (head === undefined) {
        const read = cells === undefined ? Result.fail(problem) : readHead(cells, delimiter, map)
        head = yield* Effect.fromResult(read).pipe(Effect.mapError((reason) => new UnreadableFile({ line, reason })))
      } else {
        rows.push(readRow(head, record))
      }
    }
    return rows
  })
}

/**
 * @category models
 * @since 0.1.0
 */
export interface ReadContactsOptions {
  /** As the Encoding Standard names it; UTF-8, or what the file is marked with, unless said. */
  readonly encoding?: string | undefined
  /** What separates the cells, found in the header unless said. */
  readonly delimiter?: FileHeader["delimiter"] | undefined
  /** Columns that are something else than their names say. */
  readonly columns?: ColumnMap | undefined
}

/**
 * Reads the rows of a CSV file: UTF-8 unless `encoding` or a byte order mark says otherwise; commas, semicolons or tabs,
 * as the header has them. Blank lines are passed over. Fails where there is no header with an address column, or where
 * the bytes are not of the encoding.
 *
 * @category parsing
 * @since 0.1.0
 */
export const readContacts = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  options: ReadContactsOptions = {}
): Stream.Stream<ContactRow, E | UnreadableFile> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const [start, rest] = yield* Stream.peel(decodeText(bytes, options.encoding), head)
      if (start.trim() === "") return yield* new UnreadableFile({ line: 1, reason: "the file is empty" })
      const delimiter = options.delimiter ?? sniffDelimiter(start.trimStart())
      const records = makeCsvReader(delimiter)
      const rows = makeRowReader(delimiter, options.columns)
      return Stream.make(start).pipe(
        Stream.concat(rest),
        Stream.mapEffect((text) => rows(records(text, false))),
        Stream.concat(Stream.fromEffect(Effect.suspend(() => rows(records("", true))))),
        Stream.flattenIterable
      )
    })
  )
