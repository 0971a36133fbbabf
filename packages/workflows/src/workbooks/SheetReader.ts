/** Reads a sheet of a workbook from its parts: the texts of its cells, as a CSV has them. (ECMA-376, part 1) */
import { UnreadableFile } from "@roster/domain"
import { Effect, Stream } from "effect"
import { Xml, type Zip } from "effect/encoding"

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

/** The parts of a workbook at these paths. */
export type Parts = (paths: ReadonlyArray<string>) => Bytes<Bytes<Uint8Array>>

type Bytes<A> = Stream.Stream<A, Zip.ZipError | UnreadableFile>

export const unreadable = (issue: string) =>
  new UnreadableFile({ line: 1, reason: `${issue}; save the sheet as CSV UTF-8 and import that` })

const broken = (issue: string) => unreadable(`the workbook cannot be read: ${issue}`)

const localName = (name: string): string => name.slice(name.indexOf(":") + 1)

const children = (element: Xml.Element, name: string): ReadonlyArray<Xml.Element> =>
  element.children.filter((child): child is Xml.Element => typeof child !== "string" && localName(child.name) === name)

/** The elements of parts at a depth. What is in each is counted before it is collected. */
const elements = (parts: ReturnType<Parts>, depth: number): Stream.Stream<Xml.Element, UnreadableFile> =>
  parts.pipe(
    Stream.flatMap((part) => {
      let [level, within] = [0, 0]
      const tooMuch = Effect.fail(broken(`a row or a text of it has more than ${mostElements} elements`))
      return part.pipe(
        Stream.pipeThroughChannelOrFail(Xml.decode({ maxTokenSize })),
        Stream.mapArrayEffect((events) => {
          for (const { _tag } of events) {
            if (_tag === "EndElement") level--
            else if (_tag === "StartElement") within = ++level <= depth ? 0 : within + 1
            if (within > mostElements) return tooMuch
          }
          return Effect.succeed(events)
        }),
        Stream.pipeThroughChannelOrFail(Xml.elements(Array.from({ length: depth }, () => "*")))
      )
    }),
    Stream.catchTags({
      XmlError: ({ message }) => Stream.fail(broken(message)),
      ZipError: ({ message }) => Stream.fail(broken(message))
    })
  )

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

/** Whether a format, without quoted texts, colours and conditions, shows days or times. */
const isDateFormat = (code: string): boolean =>
  /[dmyhs]/i.test(code.replaceAll(/"[^"]*"?|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]?|General|E[+-]/gi, ""))

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

/** What cells mean beside what stands in them. */
interface Meanings {
  readonly texts: ReadonlyArray<string>
  readonly isDate: ReadonlyArray<boolean>
  readonly from1904: boolean
}

/** The text of a cell by its type. Numbers have the 15 digits that a spreadsheet shows. */
const cellText = (cell: Xml.Element, { from1904, isDate, texts }: Meanings): string => {
  const value = textIn(cell)
  const { s: style = "0", t: type = "n" } = cell.attributes
  if (value === "") return ""
  if (type === "s") return texts[Number(value)] ?? ""
  if (type === "b") return value === "1" ? "true" : "false"
  const number = Number(value)
  if (type !== "n" || value.trim() === "" || Number.isNaN(number)) return unescaped(value)
  return isDate[Number(style)] === true ? dateText(number, from1904) : String(Number(number.toPrecision(15)))
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
    if (text === "") continue
    while (cells.length < column) cells.push("")
    cells.push(text)
    size += text.length
    if (size > longestRow) return `a row has more than ${longestRow} characters`
  }
  return cells
}

