/**
 * A contact as a part of an exported file, made of its row at once: the same text as the domain and the codecs of Effect make
 * of `toContact`, without the values between. (docs/decisions/csv.md)
 */
import { type CustomFields, type ExportFileFormat, exportHeader, formatWireDate, protectCell } from "@roster/domain"
import { type ContactRow, fromSeconds } from "./ContactRow.ts"
import { contactText } from "./ContactText.ts"

/**
 * What is known of a row before the last one is read: a text, and of CSV the custom fields behind it, which have a column
 * wherever any row has one.
 *
 * @internal
 */
export type ExportedRow = readonly [text: string, customFields?: string]

/**
 * @internal
 */
export interface ExportFormat {
  /** Whether the names of all custom fields have to be known before the first byte is written. */
  readonly needsNames: boolean
  readonly row: (row: ContactRow) => ExportedRow
  /** The file of rows, given those names. */
  readonly file: (customFields: ReadonlyArray<string>) => {
    readonly head: string
    readonly separator: string
    readonly text: (row: ExportedRow) => string
    readonly tail: string
  }
}

const mayNeedCare = /^['=+\-@\t\r\n\0\uFEFF]|[,"\r\n]/
const mustBeQuoted = /^\uFEFF|[,"\r\n]/

const cell = (text: string): string => {
  if (!mayNeedCare.test(text)) return text
  const safe = protectCell(text)
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

const csv: ExportFormat = {
  needsNames: true,
  row: (row) => [csvRow(row), row.custom_fields],
  file: (names) => ({
    // The names are protected already.
    head:
      exportHeader(names)
        .map((name) => (mustBeQuoted.test(name) ? `"${name.replaceAll('"', '""')}"` : name))
        .join(",") + line,
    separator: "",
    text: ([text, customFields = "{}"]) => {
      if (names.length === 0) return text + line
      // What we wrote ourselves: an object of texts.
      const own = JSON.parse(customFields) as CustomFields
      let whole = text
      for (const name of names) whole += `,${cell(Object.hasOwn(own, name) ? (own[name] ?? "") : "")}`
      return whole + line
    },
    tail: ""
  })
}

const json: ExportFormat = {
  needsNames: false,
  row: (row) => [contactText(row)],
  file: () => ({ head: "[", separator: ",", text: ([text]) => text, tail: "]" })
}

/** Characters that XML 1.0 cannot carry, not even by reference. */
const unspeakable = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

const references = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;" }

const isReferenced = (sign: string): sign is keyof typeof references => sign in references

const escaped = (text: string, signs: RegExp): string =>
  text.replaceAll(unspeakable, "\u{FFFD}").replaceAll(signs, (sign) => (isReferenced(sign) ? references[sign] : sign))

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
  needsNames: false,
  row: (row) => [xmlOf("Contact", JSON.parse(contactText(row)))],
  file: () => ({
    head: `<?xml version="1.0" encoding="UTF-8"?><Contacts>`,
    separator: "",
    text: ([text]) => text,
    tail: "</Contacts>"
  })
}

/**
 * @internal
 */
export const exportFormats: { readonly [Format in ExportFileFormat]: ExportFormat } = { Csv: csv, Json: json, Xml: xml }
