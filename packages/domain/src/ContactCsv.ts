/**
 * Reading contacts from a CSV file as it comes: bytes in, one row after another out, each with the line it stands on and
 * either a contact to add or the reason why there is none.
 */
import { Effect, Result, Sink, Stream } from "effect"
import type { ContactPayload } from "./Contact.ts"
import { type ImportColumns, importColumns, importRow } from "./ContactColumns.ts"
import { type CsvRecord, makeCsvReader } from "./CsvRecords.ts"
import { decodeText, UnreadableFile } from "./FileText.ts"

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
}

const longestHeader = 1024 * 1024

/** The text with a sign in place of all that stands in quotes, so that what is left separates. */
const unquoted = (text: string): string => text.slice(0, longestHeader).replaceAll(/"[^"]*(?:"|$)/g, "_")

/** The delimiter is the one that the header has most of; a header of one column has none, and a comma does no harm. */
const sniffDelimiter = (head: string): string => {
  const header = unquoted(head).split(/[\r\n]/, 1)[0] ?? ""
  const count = (delimiter: string) => header.split(delimiter).length
  return [",", ";", "\t"].reduce((best, candidate) => (count(candidate) > count(best) ? candidate : best))
}

/** The text up to some place behind the header, since the delimiter must be known before anything is read. */
const head = Sink.fold<string, string>(
  () => "",
  (text) => text.length < longestHeader && !/[\r\n]/.test(unquoted(text.trimStart())),
  (text, part) => Effect.succeed(text + part)
)

/** Reads the first record that is not blank as the header and the others by it. */
const makeRowReader = () => {
  let columns: ImportColumns | undefined
  return Effect.fnUntraced(function* (records: ReadonlyArray<CsvRecord>) {
    const rows: Array<ContactRow> = []
    for (const { cells, line, problem } of records) {
      if (cells?.length === 1 && cells[0]?.trim() === "") continue
      if (columns === undefined) {
        const read = cells === undefined ? Result.fail(problem) : importColumns(cells)
        columns = yield* Effect.fromResult(read).pipe(Effect.mapError((reason) => new UnreadableFile({ line, reason })))
      } else {
        rows.push({ line, contact: cells === undefined ? Result.fail(problem) : importRow(columns, cells) })
      }
    }
    return rows
  })
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
  options?: { readonly encoding?: string | undefined }
): Stream.Stream<ContactRow, E | UnreadableFile> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const [start, rest] = yield* Stream.peel(decodeText(bytes, options?.encoding), head)
      if (start.trim() === "") return yield* new UnreadableFile({ line: 1, reason: "the file is empty" })
      const records = makeCsvReader(sniffDelimiter(start.trimStart()))
      const rows = makeRowReader()
      return Stream.make(start).pipe(
        Stream.concat(rest),
        Stream.mapEffect((text) => rows(records(text, false))),
        Stream.concat(Stream.fromEffect(Effect.suspend(() => rows(records("", true))))),
        Stream.flattenIterable
      )
    })
  )
