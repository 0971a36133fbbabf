/** Reads a sheet of a workbook from its parts: the texts of its cells, as a CSV has them. (ECMA-376, part 1) */
import { UnreadableFile } from "@roster/domain"
import { ContactColumns } from "@roster/domain/internal"
import { Effect, Option, Stream } from "effect"
import { Xml, type Zip } from "effect/encoding"
import { isDateFormat, type PaddedFormat, paddedFormat } from "./NumberFormat.ts"
import { relationsOf, resolved, workbookPath } from "./PartNames.ts"

/** The rows and columns that a sheet can have. */
const [mostRows, mostColumns] = [1_048_576, 16_384]

/** The longest row, in UTF-16 units, and the elements in a row or text: 16 for each cell that a row can have. */
const [longestRow, mostElements] = [8 * 1024 * 1024, 16 * mostColumns]

/** The longest tag, and the longest text between tags. A cell has at most 32,767 characters. */
const maxTokenSize = 1024 * 1024

/** What a text takes beside its characters, in UTF-16 units. */
const perText = 32

/** The size of rows that are given together, in cells and UTF-16 units. */
const rowsTogether = 65_536

/** A part of a workbook, and its path as `foldedPath` gives it. */
export interface Part {
  readonly path: string
  readonly body: Bytes<Uint8Array>
}

/** The parts of a workbook at these paths, in the order of the file. */
export type Parts = (paths: ReadonlyArray<string>) => Bytes<Part>

type Bytes<A> = Stream.Stream<A, Zip.ZipError | UnreadableFile>

export const unreadable = (issue: string) =>
  new UnreadableFile({ line: 1, reason: `${issue}; save the sheet as CSV UTF-8 and import that` })

/** What an office file is that is no workbook of XML, by the path of its first part. */
const otherDocument = (path: string): string | undefined =>
  path.startsWith("word/")
    ? "it is a text document (.docx)"
    : path.startsWith("ppt/")
      ? "it is a presentation (.pptx)"
      : path.startsWith("visio/")
        ? "it is a drawing (.vsdx)"
        : path.endsWith(".bin")
          ? "it is a binary workbook (.xlsb)"
          : undefined

const broken = (issue: string) => unreadable(`the workbook cannot be read: ${issue}`)

const localName = (name: string): string => name.slice(name.indexOf(":") + 1)

const children = (element: Xml.Element, name: string): ReadonlyArray<Xml.Element> =>
  element.children.filter((child): child is Xml.Element => typeof child !== "string" && localName(child.name) === name)

/** The elements of parts at a depth, each with the path of its part. What is in each is counted before it is collected. */
const elementsOf = (
  parts: ReturnType<Parts>,
  depth: number
): Stream.Stream<{ readonly path: string; readonly element: Xml.Element }, UnreadableFile> =>
  parts.pipe(
    Stream.flatMap(({ body, path }) => {
      let [level, within] = [0, 0]
      const tooMuch = Effect.fail(broken(`a row or a text of it has more than ${mostElements} elements`))
      return body.pipe(
        Stream.pipeThroughChannelOrFail(Xml.decode({ maxTokenSize })),
        Stream.mapArrayEffect((events) => {
          for (const { _tag } of events) {
            if (_tag === "EndElement") level--
            else if (_tag === "StartElement") within = ++level <= depth ? 0 : within + 1
            if (within > mostElements) return tooMuch
          }
          return Effect.succeed(events)
        }),
        Stream.pipeThroughChannelOrFail(Xml.elements(Array.from({ length: depth }, () => "*"))),
        Stream.map((element) => ({ path, element }))
      )
    }),
    Stream.catchTags({
      XmlError: ({ message }) => Stream.fail(broken(message)),
      ZipError: ({ message }) => Stream.fail(broken(message))
    })
  )

const elements = (parts: ReturnType<Parts>, depth: number): Stream.Stream<Xml.Element, UnreadableFile> =>
  Stream.map(elementsOf(parts, depth), ({ element }) => element)

