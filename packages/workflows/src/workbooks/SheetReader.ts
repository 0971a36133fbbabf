/** Reads a sheet of a workbook from its parts: the texts of its cells, as a CSV has them. (ECMA-376, part 1) */
import { Result } from "effect"
import { scanXml } from "./XmlScan.ts"

/** A sheet. A row ends with its last cell that is not empty; row 1 is the first, even if it is empty. */
export interface Sheet {
  readonly rows: ReadonlyArray<ReadonlyArray<string>>
  /** The number of columns. */
  readonly width: number
}

type Parts = ReadonlyMap<string, ReadonlyArray<Uint8Array>>

/** The rows and columns that a sheet can have, and the cells that are read of one. */
const [mostRows, mostColumns, mostCells] = [1_048_576, 16_384, 50_000_000]

/** A fault of the file, which ends the reading. */
class Fault extends Error {}

const textOf = (parts: Parts, path: string): string | undefined => {
  const pieces = parts.get(path)
  if (pieces === undefined) return undefined
  const utf8 = new TextDecoder()
  return pieces.map((piece) => utf8.decode(piece, { stream: true })).join("") + utf8.decode()
}

const scan = (xml: string | undefined, handlers: Partial<Parameters<typeof scanXml>[1]>): void => {
  const issue = scanXml(xml ?? "", { open: () => {}, close: () => {}, text: () => {}, ...handlers })
  if (issue !== undefined) throw new Fault(issue)
}

/** A text in which `_x000D_` and its like stand for what XML cannot hold. */
const unescaped = (text: string): string =>
  text.includes("_x")
    ? text.replaceAll(/_x([\da-f]{4})_/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)))
    : text

