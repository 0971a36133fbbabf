/** Reads contacts from the bytes of a CSV file: a stream of rows, each with its line and a contact to add or a problem. */
import { Array as Arrays, Effect, Result, Schema, Stream } from "effect"
import { ContactPayload } from "../contacts/Contact.ts"
import {
  type ColumnMap,
  type ImportColumns,
  importColumns,
  importRow,
  isCountIssue,
  likelyFields
} from "./ContactColumns.ts"
import type { CsvRecord } from "./CsvRecord.ts"
import { makeCsvReader } from "./CsvReader.ts"
import { joinBytes } from "../values/Bytes.ts"
import { makeTextReader, UnreadableFile } from "./TextDecoding.ts"
import { inputProblem } from "../errors/InvalidInput.ts"
import { FastContact, FastCsvColumns } from "./FastCsvRow.ts"
import { type FileHeader, withoutReasons } from "./RejectedRows.ts"

/** A row below the header. It keeps its piece of the file in memory. */
export interface ImportRow {
  /** The line on which the row begins, counted from 1. */
  readonly line: number
  /** The contact of the row, or why it is none. */
  readonly contact: Result.Result<ContactPayload, string>
  /** The cells as they stand in the file; the text of a row that cannot be split into cells is one. */
  readonly cells: ReadonlyArray<string>
  /** The header of the file, shared by all rows. */
  readonly header: FileHeader
  /** The same contact for the fast path, if the row is simple enough. */
  readonly fast?: FastContact | undefined
}

const nothing = new Uint8Array(0)
const longestHeader = 1024 * 1024

