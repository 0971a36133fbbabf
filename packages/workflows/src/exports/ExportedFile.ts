/** What is made of the bytes of an exported file as they pass: how many contacts it has, and a CSV of another shape. */
import { InvalidInput, UnreadableFile } from "@roster/domain"
import { ContactColumns, FieldNames } from "@roster/domain/internal"
import { didYouMean } from "@roster/domain/DidYouMean"
import { Effect, Stream } from "effect"
import { Csv } from "effect/encoding"

const [quote, lineFeed, backslash] = [0x22, 0x0a, 0x5c]
const [openBrace, closeBrace, openBracket, closeBracket] = [0x7b, 0x7d, 0x5b, 0x5d]

/** Counts the lines of a CSV but the header; line breaks in quotes are none. */
const csvCounter = () => {
  let [lines, last, isQuoted] = [0, lineFeed, false]
  return {
    add: (bytes: Uint8Array): void => {
      for (const byte of bytes) {
        if (byte === quote) isQuoted = !isQuoted
        else if (byte === lineFeed && !isQuoted) lines++
        last = byte
      }
    },
    count: () => Math.max(0, lines - (last === lineFeed ? 1 : 0))
  }
}

/** Counts the objects of an array in JSON. */
const jsonCounter = () => {
  let [objects, depth, isText, isEscaped] = [0, 0, false, false]
  return {
    add: (bytes: Uint8Array): void => {
      for (const byte of bytes) {
        if (isEscaped) isEscaped = false
        else if (byte === quote) isText = !isText
        else if (isText) isEscaped = byte === backslash
        else if (byte === openBrace || byte === openBracket) {
          if (byte === openBrace && depth === 1) objects++
          depth++
        } else if (byte === closeBrace || byte === closeBracket) depth--
      }
    },
    count: () => objects
  }
}

/** Counts the contacts of an exported CSV or JSON as its bytes pass. */
export const countExported = (format: "Csv" | "Json") => {
  const { add, count } = format === "Csv" ? csvCounter() : jsonCounter()
  return {
    /** The number of contacts so far. */
    count,
    /** Counts the bytes that pass through it. */
    through: <E, R>(content: Stream.Stream<Uint8Array, E, R>): Stream.Stream<Uint8Array, E, R> =>
      Stream.map(content, (bytes) => {
        add(bytes)
        return bytes
      })
  }
}

/** The shape of a CSV file. */
export interface CsvShape {
  /** The columns in their order, by names in any letter case (default: all). */
  readonly columns?: ReadonlyArray<string> | undefined
  /** What stands between cells (default: a comma). */
  readonly delimiter?: string | undefined
  /** Whether it begins with the mark by which spreadsheets know UTF-8 (default: false). */
  readonly bom?: boolean | undefined
  /** Whether texts that a spreadsheet would run stay as they are stored (default: false, and an apostrophe protects them). */
  readonly keepsFormulas?: boolean | undefined
  /** Whether a column that the file lacks is an empty one (default: false, and it is refused). */
  readonly allowsAbsent?: boolean | undefined
}

const mark = new Uint8Array([0xef, 0xbb, 0xbf])

/** The places of columns in a header; -1 for one that it lacks. */
const placesOf = (header: ReadonlyArray<string>, columns: ReadonlyArray<string>): ReadonlyArray<number> => {
  const places = new Map<string, number>()
  for (const [place, cell] of header.entries()) {
    const name = FieldNames.foldName(ContactColumns.restoreCell(cell))
    if (!places.has(name)) places.set(name, place)
  }
  return columns.map((name) => places.get(FieldNames.foldName(name)) ?? -1)
}

/** Gives an exported CSV another shape. Fails for a column that it lacks, and for what is no CSV. */
export const shapedCsv = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>,
  { allowsAbsent = false, bom = false, columns, delimiter = ",", keepsFormulas = false }: CsvShape
): Stream.Stream<Uint8Array, E | InvalidInput | UnreadableFile, R> => {
  let places: ReadonlyArray<number> | undefined
  const rows = content.pipe(
    Stream.pipeThroughChannelOrFail(Csv.decode({ maxRecordSize: Infinity })),
    Stream.mapEffect((cells) => {
      const isHeader = places === undefined
      places ??= columns === undefined ? cells.map((_, place) => place) : placesOf(cells, columns)
      const absent = columns?.filter((_, index) => places?.[index] === -1) ?? []
      if (isHeader && absent.length > 0 && !allowsAbsent) {
        const names = cells.map(ContactColumns.restoreCell)
        const words = absent.map((name) => {
          const meant = didYouMean(name, names)
          return meant === undefined ? name : `${name} (${meant})`
        })
        return new InvalidInput({ field: "columns", issue: `no contact has ${words.join(", ")}` })
      }
      const picked = places.map((place, index) =>
        isHeader && place === -1 ? ContactColumns.protectCell(columns?.[index] ?? "") : (cells[place] ?? "")
      )
      return Effect.succeed(keepsFormulas ? picked.map(ContactColumns.restoreCell) : picked)
    }),
    Stream.pipeThroughChannel(Csv.encode({ delimiter })),
    Stream.catchIf(Csv.isCsvError, ({ line, message }) => Stream.fail(new UnreadableFile({ line, reason: message })))
  )
  return bom ? Stream.concat(Stream.make(mark), rows) : rows
}
