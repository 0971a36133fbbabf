/**
 * Workbooks (.xlsx) as the CSV that imports read, and exported CSV as a workbook. It works in browsers too.
 * (docs/decisions/csv.md)
 */
import { ContactColumns, type ImportMapping, UnreadableFile } from "@roster/domain"
import { Effect, Result, Stream } from "effect"
import { Csv, Zip } from "effect/encoding"
import { readSheet, type Sheet } from "./SheetReader.ts"
import { sheetParts, sheetXml } from "./SheetWriter.ts"

/** The largest file that is read, in bytes. */
export const maximumBytes = 50 * 1024 * 1024

/** The most that a file may decompress to, in bytes, if nothing else is said. */
export const maximumXml = 256 * 1024 * 1024

/** The most rows that a sheet can have. */
const maximumRows = 1_048_576

/** The longest text of a cell. */
const maximumText = 32_767

/** How the CSV of a workbook is read, whatever else a mapping says. */
export const workbookMapping = { delimiter: ",", encoding: "utf-8" } as const satisfies ImportMapping

const unreadable = (reason: string) => new UnreadableFile({ line: 1, reason })

/** Refuses a stream that is longer than it may be. */
const bounded =
  (most: number, what: string) =>
  <E, R>(content: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E | UnreadableFile, R> => {
    const advice = "save the sheet as CSV UTF-8 and import that"
    const issue = `the workbook has more than ${most / 1024 / 1024} MB${what}; ${advice}`
    let size = 0
    return Stream.tap(content, (part) => ((size += part.length) > most ? Effect.fail(unreadable(issue)) : Effect.void))
  }

/** The parts of a workbook by their paths, decompressed and counted before any is parsed. */
const partsOf = Effect.fnUntraced(function* <E>(bytes: Stream.Stream<Uint8Array, E>, mostXml: number) {
  const parts = new Map<string, Array<Uint8Array>>()
  yield* bounded(
    maximumBytes,
    ""
  )(bytes).pipe(
    Stream.pipeThroughChannel(Zip.decode()),
    // All of it counts, so that nothing is decompressed for long.
    Stream.flatMap(({ body, header }) => {
      const pieces: Array<Uint8Array> = []
      if (/\.(?:xml|rels)$/.test(header.path)) parts.set(header.path, pieces)
      return Stream.tap(body, (piece) => Effect.sync(() => (parts.has(header.path) ? pieces.push(piece) : 0)))
    }),
    bounded(mostXml, " of XML"),
    Stream.runDrain,
    Effect.catchIf(Zip.isZipError, (error) => unreadable(`the workbook cannot be read: ${error.message}`))
  )
  return parts
})

/** What is read of a workbook. */
export interface ReadOptions {
  /** The sheet, by its name in any letter case, or else by its number (default: the first). */
  readonly sheet?: string | undefined
  /** The most that the file may decompress to, in bytes (default: 256 MB). */
  readonly mostXml?: number | undefined
}

/**
 * The first sheet of a workbook, or the one of this name or number, as CSV whose lines are its rows: dates in the ISO form,
 * the results of formulas, texts as they are. Read it with `workbookMapping`.
 */
export const workbookToCsv = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  { mostXml = maximumXml, sheet }: ReadOptions = {}
): Stream.Stream<Uint8Array, E | UnreadableFile> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const parts = yield* partsOf(bytes, mostXml)
      const read = readSheet(parts, sheet)
      if (Result.isFailure(read)) return yield* unreadable(`the workbook cannot be read: ${read.failure}`)
      return csvOf(read.success)
    })
  )

const csvOf = ({ rows, width }: Sheet): Stream.Stream<Uint8Array> =>
  Stream.fromIterable(rows).pipe(
    Stream.map((row) =>
      // An empty row is a blank line, which is no contact.
      row.length === 0
        ? [""]
        : Array.from({ length: width }, (_, column) => ContactColumns.protectCell(row[column] ?? ""))
    ),
    Stream.pipeThroughChannel(Csv.encode())
  )

/** An exported CSV as a workbook of one sheet, written as it is read. */
export const csvToWorkbook = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>
): Stream.Stream<Uint8Array, E | UnreadableFile, R> => {
  let line = 0
  const tooMuch = (what: string) =>
    Effect.fail(new UnreadableFile({ line, reason: `a workbook takes at most ${what}; export the contacts as CSV` }))
  const rows = content.pipe(
    Stream.pipeThroughChannelOrFail(Csv.decode({ maxRecordSize: Infinity })),
    Stream.catchIf(Csv.isCsvError, ({ line, message }) => Stream.fail(new UnreadableFile({ line, reason: message }))),
    Stream.mapEffect((cells) => {
      line++
      if (line > maximumRows) return tooMuch(`${maximumRows} rows`)
      const texts = cells.map(ContactColumns.restoreCell)
      return texts.some((text) => text.length > maximumText)
        ? tooMuch(`${maximumText} characters in a cell`)
        : Effect.succeed(texts)
    })
  )
  return Stream.fromIterable([
    ...sheetParts.map(([path, text]) => Zip.file(path, text)),
    Zip.fileStream("xl/worksheets/sheet1.xml", Stream.encodeText(sheetXml(rows)))
  ]).pipe(
    Stream.pipeThroughChannel(Zip.encode()),
    Stream.catchIf(Zip.isZipError, (error) => Stream.fail(new UnreadableFile({ line, reason: error.message })))
  )
}