/** The text without quotes, with a placeholder for quoted cells that contain separators. */
const unquoted = (text: string): string =>
  text
    .slice(0, longestHeader)
    .replaceAll(/"([^"]*)(?:"|$)/g, (_, cell: string) => (/[,;\t\r\n]/.test(cell) ? "_" : cell))

const delimiters: ReadonlyArray<FileHeader["delimiter"]> = [",", ";", "\t"]

/** Detects the delimiter by the earliest address column, since later names may contain others, or by frequency. */
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

/** Whether a text contains the complete header, which must be known before anything is read. */
const hasHeader = (text: string): boolean => text.length >= longestHeader || /[\r\n]/.test(unquoted(text.trimStart()))

/** The meaning of the header for the rows below it. */
interface Head {
  readonly header: FileHeader
  readonly columns: ImportColumns
  readonly ownCells: ReturnType<typeof withoutReasons>
  readonly fast: FastCsvColumns
}

const readHead = (
  cells: ReadonlyArray<string>,
  delimiter: FileHeader["delimiter"],
  map: ColumnMap | undefined
): Result.Result<Head, string> => {
  const ownCells = withoutReasons(cells)
  const header = { cells: ownCells?.(cells) ?? cells, delimiter }
  return Result.map(importColumns(header.cells, map), (columns) => ({
    header,
    columns,
    ownCells,
    fast: new FastCsvColumns(columns, ownCells === undefined)
  }))
}

const reasonInCell = "a cell holds the reason for which the row was rejected; put the right value there"

/** A row of a file, decoded on demand. */
class ReadRow implements ImportRow {
  readonly #head: Head
  readonly #record: CsvRecord
  #contact: Result.Result<ContactPayload, string> | undefined

  constructor(head: Head, record: CsvRecord) {
    this.#head = head
    this.#record = record
  }

  get line(): number {
    return this.#record.line
  }

  get header(): FileHeader {
    return this.#head.header
  }

  get cells(): ReadonlyArray<string> {
    const record = this.#record
    if (record.problem !== undefined) return [record.text]
    return this.#head.ownCells?.(record.cells) ?? record.cells
  }

  get contact(): Result.Result<ContactPayload, string> {
    return (this.#contact ??= this.#read())
  }

  get fast(): FastContact | undefined {
    const { fast } = this.#head
    return fast.canHandle(this.#record) ? new FastContact(fast, this.#record) : undefined
  }

  #read(): Result.Result<ContactPayload, string> {
    const { columns, ownCells } = this.#head
    const { problem } = this.#record
    if (problem !== undefined) return Result.fail(problem)
    const { cells } = this
    // Spreadsheets pad short rows, so that the reason would become the value of another column.
    return ownCells !== undefined && cells.some(isCountIssue) ? Result.fail(reasonInCell) : importRow(columns, cells)
  }
}

const encodePayload = Schema.encodeUnknownResult(ContactPayload)

/** The contact of a row, or its problem. Rows that a caller made may hold values that the schema refuses. */
export const contactOf = ({ contact }: ImportRow): Result.Result<ContactPayload, string> =>
  Result.flatMap(contact, (payload) =>
    Result.mapBoth(encodePayload(payload), { onSuccess: () => payload, onFailure: inputProblem })
  )

/** How a CSV file of contacts is read. */
export interface ReadContactsOptions {
  /** A name of the Encoding Standard (default: UTF-8). A byte order mark takes precedence. */
  readonly encoding?: string | undefined
  /** The separator of the cells (default: detected in the header). */
  readonly delimiter?: FileHeader["delimiter"] | undefined
  /** The columns that are imported under another name. */
  readonly columns?: ColumnMap | undefined
}

/** Makes a function that takes the pieces of a file and gives their complete rows. The last call has no piece. */
const makeRowReader = ({ columns, encoding, ...options }: ReadContactsOptions) => {
  const toText = makeTextReader(encoding)
  let start: Uint8Array = nothing
  let toRecords: ReturnType<typeof makeCsvReader> | undefined
  let delimiter = options.delimiter ?? ","
  let head: Head | undefined
  let line = 1

  const unreadable = (reason: string) => Result.fail(new UnreadableFile({ line, reason }))

  /** Splits a text into records, once the complete header shows the delimiter. */
  const split = (text: Uint8Array, last: boolean): ReadonlyArray<CsvRecord> => {
    if (toRecords !== undefined) return toRecords(text, last)
    start = joinBytes([start, text])
    const known = new TextDecoder().decode(start)
    if (!last && !hasHeader(known)) return []
    delimiter = options.delimiter ?? sniffDelimiter(known.trimStart())
    toRecords = makeCsvReader(delimiter)
    return toRecords(start, last)
  }

  return (piece: Uint8Array | undefined): Result.Result<ReadonlyArray<ImportRow>, UnreadableFile> => {
    const last = piece === undefined
    const text = toText(piece ?? nothing, last)
    if (Result.isFailure(text)) {
      const { before, reason } = text.failure
      line = split(before, false).at(-1)?.line ?? line
      return unreadable(reason)
    }
    const rows: Array<ImportRow> = []
    for (const record of split(text.success, last)) {
      line = record.line
      if (record.isBlank) continue
      if (head === undefined) {
        const { cells, problem } = record
        const read = problem === undefined ? readHead(cells, delimiter, columns) : Result.fail(problem)
        if (Result.isFailure(read)) {
          const likely = likelyFields(cells, columns)
          const reason = { line, reason: read.failure }
          return Result.fail(new UnreadableFile(likely.length === 0 ? reason : { ...reason, likelyFields: likely }))
        }
        head = read.success
      } else {
        rows.push(new ReadRow(head, record))
      }
    }
    if (last && head === undefined) {
      line = 1
      return unreadable("the file is empty")
    }
    return Result.succeed(rows)
  }
}

/**
 * Reads the rows of a CSV file. Fails without an address column, and for bytes that are not of the encoding.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { Stream } from "effect"
 *
 * const file = Stream.make(new TextEncoder().encode("Mail\nada@example.com\n"))
 *
 * export const example = Stream.runCollect(readContacts(file, { columns: [["Mail", "email"]] }))
 * ```
 */
export const readContacts = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  options: ReadContactsOptions = {}
): Stream.Stream<ImportRow, E | UnreadableFile> =>
  Stream.suspend(() => {
    const read = makeRowReader(options)
    return Stream.concat(bytes, Stream.make(undefined)).pipe(
      Stream.mapEffect((piece) => Effect.fromResult(read(piece))),
      Stream.filter(Arrays.isReadonlyArrayNonEmpty),
      Stream.flattenArray
    )
  })
