/**
 * Workbooks (.xlsx) as the CSV that imports read, and exported CSV as a workbook. It works in browsers too.
 * (docs/decisions/csv.md)
 */
import { type ImportMapping, UnreadableFile, type InvalidInput } from "@roster/domain"
import { ContactColumns, KnownFields } from "@roster/domain/internal"
import { Effect, Stream } from "effect"
import { Csv, Zip } from "effect/encoding"
import { foldedPath } from "./PartNames.ts"
import { type Parts, readSheet, sheetsWithAddresses, unreadable } from "./SheetReader.ts"
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

/** Counts bytes, and refuses those beyond a bound. */
const counting = (most: number, what: string) => {
  let size = 0
  const tooMuch = Effect.fail(unreadable(`the workbook has more than ${most / 1024 / 1024} MB${what}`))
  return (part: Uint8Array) => ((size += part.length) > most ? tooMuch : Effect.void)
}

/** The parts of a file, decompressed each time that they are read: what that makes is never held. */
const partsOf =
  (file: ReadonlyArray<Uint8Array>, mostXml: number): Parts =>
  (paths) =>
    Stream.suspend(() => {
      // All of it counts, so that nothing is decompressed for long.
      const count = counting(mostXml, " of XML")
      return Stream.fromIterable(file, { chunkSize: 1 }).pipe(
        Stream.pipeThroughChannelOrFail(Zip.decode()),
        Stream.flatMap(({ body, header }) => {
          const counted = Stream.tap(body, count)
          const path = foldedPath(header.path)
          return paths.includes(path) ? Stream.make({ path, body: counted }) : Stream.drain(counted)
        }),
        Stream.take(paths.length)
      )
    })

/** What is read of a workbook. */
export interface ReadOptions {
  /** The sheet, by its name in any letter case, or else by its number among those that people see (default: the first of them). */
  readonly sheet?: string | undefined
  /** The most that the file may decompress to and its CSV may have, in bytes (default: 256 MB); shared texts have half of it. */
  readonly mostXml?: number | undefined
}

const readFields = KnownFields.fieldsOf<ReadOptions>("this call", { sheet: true, mostXml: true })

/**
 * The first sheet of a workbook that people see, or the one of this name or number, as CSV whose lines are its rows: dates in the ISO form,
 * the results of formulas, zeros in front where a format such as `00000` shows them, texts as they are. What a cell refers to and
 * the file lacks makes it unreadable. Read it with `workbookMapping`.
 */
export const workbookToCsv = <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  options: ReadOptions = {}
): Stream.Stream<Uint8Array, E | InvalidInput | UnreadableFile> =>
  Stream.unwrap(
    Effect.gen(function* () {
      yield* KnownFields.checkFields(readFields, options)
      const { mostXml = maximumXml, sheet } = options
      const file = yield* Stream.runCollect(Stream.tap(bytes, counting(maximumBytes, "")))
      return readSheet(partsOf(file, mostXml), sheet, mostXml / 2).pipe(
        // An empty row is a blank line, which is no contact.
        Stream.map((row) =>
          row.length === 0 ? [""] : row.map((cell) => (cell === "" ? cell : ContactColumns.protectCell(cell)))
        ),
        Stream.pipeThroughChannel(Csv.encode()),
        Stream.tap(counting(mostXml, " of CSV"))
      )
    })
  )

/**
 * The names of the sheets of a workbook that people see and that have addresses, other than the one that `workbookToCsv` reads with
 * these options, for a person who named none or a wrong one.
 */
export const otherAddressSheets = Effect.fnUntraced(function* <E>(
  bytes: Stream.Stream<Uint8Array, E>,
  options: ReadOptions = {}
): Effect.fn.Return<ReadonlyArray<string>, E | InvalidInput | UnreadableFile> {
  yield* KnownFields.checkFields(readFields, options)
  const { mostXml = maximumXml, sheet } = options
  const file = yield* Stream.runCollect(Stream.tap(bytes, counting(maximumBytes, "")))
  return yield* sheetsWithAddresses(partsOf(file, mostXml), sheet, mostXml / 2)
})

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