/** A text in which `_x000D_` and its like stand for what XML cannot hold. */
const unescaped = (text: string): string =>
  text.includes("_x")
    ? text.replaceAll(/_x([\da-f]{4})_/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text

/** The values and texts in an element, without formulas and without how texts are pronounced. */
const textIn = (element: Xml.Element): string => {
  const name = localName(element.name)
  if (name === "rPh") return ""
  let text = ""
  for (const child of element.children) {
    if (typeof child !== "string") text += textIn(child)
    else if (name === "t" || name === "v") text += child
  }
  return text
}

/** The ISO form of a number of days, to the second. It has no zone, as the cell has none; rules take it for UTC. */
const dateText = (days: number, from1904: boolean): string => {
  // Day 60 of the older count is 29 February 1900, which there was not.
  const sinceEpoch = from1904 ? days - 24_107 : days - (days < 60 ? 25_568 : 25_569)
  const date = new Date(Math.round(sinceEpoch * 86_400) * 1000)
  if (Number.isNaN(date.getTime()) || date.getUTCFullYear() > 9999) return String(days)
  const iso = date.toISOString().slice(0, 19)
  if (days >= 0 && days < 1) return iso.slice(11)
  return iso.endsWith("T00:00:00") ? iso.slice(0, 10) : iso
}

const columnOf = (address: string): number => {
  let column = 0
  for (const letter of /^[A-Z]{0,4}/.exec(address)?.[0] ?? "") column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}

/** How numbers of a style are shown: as days, with zeros in front, in a way that the file does not say, or as they are. */
type Shown = "Days" | "Missing" | PaddedFormat | undefined

/** What cells mean beside what stands in them. */
interface Meanings {
  readonly texts: ReadonlyArray<string>
  readonly shown: ReadonlyArray<Shown>
  readonly from1904: boolean
}

/** The text of a cell by its type, or what it refers to and is missing. Numbers have the 15 digits that a spreadsheet shows. */
const cellText = (cell: Xml.Element, { from1904, shown, texts }: Meanings): string | { readonly missing: string } => {
  const value = textIn(cell)
  const { s: style = "0", t: type = "n" } = cell.attributes
  if (value === "") return ""
  if (type === "s") return texts[Number(value)] ?? { missing: `the shared text ${value}` }
  if (type === "b") return value === "1" ? "true" : "false"
  const number = Number(value)
  if (type !== "n" || value.trim() === "" || Number.isNaN(number)) return unescaped(value)
  const format = shown[Number(style)]
  // A file may do without a style for what needs none.
  const isMissing = format === "Missing" || (Number(style) !== 0 && !(Number(style) < shown.length))
  if (isMissing) return { missing: `the style ${style}, by which a number is a day or none` }
  if (format === "Days") return dateText(number, from1904)
  const digits = String(Number(number.toPrecision(15)))
  return format?.(digits) ?? digits
}

/** The cells of a row up to the last one that is not empty, or why they cannot be read. */
const cellsIn = (row: Xml.Element, meanings: Meanings): Array<string> | string => {
  const cells: Array<string> = []
  let [column, size] = [-1, 0]
  for (const cell of children(row, "c")) {
    const { r: address } = cell.attributes
    column = address === undefined ? column + 1 : columnOf(address)
    if (!(column >= cells.length && column < mostColumns)) return "its cells are in disorder"
    const text = cellText(cell, meanings)
    if (typeof text !== "string")
      return `a cell of column ${ContactColumns.columnLetter(column)} refers to ${text.missing}, which is missing`
    if (text === "") continue
    while (cells.length < column) cells.push("")
    cells.push(text)
    size += text.length
    if (size > longestRow) return `a row has more than ${longestRow} characters`
  }
  return cells
}

/** A sheet of cells. */
interface Sheet {
  readonly name: string
  /** Whether people see it. */
  readonly isShown: boolean
  /** The path of its part; `undefined` if the file does not say it. */
  readonly path: string | undefined
}

/** What a workbook has. */
interface Contents {
  readonly sheets: ReadonlyArray<Sheet>
  /** Whether days are counted from 1904 on. */
  readonly from1904: boolean
  /** The paths of the parts that say what cells mean. */
  readonly meanings: ReadonlyArray<string>
}

/** The sheets of a workbook, and where its parts are. */
const contentsOf = Effect.fnUntraced(function* (
  parts: Parts,
  at = workbookPath
): Effect.fn.Return<Contents, UnreadableFile> {
  const roots = "_rels/.rels"
  let root: string | undefined
  const byId = new Map<string, { readonly path: string; readonly type: string }>()
  const byType = new Map<string, string>()
  const named: Array<{ readonly name: string; readonly id: string; readonly isShown: boolean }> = []
  let from1904 = false
  yield* Stream.runForEach(elementsOf(parts([roots, relationsOf(at), at]), 2), ({ element, path: part }) =>
    Effect.sync(() => {
      const { Id: id = "", Target: target = "", Type: fullType = "", date1904 = "" } = element.attributes
      const name = localName(element.name)
      const type = fullType.slice(fullType.lastIndexOf("/") + 1)
      if (name === "Relationship" && part === roots) {
        if (type === "officeDocument") root = resolved("", target)
      } else if (name === "Relationship") {
        const path = resolved(at, target)
        byId.set(id, { path, type })
        byType.set(type, path)
      }
      if (name === "workbookPr") from1904 = date1904 === "1" || date1904 === "true"
      if (name === "sheets") {
        for (const { attributes } of children(element, "sheet")) {
          const id = Object.keys(attributes).find((name) => localName(name) === "id") ?? ""
          const { name: title = "", state = "visible" } = attributes
          named.push({ name: unescaped(title), id: attributes[id] ?? "", isShown: state === "visible" })
        }
      }
    })
  )
  if (root !== undefined && root !== at && at === workbookPath) {
    const other = otherDocument(root)
    return other === undefined ? yield* contentsOf(parts, root) : yield* unreadable(other)
  }
  // A sheet may be a diagram, which has no cells.
  const sheets = named.flatMap(({ id, isShown, name }): ReadonlyArray<Sheet> => {
    const of = byId.get(id)
    return of === undefined || of.type === "worksheet" ? [{ name, isShown, path: of?.path }] : []
  })
  if (sheets.length === 0) return yield* broken("it has no sheets")
  const texts = byType.get("sharedStrings") ?? resolved(at, "sharedStrings.xml")
  return { sheets, from1904, meanings: [texts, byType.get("styles") ?? resolved(at, "styles.xml")] }
})

const foldName = (name: string): string => name.trim().toLowerCase()

/** The sheet of this name, or else of this number among those that people see; without either the first of them. */
const sheetOf = (sheets: ReadonlyArray<Sheet>, wanted: string | undefined): Effect.Effect<Sheet, UnreadableFile> => {
  const shown = sheets.filter(({ isShown }) => isShown)
  const seen = shown.length === 0 ? sheets : shown
  const sheet =
    wanted === undefined
      ? seen[0]
      : (sheets.find(({ name }) => foldName(name) === foldName(wanted)) ?? seen[Number(wanted) - 1])
  if (sheet !== undefined) return Effect.succeed(sheet)
  const names = seen.slice(0, 10).map(({ name }) => JSON.stringify(name))
  return Effect.fail(broken(`it has no sheet ${JSON.stringify(wanted)}, but ${names.join(", ")}`))
}

/** The texts that cells share, of at most so many characters, and how each style of a cell shows numbers. */
const meaningsIn = Effect.fnUntraced(function* (known: Stream.Stream<Xml.Element, UnreadableFile>, mostTexts: number) {
  // Numbers 14 to 22 and 45 to 47 are built-in formats of dates, and the others those of East Asia.
  const dates = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 45, 46, 47])
  for (let number = 50; number <= 58; number++) dates.add(number)
  const formats = new Map<number, Shown>()
  const texts: Array<string> = []
  const shown: Array<Shown> = []
  let size = 0
  const shownBy = (format: number): Shown => {
    if (formats.has(format)) return formats.get(format)
    // The others below are built in, and show numbers.
    return dates.has(format) ? "Days" : format >= firstOwnFormat ? "Missing" : undefined
  }
  yield* Stream.runForEach(known, (element) => {
    const name = localName(element.name)
    if (name === "si") {
      // A part of a string keeps all of it, which is a piece of the file.
      const text = ` ${unescaped(textIn(element))}`.slice(1)
      texts.push(text)
      size += text.length + perText
    }
    for (const { attributes } of name === "numFmts" ? children(element, "numFmt") : []) {
      const { formatCode = "", numFmtId } = attributes
      formats.set(Number(numFmtId), isDateFormat(formatCode) ? "Days" : paddedFormat(formatCode))
    }
    for (const { attributes } of name === "cellXfs" ? children(element, "xf") : []) {
      shown.push(shownBy(Number(attributes["numFmtId"] ?? 0)))
    }
    return size > mostTexts
      ? Effect.fail(unreadable(`the workbook has more than ${mostTexts / 1024 / 1024} MB of texts`))
      : Effect.void
  })
  return { texts, shown }
})

