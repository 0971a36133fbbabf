/** Writes the parts of a workbook of one sheet. (ECMA-376, part 1) */
import { ContactColumns, ContactFields } from "@roster/domain/internal"
import { Stream } from "effect"

const declaration = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'
const office = "http://schemas.openxmlformats.org"
const main = `${office}/spreadsheetml/2006/main`
const types = "application/vnd.openxmlformats-officedocument.spreadsheetml"
const relations = (...targets: ReadonlyArray<readonly [type: string, target: string]>) =>
  `${declaration}<Relationships xmlns="${office}/package/2006/relationships">${targets
    .map(
      ([type, target], index) =>
        `<Relationship Id="rId${index + 1}" Type="${office}/officeDocument/2006/relationships/${type}" Target="${target}"/>`
    )
    .join("")}</Relationships>`

/** The looks of cells, by their places in `cellXfs`. */
const styles = { plain: 0, heading: 1, day: 2, time: 3 } as const

const stylesXml =
  `${declaration}<styleSheet xmlns="${main}"><numFmts count="2"><numFmt numFmtId="164" formatCode="yyyy\\-mm\\-dd"/>` +
  '<numFmt numFmtId="165" formatCode="yyyy\\-mm\\-dd\\ hh:mm:ss"/></numFmts>' +
  '<fonts count="2"><font><sz val="11"/><name val="Calibri"/></font><font><b/><sz val="11"/><name val="Calibri"/></font></fonts>' +
  '<fills count="2"><fill><patternFill patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill></fills>' +
  '<borders count="1"><border><left/><right/><top/><bottom/><diagonal/></border></borders>' +
  '<cellStyleXfs count="1"><xf numFmtId="0" fontId="0" fillId="0" borderId="0"/></cellStyleXfs><cellXfs count="4">' +
  '<xf numFmtId="0" fontId="0" fillId="0" borderId="0" xfId="0"/>' +
  '<xf numFmtId="0" fontId="1" fillId="0" borderId="0" xfId="0" applyFont="1"/>' +
  '<xf numFmtId="164" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/>' +
  '<xf numFmtId="165" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"/></cellXfs></styleSheet>'

/** The parts beside the sheet, by their paths. */
export const sheetParts: ReadonlyArray<readonly [path: string, text: string]> = [
  [
    "[Content_Types].xml",
    `${declaration}<Types xmlns="${office}/package/2006/content-types"><Default Extension="rels" ` +
      'ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
      `<Override PartName="/xl/workbook.xml" ContentType="${types}.sheet.main+xml"/>` +
      `<Override PartName="/xl/styles.xml" ContentType="${types}.styles+xml"/>` +
      `<Override PartName="/xl/worksheets/sheet1.xml" ContentType="${types}.worksheet+xml"/></Types>`
  ],
  ["_rels/.rels", relations(["officeDocument", "xl/workbook.xml"])],
  ["xl/_rels/workbook.xml.rels", relations(["worksheet", "worksheets/sheet1.xml"], ["styles", "styles.xml"])],
  ["xl/styles.xml", stylesXml],
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

const day = 86_400_000

/** The number by which a workbook means a time: days since the end of 1899. It is wrong about those before March 1900. */
const serialOf = (text: string): number | undefined => {
  const at = Date.parse(text)
  return at >= Date.UTC(1901, 0, 1) ? at / day + 25_569 : undefined
}

const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && new Date(Date.parse(text)).toJSON()?.startsWith(text) === true

const dateColumns: ReadonlySet<string> = new Set(
  ContactFields.allFields.flatMap(({ kind, wire }) => (kind === "date" ? [wire] : []))
)

const addedColumns: ReadonlySet<string> = new Set(ContactFields.addedFields.map(({ wire }) => wire))

/**
 * Whether a text is the time of a field that is one. A workbook has no zone, so that texts of other columns would come back changed, and
 * so would parts of a second in those that an import reads.
 */
const isTime = (text: string, column: string): boolean =>
  dateColumns.has(column) &&
  /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z$/.test(text) &&
  (!addedColumns.has(column) || /^\d(?:\.0+)?Z$/.test(text.slice(18)))

const cellXml = (text: string, address: string, column: string | undefined): string => {
  if (text === "") return ""
  const isHeading = column === undefined
  if (!isHeading && isNumber(text)) return `<c r="${address}"><v>${text}</v></c>`
  const look = isHeading ? styles.heading : isDay(text) ? styles.day : isTime(text, column) ? styles.time : styles.plain
  const serial = look === styles.day || look === styles.time ? serialOf(text) : undefined
  if (serial !== undefined) return `<c r="${address}" s="${look}"><v>${serial}</v></c>`
  const style = isHeading ? ` s="${look}"` : ""
  return `<c r="${address}"${style} t="inlineStr"><is><t xml:space="preserve">${xmlText(text)}</t></is></c>`
}

/** The sheet with these rows, of which the first, with the headings, stays in view. */
export const sheetXml = <E, R>(rows: Stream.Stream<ReadonlyArray<string>, E, R>): Stream.Stream<string, E, R> => {
  let line = 0
  let headings: ReadonlyArray<string> = []
  const body = Stream.map(rows, (cells) => {
    line++
    const isHead = line === 1
    if (isHead) headings = cells
    const inner = cells.map((cell, column) =>
      cellXml(cell, `${ContactColumns.columnLetter(column)}${line}`, isHead ? undefined : (headings[column] ?? ""))
    )
    return `<row r="${line}">${inner.join("")}</row>`
  })
  const head =
    `${declaration}<worksheet xmlns="${main}"><sheetViews><sheetView workbookViewId="0">` +
    '<pane ySplit="1" topLeftCell="A2" state="frozen"/></sheetView></sheetViews><sheetFormatPr baseColWidth="18" defaultRowHeight="15"/><sheetData>'
  return Stream.make(head).pipe(Stream.concat(body), Stream.concat(Stream.make("</sheetData></worksheet>")))
}
