/** Reads contacts from the bytes of a CSV file: a stream of rows, each with its line and a contact to add or a problem. */
import { Array as Arrays, Effect, Result, Schema, Stream } from "effect"
import { ContactPayload } from "../contacts/Contact.ts"
import { type RowProblem, rowProblem } from "./CellProblems.ts"
import {
  consentTexts,
  faultOf,
  type ImportColumns,
  importColumns,
  importRow,
  isAddress,
  isCountIssue,
  restoreCell,
  rowLists,
  type RowFault,
  unnamedText
} from "./ContactColumns.ts"
import { contactRefusal } from "./ContactIssue.ts"
import { type CsvRecord, isMalformed, makeCsvReader, maximumRecord, nextLine } from "./CsvReader.ts"
import type { ImportMapping } from "./ImportMapping.ts"
import { joinBytes } from "../values/Bytes.ts"
import { encodingByMark, makeTextReader, unmarkedEncoding, UnreadableFile } from "./TextDecoding.ts"
import { type InvalidInput, inputProblem, schemaProblem } from "../errors/InvalidInput.ts"
import { checkFields, fieldsOf } from "../errors/KnownFields.ts"
import { binaryKind, isJson, isNoText, kindBytes, noText, textKind } from "./FileKind.ts"
import type { ImportRow } from "./ImportRow.ts"
import { makeJsonReader } from "./JsonRows.ts"
import { Delimiter, type FileHeader, lineBreak, sniffDelimiter, sniffed, unquoted } from "./FileHeader.ts"
import { consideredLines, headerProposal, isQuotedLine, quotedLines, unheaded } from "./HeaderProposals.ts"
import { type Reasons, reasonsIn } from "./RejectedRows.ts"

const nothing = new Uint8Array(0)
const longestHeader = 1024 * 1024

/** The maximum length of a heading, in UTF-16 units: that of a cell of a workbook. */
const maximumHeading = 32_767

const longHeading = `a heading is longer than ${maximumHeading} characters; take out what is none`

/** The bytes of a file within which there is a header or a contact. */
const longestBeginning = 2 * maximumRecord

const noBeginning = `there is neither a header nor a contact in its first ${longestBeginning} bytes`

const space = 0x20
const isBlank = (byte: number | undefined): boolean => byte === space || byte === 0x0a || byte === 0x0d

/** Whether a text contains the complete header, which must be known before anything is read. */
const hasHeader = (text: string): boolean => text.length >= sniffed || /[\r\n]/.test(unquoted(text.trimStart()))

/** The meaning of the header for the rows below it. */
interface Head {
  readonly header: FileHeader
  readonly columns: ImportColumns
  readonly reasons: Reasons | undefined
}

/** The columns of a header that is only looked at. */
const noColumns = (cells: ReadonlyArray<string>): Result.Result<ImportColumns, string> => {
  const kind = textKind(cells.join(" "))
  if (kind !== undefined) return Result.fail(kind)
  const targets = cells.map(() => ({ _tag: "LeftOut" }) as const)
  return Result.succeed({ targets, unnamed: [], trims: false, constants: [], consent: [] })
}

const readHead = (
  cells: ReadonlyArray<string>,
  delimiter: Delimiter,
  mapping: ImportMapping,
  needsAddress: boolean
): Result.Result<Head, string> => {
  if (cells.some(({ length }) => length > maximumHeading)) return Result.fail(longHeading)
  const reasons = reasonsIn(cells)
  const header = { cells: reasons?.without(cells) ?? cells, delimiter }
  const read = needsAddress ? importColumns(header.cells, mapping) : noColumns(header.cells)
  return Result.map(read, (columns) => ({ header, columns, reasons }))
}

/** Said of a file without headings and without an address in its first row. */
const noAddress =
  "its first row has no e-mail address to tell the column of addresses; map that column to Email by its number, such as #2"

/** What is said of it once its quotes are text, in a file of rejected rows that was not corrected. */
const quoteInCell =
  "a cell begins with a quote, for which the row was rejected; take the quote out, or empty the cell _error to keep it"

const reasonInCell = "a cell holds the reason for which the row was rejected; put the right value there"