/** The number of the first format that a workbook defines itself. */
const firstOwnFormat = 164

/** What was read of a sheet: its last row, its last one that is not empty, its columns, and rows that were not given yet. */
interface Read {
  readonly line: number
  readonly last: number
  readonly width: number
  readonly size: number
  readonly rows: Array<ReadonlyArray<string>>
}

type Rows = Stream.Stream<ReadonlyArray<string>, UnreadableFile>

/** The rows of sheets. A row that is not empty is as wide as those above it; row 1 is the first, even if it is empty. */
const makeRowsOf = Effect.fnUntraced(function* (
  parts: Parts,
  { from1904, meanings: others }: Contents,
  mostTexts: number
) {
  const meanings = { ...(yield* meaningsIn(elements(parts(others), 2), mostTexts)), from1904 }
  return ({ name, path }: Sheet): Rows => {
    const missing = Stream.fail(broken(`its sheet ${JSON.stringify(name)} is missing or empty`))
    if (path === undefined) return missing
    return elements(parts([path]), 3).pipe(
      Stream.orElseIfEmpty(() => missing),
      Stream.filter((element) => localName(element.name) === "row"),
      Stream.mapAccumEffect(
        (): Read => ({ line: 0, last: 0, width: 0, size: 0, rows: [] }),
        ({ rows, ...before }, row): Effect.Effect<readonly [Read, Read["rows"]], UnreadableFile> => {
          const line = Number(row.attributes["r"] ?? before.line + 1)
          if (!(line > before.line && line <= mostRows)) return Effect.fail(broken("its rows are in disorder"))
          const cells = cellsIn(row, meanings)
          if (typeof cells === "string") return Effect.fail(broken(cells))
          if (cells.length === 0) return Effect.succeed([{ ...before, line, rows }, []])
          for (let empty = before.last + 1; empty < line; empty++) rows.push([])
          while (cells.length < before.width) cells.push("")
          rows.push(cells)
          const size = cells.reduce((sum, { length }) => sum + length + 1, before.size)
          const read = { line, last: line, width: cells.length, size, rows }
          return Effect.succeed(size < rowsTogether ? [read, []] : [{ ...read, size: 0, rows: [] }, rows])
        },
        { onHalt: ({ rows }) => rows }
      )
    )
  }
})

