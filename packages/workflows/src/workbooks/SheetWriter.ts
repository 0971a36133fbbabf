/** Writes the parts of a workbook of one sheet. (ECMA-376, part 1) */
import { ContactColumns } from "@roster/domain/internal"
import { Stream } from "effect"

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const office = "http://schemas.openxmlformats.org"
const main = `${office}/spreadsheetml/2006/main`
const types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
const relations = (type: string, target: string) =>
  `${declaration}<Relationships xmlns="${office}/package/2006/relationships"><Relationship Id="rId1" ` +
  `Type="${office}/officeDocument/2006/relationships/${type}" Target="${target}"/></Relationships>`

/** The parts beside the sheet, by their paths. */
export const sheetParts: ReadonlyArray<readonly [path: string, text: string]> = [
  [
    "[Content_Types].xml",
    `${declaration}<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ` +
      'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
      `<Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/>` +
      `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`
  ],
  ["_rels/.rels", relations("officeDocument", "xl/workbook.xml")],
  ["xl/_rels/workbook.xml.rels", relations("worksheet", "worksheets/sheet1.xml")],
  [
    "xl/workbook.xml",
    `${declaration}<workbook xmlns="${main}" xmlns:r="${office}/officeDocument/2006/relationships">` +
      '<sheets><sheet name="Contacts" sheetId="1" r:id="rId1"/></sheets></workbook>'
  ]
]

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;" }

/** What XML cannot hold or would change, as workbooks write it, and a text that looks like that. */
const escaped =
  /[\0-\x08\x0b-\x1f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]|_(?=x[\da-f]{4}_)/gi

const xmlText = (text: string): string =>
  text
    .replaceAll(escaped, (found) => `_x${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}_`)
    .replaceAll(/[&<>]/g, (found) => entities[found] ?? found)

/** Whether a text comes back as it is if it is a number, which can be sorted and added. */
const isNumber = (text: string): boolean => text.length <= 11 && /^-?\d/.test(text) && String(Number(text)) === text

const cellXml = (text: string, address: string): string => {
  if (text === "") return ""
  return isNumber(text)
    ? `<c r="${address}"><v>${text}</v></c>`
    : `<c r="${address}" t="inlineStr"><is><t xml:space="preserve">${xmlText(text)}</t></is></c>`
}

/** The sheet with these rows, of which the first stays in view. */
export const sheetXml = <E, R>(rows: Stream.Stream<ReadonlyArray<string>, E, R>): Stream.Stream<string, E, R> => {
  let line = 0
  const body = Stream.map(rows, (cells) => {
    line++
    const inner = cells.map((cell, column) => cellXml(cell, `${ContactColumns.columnLetter(column)}${line}`))
    return `<row r="${line}">${inner.join("")}</row>`
  })
  const head =
    `${declaration}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews><sheetData>'
  return Stream.make(head).pipe(Stream.concat(body), Stream.concat(Stream.make("</sheetData></worksheet>")))
}