/** A row of a file, decoded on demand. */
class ReadRow implements ImportRow {
  readonly #head: Head
  readonly #record: CsvRecord
  #contact: Result.Result<ContactPayload, RowProblem> | undefined

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
    const { cells } = this.#record
    return this.#head.reasons?.without(cells) ?? cells
  }

  get record(): ImportRow["record"] {
    return this.#record.problem === undefined ? { names: this.header.cells, cells: this.cells } : undefined
  }

  get #imported(): Result.Result<ContactPayload, RowProblem> {
    return (this.#contact ??= this.#read())
  }

  get contact(): Result.Result<ContactPayload, string> {
    return Result.mapError(this.#imported, ({ reason }) => reason)
  }

  get lists(): ImportRow["lists"] {
    const { columns } = this.#head
    return columns.lists === undefined ? undefined : Result.getOrUndefined(rowLists(columns, this.cells))
  }

  get unnamed(): ImportRow["unnamed"] {
    return this.#record.problem === undefined ? unnamedText(this.#head.columns, this.cells) : undefined
  }

  get consent(): ImportRow["consent"] {
    return this.#record.problem === undefined ? consentTexts(this.#head.columns, this.cells) : undefined
  }

  get fault(): RowFault | undefined {
    if (Result.isSuccess(this.#imported)) return undefined
    const { columns, header } = this.#head
    return this.#record.problem === undefined
      ? faultOf(this.#imported.failure, { cells: this.cells, columns, header: header.cells })
      : faultOf(this.#imported.failure)
  }

  #read(): Result.Result<ContactPayload, RowProblem> {
    const { columns, reasons } = this.#head
    const { problem } = this.#record
    if (problem !== undefined) return Result.fail(rowProblem("Format", problem))
    if (reasons === undefined) return importRow(columns, this.#record.cells)
    const { cells: all } = this.#record
    const cells = reasons.without(all)
    // Spreadsheets pad short rows, so that the reason would become the value of another column.
    if (cells.some(isCountIssue)) return Result.fail(rowProblem("Cells", reasonInCell))
    // The misplaced quotes of a malformed row would be text now.
    const reason = reasons.of(all)
    const isOfQuote = isMalformed(reason) || reason === quoteInCell
    if (isOfQuote && cells.some((cell) => restoreCell(cell).startsWith('"'))) {
      return Result.fail(rowProblem("Format", quoteInCell))
    }
    return importRow(columns, cells)
  }
}

const encodePayload = Schema.encodeUnknownResult(ContactPayload)

/** The contact of a row, or its problem. Rows that a caller made may hold values that the schema refuses. */
export const contactOf = (row: ImportRow): Result.Result<ContactPayload, string> =>
  row instanceof ReadRow
    ? row.contact
    : Result.flatMap(row.contact, (payload) =>
        Result.flatMap(Result.mapError(encodePayload(payload), schemaProblem), () => {
          const refusal = contactRefusal(payload)
          return refusal === undefined ? Result.succeed(payload) : Result.fail(inputProblem(refusal))
        })
      )

/** A line such as `sep=;` before the header, by which spreadsheets are told the delimiter. */
const delimiterLine = /^\s*"?sep=([^\r\n])"?[^\r\n]*(?:\r\n|\r|\n|$)/i

/** Why the header cannot be read, while it is open whether a later line is one. */
interface Refused {
  readonly line: number
  readonly reason: string
  readonly cells: ReadonlyArray<string>
}

/** Makes a function that takes the pieces of a file and gives their complete rows. The last call has no piece. */
const makeRowReader = (mapping: ImportMapping, needsAddress = true) => {
  const toText = makeTextReader(mapping.encoding)
  /** The text from `startLine` on, until there is a head. */
  let start: Uint8Array = nothing
  let startLine = 1
  let linesToSkip = mapping.skipLines ?? 0
  let { delimiter } = mapping
  let toRecords: ReturnType<typeof makeCsvReader> | undefined
  let toJsonRows: ReturnType<typeof makeJsonReader> | undefined
  /** The first bytes, until they show what the file is. */
  let held: Uint8Array | undefined = nothing
  let head: Head | undefined
  let refused: Refused | undefined
  let line = 1
  /** The bytes before there is a header or a contact. */
  let beginning = 0
  let isJsonBegun = false

  const unreadable = (reason: string, encoding?: string) =>
    Result.fail(new UnreadableFile({ line, reason, ...(encoding === undefined ? {} : { encoding }) }))

  /** The bytes so far, once they show that the file is text. */
  const textOf = (piece: Uint8Array, last: boolean): Result.Result<Uint8Array, UnreadableFile> => {
    if (held === undefined) return Result.succeed(piece)
    held = joinBytes([held, piece])
    if (held.length < kindBytes && !last) return Result.succeed(nothing)
    const bytes = held
    held = undefined
    const kind = binaryKind(bytes)
    if (kind !== undefined) return unreadable(kind)
    const encoding = mapping.encoding === undefined ? unmarkedEncoding(bytes) : undefined
    if (encoding !== undefined) {
      return unreadable(`it is ${encoding} without a byte order mark`, encoding)
    }
    const isWide = /^utf-?16/i.test(encodingByMark(bytes) ?? mapping.encoding ?? "")
    return !isWide && isNoText(bytes) ? unreadable(noText) : Result.succeed(bytes)
  }

  /** Drops the lines before the header, and says whether all of them are gone. */
  const isAtHeader = (last: boolean): boolean => {
    while (linesToSkip > 0) {
      const next = start.length === 0 ? -1 : nextLine(start, 0, last)
      if (next < 0) return last
      start = start.subarray(next)
      linesToSkip--
      startLine++
    }
    return true
  }

  /** Drops blank lines before the header, of which there may be millions. */
  const dropBlankLines = (last: boolean): void => {
    for (let at = 0; isBlank(start[at]); at++) {
      if (start[at] === space) continue
      const next = nextLine(start, at, last)
      if (next < 0) return
      start = start.subarray(next)
      startLine++
      at = -1
    }
  }

  /** Splits a text into records, once the complete header shows the delimiter. */
  const split = (text: Uint8Array, last: boolean): ReadonlyArray<CsvRecord> => {
    if (toRecords !== undefined) return toRecords(text, last)
    start = joinBytes([start, text])
    if (!isAtHeader(last)) return []
    dropBlankLines(last)
    const known = new TextDecoder("utf-8", { ignoreBOM: true }).decode(start)
    if (isJson(known)) {
      toJsonRows = makeJsonReader(mapping, startLine, needsAddress)
      return []
    }
    if (!last && !hasHeader(known)) return []
    const [sign = "", named] = delimiterLine.exec(known) ?? []
    if (Schema.is(Delimiter)(named)) {
      // The other half of a CRLF may come, and the header.
      if (!last && !hasHeader(known.slice(sign.length))) return []
      delimiter ??= named
      start = start.subarray(new TextEncoder().encode(sign).length)
      startLine += sign.split(lineBreak).length - 1
    }
    delimiter ??= sniffDelimiter(known)
    toRecords = makeCsvReader(delimiter, startLine)
    return toRecords(start, last)
  }

  /** The rows of a piece of JSON, if the file is known to be that. */
  const jsonRows = (text: Uint8Array, last: boolean) => {
    const rows = toJsonRows?.(text, last)
    isJsonBegun ||= rows !== undefined && Result.isSuccess(rows) && rows.success.length > 0
    return rows
  }

  /** The error of a header that cannot be read, once it is known whether a later line can. */
  const refusal = (last: boolean): UnreadableFile | undefined => {
    if (refused === undefined) return undefined
    const { cells, line, reason } = refused
    if (mapping.header === false) {
      return new UnreadableFile({ line, reason: cells.some(isAddress) ? reason : noAddress })
    }
    const lines = new TextDecoder().decode(start).split(lineBreak)
    if (!last && lines.length - 1 <= line - startLine + consideredLines && start.length < longestHeader)
      return undefined
    const proposal = headerProposal({ cells, delimiter, line, lines: lines.slice(line - startLine) }, mapping)
    const { skipLines } = proposal
    const hint = skipLines === undefined ? "" : `; line ${skipLines + 1} looks like the header`
    return new UnreadableFile({ line, reason: `${reason}${hint}`, ...proposal })
  }

  const readPiece = (piece: Uint8Array | undefined): Result.Result<ReadonlyArray<ImportRow>, UnreadableFile> => {
    const last = piece === undefined
    const bytes = textOf(piece ?? nothing, last)
    if (Result.isFailure(bytes)) return Result.fail(bytes.failure)
    if (held !== undefined) return Result.succeed([])
    const text = toText(bytes.success, last)
    if (Result.isFailure(text)) {
      const { before, encoding, reason } = text.failure
      line = split(before, false).at(-1)?.line ?? line
      return unreadable(reason, encoding)
    }
    const more = jsonRows(text.success, last)
    if (more !== undefined) return more
    const rows: Array<ImportRow> = []
    if (refused !== undefined) start = joinBytes([start, text.success])
    else {
      for (const record of split(text.success, last)) {
        line = record.line
        if (head !== undefined) {
          rows.push(new ReadRow(head, record))
          continue
        }
        const { cells, problem } = record
        const isHead = mapping.header !== false
        const names = isHead ? cells : unheaded(cells, mapping)
        const read =
          problem === undefined ? readHead(names, delimiter ?? ",", mapping, needsAddress) : Result.fail(problem)
        if (Result.isFailure(read)) {
          const kind = textKind(cells.join(" "))
          if (kind !== undefined) return unreadable(kind)
          if (problem === undefined && isQuotedLine(cells, mapping)) return unreadable(quotedLines)
          refused = { line, reason: read.failure, cells }
          break
        }
        head = read.success
        start = nothing
        if (!isHead) rows.push(new ReadRow(head, record))
      }
      // All that is known so far, which has shown that it is JSON.
      const first = jsonRows(start, last)
      if (first !== undefined) return first
    }
    const error = refusal(last)
    if (error !== undefined) return Result.fail(error)
    if (last && head === undefined) {
      line = 1
      return unreadable("the file is empty")
    }
    return Result.succeed(rows)
  }

  return (piece: Uint8Array | undefined): Result.Result<ReadonlyArray<ImportRow>, UnreadableFile> => {
    const rows = readPiece(piece)
    if (Result.isFailure(rows) || head !== undefined || isJsonBegun) return rows
    beginning += piece?.length ?? 0
    // A piece of any size may hold the whole file.
    return beginning > longestBeginning ? unreadable(noBeginning) : rows
  }
}

const mappingFields = fieldsOf<ImportMapping>("a mapping", {
  encoding: true,
  delimiter: true,
  skipLines: true,
  header: true,
  columns: true,
  values: true,
  kinds: true,
  constants: true,
  empty: true,
  trim: true,
  dateFormat: true
})

/** Reads with a mapping that has no other names. */
const withMapping = <E>(
  mapping: ImportMapping,
  rows: () => Stream.Stream<ImportRow, E>
): Stream.Stream<ImportRow, E | InvalidInput> => Stream.unwrap(Effect.map(checkFields(mappingFields, mapping), rows))

const readRows = <E>(bytes: Stream.Stream<Uint8Array, E>, read: ReturnType<typeof makeRowReader>) =>
  Stream.concat(bytes, Stream.make(undefined)).pipe(
    Stream.mapEffect((piece) => Effect.fromResult(read(piece))),
    Stream.filter(Arrays.isReadonlyArrayNonEmpty),
    Stream.flattenArray
  )

/**
 * Reads the rows of a CSV file. Fails without an address column, and for bytes that are not of the encoding. A mapping with
 * another name, such as `delimeter`, is `InvalidInput` that says which is meant.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { Stream } from "effect"
 *
 * const file = Stream.make(new TextEncoder().encode("Mail\nada@example.com\n"))
 *
 * export const example = Stream.runCollect(readContacts(file, { columns: { Mail: "email" } }))
 * ```
 */
export const readContacts = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  mapping: ImportMapping = {}
): Stream.Stream<ImportRow, E | InvalidInput | UnreadableFile> =>
  withMapping(mapping, () => readRows(bytes, makeRowReader(mapping)))

/**
 * Reads the rows of a file whose columns have no meaning yet, to show them and to ask for it: of each row only the header and
 * the `record` count.
 *
 * ```ts
 * import { lookAtRows } from "@roster/domain"
 * import { Stream } from "effect"
 *
 * const file = Stream.make(new TextEncoder().encode("Adresse;Name\nada@example.com;Ada\n"))
 *
 * export const example = Stream.runCollect(lookAtRows(file, { delimiter: ";" }))
 * ```
 */
export const lookAtRows = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  mapping: Pick<ImportMapping, "encoding" | "delimiter" | "skipLines" | "header"> = {}
): Stream.Stream<ImportRow, E | InvalidInput | UnreadableFile> =>
  withMapping(mapping, () => readRows(bytes, makeRowReader(mapping, false)))