/** The rows of the first sheet that people see, or of the one of this name in any letter case, or else of this number. */
export const readSheet = (parts: Parts, wanted: string | undefined, mostTexts: number): Rows =>
  Stream.unwrap(
    Effect.gen(function* () {
      const contents = yield* contentsOf(parts)
      const sheet = yield* sheetOf(contents.sheets, wanted)
      return (yield* makeRowsOf(parts, contents, mostTexts))(sheet)
    })
  )

/** How many rows of a sheet show whether it has addresses. */
const consideredRows = 1000

/** The names of the sheets that people see and that have a cell with an address, but for one. A sheet that cannot be read has none. */
export const sheetsWithAddresses = Effect.fnUntraced(function* (
  parts: Parts,
  but: string | undefined,
  mostTexts: number
) {
  const contents = yield* contentsOf(parts)
  const other = yield* sheetOf(contents.sheets, but)
  const rowsOf = yield* makeRowsOf(parts, contents, mostTexts)
  const hasAddress = (sheet: Sheet) =>
    rowsOf(sheet).pipe(
      Stream.take(consideredRows),
      Stream.filter((cells) => cells.some(ContactColumns.isAddress)),
      Stream.runHead,
      Effect.match({ onSuccess: Option.isSome, onFailure: () => false })
    )
  const shown = contents.sheets.filter((sheet) => sheet.isShown && sheet !== other)
  return (yield* Effect.filter(shown, hasAddress)).map(({ name }) => name)
})
