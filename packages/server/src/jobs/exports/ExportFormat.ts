/** The formats of exported files, plain or zipped, with the same text as Effect's encoders. (docs/decisions/csv.md) */
import { type CompressionFormat, Contact, type CustomFields, type ExportFileFormat } from "@roster/domain"
import { Characters, ContactColumns } from "@roster/domain/internal"
import { contactJson } from "@roster/domain/ContactJson"
import { Schema, Stream, Struct } from "effect"
import { Zip } from "effect/encoding"

export interface ExportFormat {
  /** The custom fields that become columns. */
  readonly fields: (contact: Contact) => CustomFields
  /** The text of a contact, given the names of the columns of custom fields known so far, and whether it has its lists. */
  readonly row: (contact: Contact, names: ReadonlyArray<string>, lists: boolean) => string
  /** Adds empty cells to rows that were written before some columns were known. */
  readonly widened: (rows: string, known: ReadonlyArray<string>, names: ReadonlyArray<string>, lists: boolean) => string
  readonly head: (names: ReadonlyArray<string>, lists: boolean) => string
  readonly separator: string
  readonly tail: string
}

const withoutColumns: Pick<ExportFormat, "fields" | "widened"> = { fields: () => ({}), widened: (rows) => rows }

const mustBeQuoted = /^\uFEFF|[,"\r\n]/

const cellText = (cell: string): string => (mustBeQuoted.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell)

const line = "\r\n"

const columnsBefore = (lists: boolean): number => ContactColumns.exportHeader([], lists).length

/** A cell as `cellText` writes it, and its delimiter. */
const writtenCell = /("[^"]*(?:""[^"]*)*"|[^",\r\n]*)(,|\r\n)/gy

const csv: ExportFormat = {
  fields: ({ customFields = {} }) => customFields,
  row: (contact, names, lists) => ContactColumns.exportCells(contact, names, lists).map(cellText).join(",") + line,
  widened: (rows, known, names, lists) => {
    const columnCount = columnsBefore(lists)
    // The number of empty cells behind each cell of a row.
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
  // `exportHeader` protects the names.
  head: (names, lists) => ContactColumns.exportHeader(names, lists).map(cellText).join(",") + line,
  separator: "",
  tail: ""
}

/** A rule about lists reads them too. */
const asAsked = (contact: Contact, lists: boolean): Contact =>
  lists || contact.lists === undefined ? contact : Struct.omit(contact, ["lists"])

const json: ExportFormat = {
  ...withoutColumns,
  row: (contact, _, lists) => contactJson(asAsked(contact, lists)),
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

/**
 * An object becomes elements named by its keys, and the array of lists one for each. The name of a custom field need not be a valid one, so it is an
 * attribute.
 */
const xmlOf = (name: string, value: unknown): string => `<${name}>${xmlInside(name, value)}</${name}>`

const xmlInside = (name: string, value: unknown): string => {
  if (value === null || value === undefined) return ""
  if (typeof value !== "object") return xmlText(String(value))
  if (Array.isArray(value)) return value.map((one) => xmlOf("List", one)).join("")
  let inside = ""
  for (const [key, inner] of Object.entries(value)) {
    inside +=
      name === "CustomFields"
        ? `<Field Name="${xmlAttribute(key)}">${xmlInside("Value", inner)}</Field>`
        : xmlOf(key, inner)
  }
  return inside
}

const encodeContact = Schema.encodeSync(Contact)

const xml: ExportFormat = {
  ...withoutColumns,
  row: (contact, _, lists) => xmlOf("Contact", encodeContact(asAsked(contact, lists))),
  head: () => `<?xml version="1.0" encoding="UTF-8"?><Contacts>`,
  separator: "",
  tail: "</Contacts>"
}

export const exportFormats: { readonly [Format in ExportFileFormat]: ExportFormat } = { Csv: csv, Json: json, Xml: xml }

const extensions = { Csv: "csv", Json: "json", Xml: "xml" } as const

const contentTypes = { Csv: "text/csv; charset=utf-8", Json: "application/json", Xml: "application/xml" } as const

const longestName = 200

/** Cuts a long name before its extension, between code points. */
const shortened = (name: string): string => {
  const characters = [...name]
  if (characters.length <= longestName) return name
  const extension = /\.[a-z0-9]{1,8}$/i.exec(name)?.[0] ?? ""
  return `${characters.slice(0, longestName - extension.length).join("")}${extension}`
}

/** Windows drops dots and spaces at the end of a name. */
const dotsAtEnd = /(?<![.\s])[.\s]+$/

/** Reserved device names of Windows, with any extension. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)/i

/** The suggested file name: the last part of the request, without what file systems refuse. Never used as a path. */
export const exportFileName = (asked: string | undefined, format: ExportFileFormat): string => {
  const last = (asked ?? "").split(/[/\\]/).at(-1) ?? ""
  const allowed = Characters.replaceUnprintable(last, () => "_").replaceAll(/["*:<>?|]/g, "_")
  const name = shortened(allowed.replace(/^[.\s]+/, "").replace(dotsAtEnd, "")).replace(dotsAtEnd, "")
  if (name === "") return `contacts.${extensions[format]}`
  return device.test(name) ? `_${name}` : name
}

export const contentType = (format: ExportFileFormat, compression: CompressionFormat): string =>
  compression === "Zip" ? "application/zip" : contentTypes[format]

const utf8 = new TextEncoder()

/** A part of the spooled rows in UTF-8, and the columns of custom fields that they have. */
export interface ExportPiece {
  readonly bytes: Uint8Array
  readonly rows: number
  readonly names: ReadonlyArray<string>
}

/** The bytes of a file, given its rows, the names of all columns of custom fields, and its name inside an archive. */
export const exportFile = <E>(
  pieces: Stream.Stream<ExportPiece, E>,
  options: {
    readonly format: ExportFileFormat
    readonly compression: CompressionFormat
    readonly name: string
    readonly customFields: ReadonlyArray<string>
    readonly lists?: boolean | undefined
  }
): Stream.Stream<Uint8Array, E | Zip.ZipError> => {
  const { head, tail, widened } = exportFormats[options.format]
  const { customFields, lists = false } = options
  const bytesOf = ({ bytes, names }: ExportPiece): Uint8Array =>
    names.length === customFields.length
      ? bytes
      : utf8.encode(widened(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), names, customFields, lists))
  const plain = Stream.make(utf8.encode(head(customFields, lists))).pipe(
    Stream.concat(Stream.map(pieces, bytesOf)),
    Stream.concat(Stream.make(utf8.encode(tail)))
  )
  return options.compression === "None"
    ? plain
    : Stream.make(Zip.fileStream(options.name, plain)).pipe(Stream.pipeThroughChannel(Zip.encode()))
}