/** The sheet that is meant, how it counts days, and the paths of its part and of those that say what its cells mean. */
const findSheet = Effect.fnUntraced(function* (parts: Parts, wanted: string | undefined) {
  const targets = new Map<string, string>()
  const byType = new Map<string, string>()
  const sheets: Array<{ readonly name: string; readonly id: string }> = []
  let from1904 = false
  yield* Stream.runForEach(elements(parts(["xl/_rels/workbook.xml.rels", "xl/workbook.xml"]), 2), (element) =>
    Effect.sync(() => {
      const { Id: id = "", Target: target = "", Type: type = "", date1904 = "" } = element.attributes
      const name = localName(element.name)
      if (name === "Relationship") {
        const path = target.startsWith("/") ? target.slice(1) : `xl/${target}`
        targets.set(id, path)
        byType.set(type.slice(type.lastIndexOf("/") + 1), path)
      }
      if (name === "workbookPr") from1904 = date1904 === "1" || date1904 === "true"
      if (name === "sheets") {
        for (const { attributes } of children(element, "sheet")) {
          const id = Object.keys(attributes).find((name) => localName(name) === "id") ?? ""
          sheets.push({ name: unescaped(attributes["name"] ?? ""), id: attributes[id] ?? "" })
        }
      }
    })
  )
  const fold = (name: string) => name.trim().toLowerCase()
  const present = sheets.flatMap(({ id, name }) => {
    const path = targets.get(id)
    return path === undefined ? [] : [{ name, path }]
  })
  if (present.length === 0) return yield* broken("it has no sheets")
  const sheet =
    wanted === undefined
      ? present[0]
      : (present.find(({ name }) => fold(name) === fold(wanted)) ?? present[Number(wanted) - 1])
  if (sheet === undefined) {
    const names = present.slice(0, 10).map(({ name }) => JSON.stringify(name))
    return yield* broken(`it has no sheet ${JSON.stringify(wanted)}, but ${names.join(", ")}`)
  }
  const texts = byType.get("sharedStrings") ?? "xl/sharedStrings.xml"
  return { ...sheet, from1904, meanings: [texts, byType.get("styles") ?? "xl/styles.xml"] }
})

/** The texts that cells share, of at most so many characters, and whether each style of a cell shows a date. */
const meaningsIn = Effect.fnUntraced(function* (known: Stream.Stream<Xml.Element, UnreadableFile>, mostTexts: number) {
  // Numbers 14 to 22 and 45 to 47 are built-in formats of dates, and the others those of East Asia.
  const dates = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 45, 46, 47])
  for (let number = 50; number <= 58; number++) dates.add(number)
  const texts: Array<string> = []
  const isDate: Array<boolean> = []
  let size = 0
  yield* Stream.runForEach(known, (element) => {
    const name = localName(element.name)
    if (name === "si") {
      // A part of a string keeps all of it, which is a piece of the file.
      const text = ` ${unescaped(textIn(element))}`.slice(1)
      texts.push(text)
      size += text.length + perText
    }
    for (const { attributes } of name === "numFmts" ? children(element, "numFmt") : []) {
      if (isDateFormat(attributes["formatCode"] ?? "")) dates.add(Number(attributes["numFmtId"]))
    }
    for (const { attributes } of name === "cellXfs" ? children(element, "xf") : []) {
      isDate.push(dates.has(Number(attributes["numFmtId"])))
    }
    return size > mostTexts
      ? Effect.fail(unreadable(`the workbook has more than ${mostTexts / 1024 / 1024} MB of texts`))
      : Effect.void
  })
  return { texts, isDate }
})

/** What was read of a sheet: its last row, its last one that is not empty, its columns, and rows that were not given yet. */
interface Read {
  readonly line: number
  readonly last: number
  readonly width: number
  readonly size: number
  readonly rows: Array<ReadonlyArray<string>>
}

/**
 * The rows of the first sheet, or of the one of this name in any letter case, or else of this number. A row that is
 * not empty is as wide as those above it; row 1 is the first, even if it is empty.
 */
export const readSheet = (parts: Parts, wanted: string | undefined, mostTexts: number) =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { from1904, meanings: others, name, path } = yield* findSheet(parts, wanted)
      const meanings = { ...(yield* meaningsIn(elements(parts(others), 2), mostTexts)), from1904 }
      return elements(parts([path]), 3).pipe(
        Stream.orElseIfEmpty(() => Stream.fail(broken(`its sheet ${JSON.stringify(name)} is missing or empty`))),
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
    })
  )