/** The sheets by name with the paths of their parts, those of the shared texts and styles, and how days are counted. */
const workbookIn = (parts: Parts) => {
  const targets = new Map<string, string>()
  const byType = new Map<string, string>()
  scan(textOf(parts, "xl/_rels/workbook.xml.rels"), {
    open: (name, attributes) => {
      if (name !== "Relationship") return
      const target = attributes().get("Target") ?? ""
      const path = target.startsWith("/") ? target.slice(1) : `xl/${target}`
      targets.set(attributes().get("Id") ?? "", path)
      byType.set(attributes().get("Type")?.replace(/^.*\//, "") ?? "", path)
    }
  })
  const sheets: Array<{ readonly name: string; readonly path: string }> = []
  let from1904 = false
  scan(textOf(parts, "xl/workbook.xml"), {
    open: (name, attributes) => {
      if (name === "workbookPr") from1904 = /^(?:1|true)$/.test(attributes().get("date1904") ?? "")
      if (name !== "sheet") return
      const path = targets.get(attributes().get("id") ?? "")
      if (path !== undefined) sheets.push({ name: unescaped(attributes().get("name") ?? ""), path })
    }
  })
  const texts = byType.get("sharedStrings") ?? "xl/sharedStrings.xml"
  return { sheets, from1904, texts, styles: byType.get("styles") ?? "xl/styles.xml" }
}

const sharedTexts = (xml: string | undefined): ReadonlyArray<string> => {
  const texts: Array<string> = []
  let [text, isText, isPhonetic] = ["", false, false]
  scan(xml, {
    open: (name) => {
      if (name === "si") text = ""
      if (name === "t") isText = true
      if (name === "rPh") isPhonetic = true
    },
    close: (name) => {
      if (name === "si") texts.push(unescaped(text))
      if (name === "t") isText = false
      if (name === "rPh") isPhonetic = false
    },
    text: (part) => {
      if (isText && !isPhonetic) text += part
    }
  })
  return texts
}

/** Whether a format, without quoted texts, colours and conditions, shows days or times. */
const isDateFormat = (code: string): boolean =>
  /[dmyhs]/i.test(code.replaceAll(/"[^"]*"|\\.|_.|\*.|\[(?!h+\]|m+\]|s+\])[^\]]*\]|General|E[+-]/gi, ""))

/** Whether each style of a cell shows a date. Numbers 14 to 22 and 45 to 47 are built-in formats, and the ones of East Asia. */
const dateStyles = (xml: string | undefined): ReadonlyArray<boolean> => {
  const dates = new Set([14, 15, 16, 17, 18, 19, 20, 21, 22, 27, 28, 29, 30, 31, 32, 33, 34, 35, 36, 45, 46, 47])
  for (let number = 50; number <= 58; number++) dates.add(number)
  const styles: Array<boolean> = []
  let isCells = false
  scan(xml, {
    open: (name, attributes) => {
      if (name === "cellXfs") isCells = true
      if (name === "numFmt" && isDateFormat(attributes().get("formatCode") ?? "")) {
        dates.add(Number(attributes().get("numFmtId")))
      }
      if (name === "xf" && isCells) styles.push(dates.has(Number(attributes().get("numFmtId"))))
    },
    close: (name) => {
      if (name === "cellXfs") isCells = false
    }
  })
  return styles
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
  for (const letter of address.replace(/\d+$/, "")) column = column * 26 + letter.charCodeAt(0) - 64
  return column - 1
}

interface Reading {
  readonly from1904: boolean
  readonly texts: ReadonlyArray<string>
  readonly isDate: ReadonlyArray<boolean>
}

/** The text of a cell by its type. Numbers have the 15 digits that a spreadsheet shows. */
const cellText = (value: string, type: string, style: number, { from1904, isDate, texts }: Reading): string => {
  if (type === "s") return texts[Number(value)] ?? ""
  if (type === "b") return value === "1" ? "true" : "false"
  const number = Number(value)
  if (type !== "n" || value.trim() === "" || Number.isNaN(number)) return unescaped(value)
  return isDate[style] === true ? dateText(number, from1904) : String(Number(number.toPrecision(15)))
}

const emptyRow: ReadonlyArray<string> = []

const rowsIn = (xml: string, reading: Reading): Sheet => {
  const rows: Array<ReadonlyArray<string>> = []
  let width = 0
  let row: Array<string> = []
  let [line, column, type, style, value] = [0, -1, "n", 0, ""]
  let [isData, isValue, isPhonetic] = [false, false, false]
  scan(xml, {
    open: (name, attributes) => {
      if (name === "sheetData") isData = true
      if (!isData) return
      if (name === "row") {
        const next = Number(attributes().get("r") ?? line + 1)
        if (!(next > line && next <= mostRows)) throw new Fault("its rows are in disorder")
        line = next
        column = -1
        row = []
      } else if (name === "c") {
        const known = attributes()
        const address = known.get("r")
        column = address === undefined ? column + 1 : columnOf(address)
        if (!(column >= row.length && column < mostColumns)) throw new Fault("its cells are in disorder")
        type = known.get("t") ?? "n"
        style = Number(known.get("s") ?? 0)
        value = ""
      } else if (name === "v" || name === "t") isValue = true
      else if (name === "rPh") isPhonetic = true
    },
    close: (name) => {
      if (!isData) return
      if (name === "sheetData") isData = false
      else if (name === "v" || name === "t") isValue = false
      else if (name === "rPh") isPhonetic = false
      else if (name === "c" && value !== "") {
        const text = cellText(value, type, style, reading)
        if (text !== "") row.push(...Array.from({ length: column - row.length }, () => ""), text)
      } else if (name === "row") {
        while (row.length > 0 && rows.length < line - 1) rows.push(emptyRow)
        if (row.length > 0) rows.push(row)
        width = Math.max(width, row.length)
        if (width * rows.length > mostCells) throw new Fault(`it has more than ${mostCells} cells`)
      }
    },
    text: (text) => {
      if (isValue && !isPhonetic) value += text
    }
  })
  return { rows, width }
}

/** The first sheet, or the one of this name in any letter case, or else of this number; or why it cannot be read. */
export const readSheet = (parts: Parts, wanted: string | undefined): Result.Result<Sheet, string> => {
  const fold = (name: string) => name.trim().toLowerCase()
  try {
    const { from1904, sheets, styles, texts } = workbookIn(parts)
    if (sheets.length === 0) return Result.fail("it has no sheets")
    const sheet =
      wanted === undefined
        ? sheets[0]
        : (sheets.find(({ name }) => fold(name) === fold(wanted)) ?? sheets[Number(wanted) - 1])
    if (sheet === undefined) {
      const names = sheets.slice(0, 10).map(({ name }) => JSON.stringify(name))
      return Result.fail(`it has no sheet ${JSON.stringify(wanted)}, but ${names.join(", ")}`)
    }
    const xml = textOf(parts, sheet.path)
    if (xml === undefined) return Result.fail(`its sheet ${JSON.stringify(sheet.name)} is missing`)
    const reading = {
      from1904,
      texts: sharedTexts(textOf(parts, texts)),
      isDate: dateStyles(textOf(parts, styles))
    }
    return Result.succeed(rowsIn(xml, reading))
  } catch (fault) {
    if (fault instanceof Fault) return Result.fail(fault.message)
    throw fault
  }
}
