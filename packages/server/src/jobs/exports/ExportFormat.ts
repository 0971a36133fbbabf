/**
 * A contact as a part of an exported file, made of its row at once: the same text as the domain and the codecs of Effect make
 * of `toContact`, without the values between. (docs/decisions/csv.md)
 */
import { ContactColumns, type CustomFields, type ExportFileFormat, formatWireDate, JsonParser } from "@roster/domain"
import { type ContactRow, fromSeconds } from "../../contacts/ContactRow.ts"
import { contactText } from "../../contacts/ContactJson.ts"

export interface ExportFormat {
  /** The custom fields of a row that get a column of their own, so that their names have to be known. */
  readonly fields: (row: ContactRow) => CustomFields
  /** A row, given these fields of it and the names that have a column. */
  readonly row: (row: ContactRow, fields: CustomFields, names: ReadonlyArray<string>) => string
  /** Rows that were made while some names were not known yet, which hold nothing in these rows. */
  readonly widened: (rows: string, known: ReadonlyArray<string>, names: ReadonlyArray<string>) => string
  readonly head: (names: ReadonlyArray<string>) => string
  /** What stands between two rows. */
  readonly separator: string
  readonly tail: string
}

/** Where they stand within the text of the row. */
const withoutColumns: Pick<ExportFormat, "fields" | "widened"> = { fields: () => ({}), widened: (rows) => rows }

const mayNeedCare = /^['=+\-@\t\r\n\0\uFEFF]|[,"\r\n]/
const mustBeQuoted = /^\uFEFF|[,"\r\n]/

const cell = (text: string): string => {
  if (!mayNeedCare.test(text)) return text
  const safe = ContactColumns.protectCell(text)
  return mustBeQuoted.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

let lastDate = { seconds: 0, text: cell(formatWireDate(fromSeconds(0))) }

/** Many that stand one behind another were added in the same second. */
const date = (seconds: number): string => {
  if (lastDate.seconds !== seconds) lastDate = { seconds, text: cell(formatWireDate(fromSeconds(seconds))) }
  return lastDate.text
}

/** The columns of `exportHeader`, in its order. */
const csvRow = (row: ContactRow): string => {
  const text = (value: string | null) => (value === null ? "," : `,${cell(value)}`)
  const time = (value: number | null) => (value === null ? "," : `,${date(value)}`)
  return (
    cell(row.email) +
    text(row.status) +
    text(row.first_name) +
    text(row.last_name) +
    text(row.consent_ip) +
    time(row.consent_date) +
    text(row.consent_tracking) +
    text(row.source) +
    time(row.date_added) +
    time(row.date_updated) +
    time(row.status_change_date) +
    `,${row.total_sent},${row.total_opened},${row.total_clicked},${row.total_failed}` +
    time(row.last_sent) +
    time(row.last_opened) +
    time(row.last_clicked) +
    time(row.last_failed) +
    text(row.last_ip) +
    `,${row.error_code ?? ""}` +
    text(row.friendly_error_message)
  )
}

const line = "\r\n"

const columnCount = ContactColumns.exportHeader([]).length

/** A cell as `cell` writes it, and what stands behind it. */
const writtenCell = /("[^"]*(?:""[^"]*)*"|[^",\r\n]*)(,|\r\n)/g

const csv: ExportFormat = {
  // What we wrote ourselves: an object of texts.
  fields: (row) => JsonParser.parse(row.custom_fields) as CustomFields,
  row: (row, own, names) => {
    let text = csvRow(row)
    for (const name of names) text += `,${cell(Object.hasOwn(own, name) ? (own[name] ?? "") : "")}`
    return text + line
  },
  widened: (rows, known, names) => {
    // How many empty cells follow each cell of a row.
    const added = Array.from({ length: columnCount + known.length }, () => 0)
    let column = columnCount - 1
    for (const name of names) {
      if (name === known[column + 1 - columnCount]) column++
      else added[column] = (added[column] ?? 0) + 1
    }
    let at = 0
    return rows.replaceAll(writtenCell, (_, text: string, end: string) => {
      const empty = ",".repeat(added[at] ?? 0)
      at = end === line ? 0 : at + 1
      return text + empty + end
    })
  },
  // The names are protected already.
  head: (names) =>
    ContactColumns.exportHeader(names)
      .map((name) => (mustBeQuoted.test(name) ? `"${name.replaceAll('"', '""')}"` : name))
      .join(",") + line,
  separator: "",
  tail: ""
}

const json: ExportFormat = {
  ...withoutColumns,
  row: contactText,
  head: () => "[",
  separator: ",",
  tail: "]"
}

/** Characters that XML 1.0 cannot carry, not even by reference. */
const invalidXmlChars = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

const references = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;" }

const isReferenced = (sign: string): sign is keyof typeof references => sign in references

const escaped = (text: string, signs: RegExp): string =>
  text
    .replaceAll(invalidXmlChars, "\u{FFFD}")
    .replaceAll(signs, (sign) => (isReferenced(sign) ? references[sign] : sign))

const xmlText = (text: string) => escaped(text, /[&<>\r]/g)
const xmlAttribute = (text: string) => escaped(text, /[&<"\t\n\r]/g)

/** An object becomes elements named by its keys; custom fields, whose names may not be names of elements, say theirs. */
const xmlOf = (name: string, value: unknown): string => `<${name}>${xmlInside(name, value)}</${name}>`

const xmlInside = (name: string, value: unknown): string => {
  if (value === null || value === undefined) return ""
  if (typeof value !== "object") return xmlText(String(value))
  let inside = ""
  for (const [key, inner] of Object.entries(value)) {
    inside +=
      name === "CustomFields"
        ? `<Field Name="${xmlAttribute(key)}">${xmlInside("Value", inner)}</Field>`
        : xmlOf(key, inner)
  }
  return inside
}

const xml: ExportFormat = {
  ...withoutColumns,
  row: (row) => xmlOf("Contact", JsonParser.parse(contactText(row))),
  head: () => `<?xml version="1.0" encoding="UTF-8"?><Contacts>`,
  separator: "",
  tail: "</Contacts>"
}

export const exportFormats: { readonly [Format in ExportFileFormat]: ExportFormat } = { Csv: csv, Json: json, Xml: xml }
