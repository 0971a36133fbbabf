/**
 * The file of an export: rows in, bytes out, in each format, plain or zipped.
 * (docs/decisions/csv.md)
 */
import { Contact, type CompressionFormat, exportCells, type ExportFileFormat, exportHeader } from "@roster/domain"
import { Schema, Stream } from "effect"
import { Csv, JsonArray, Xml, Zip } from "effect/encoding"

const extensions = { Csv: "csv", Json: "json", Xml: "xml" } as const

const contentTypes = { Csv: "text/csv; charset=utf-8", Json: "application/json", Xml: "application/xml" } as const

const longestName = 200

/** Cuts a long name before its extension, and no character in half. */
const shortened = (name: string): string => {
  const characters = [...name]
  if (characters.length <= longestName) return name
  const extension = /\.[a-z0-9]{1,8}$/i.exec(name)?.[0] ?? ""
  return `${characters.slice(0, longestName - extension.length).join("")}${extension}`
}

/** Names of Windows that are devices, whatever stands behind a dot. */
const device = /^(?:con|prn|aux|nul|conin\$|conout\$|(?:com|lpt)[0-9¹²³])\s*(?:\.|$)/i

/**
 * What the file is called where it is saved: the last part of the name that was asked for, without what a file system
 * would trip over. It is never used as a path here.
 *
 * @internal
 */
export const exportFileName = (asked: string | undefined, format: ExportFileFormat): string => {
  const last = (asked ?? "").split(/[/\\]/).at(-1) ?? ""
  const name = shortened(
    last.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}"*:<>?|]/gu, "_").replaceAll(/^[.\s]+|[.\s]+$/g, "")
  ).replace(/[.\s]+$/, "")
  if (name === "") return `contacts.${extensions[format]}`
  return device.test(name) ? `_${name}` : name
}

/**
 * @internal
 */
export interface ExportFileOptions {
  readonly format: ExportFileFormat
  readonly compression: CompressionFormat
  /** The name inside an archive. */
  readonly name: string
  /** The names of the custom fields that get a column. */
  readonly customFields: ReadonlyArray<string>
}

/**
 * @internal
 */
export const contentType = (format: ExportFileFormat, compression: CompressionFormat): string =>
  compression === "Zip" ? "application/zip" : contentTypes[format]

/**
 * What no row of ours can cause: a bug.
 *
 * @internal
 */
export type FormatError = JsonArray.JsonArrayError | Xml.XmlError | Zip.ZipError

const encodeContact = Schema.encodeSync(Contact)

const asCsv = <E>(contacts: Stream.Stream<Contact, E>, customFields: ReadonlyArray<string>) =>
  Stream.make(exportHeader(customFields)).pipe(
    Stream.concat(Stream.map(contacts, (contact) => exportCells(contact, customFields))),
    Stream.pipeThroughChannel(Csv.encode())
  )

const asJson = <E>(contacts: Stream.Stream<Contact, E>) =>
  contacts.pipe(
    Stream.map((contact) => encodeContact(contact)),
    Stream.pipeThroughChannel(JsonArray.encode())
  )

/** Characters that XML 1.0 cannot carry, not even by reference. */
const unspeakable = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu

const element = (name: string, children: ReadonlyArray<Xml.Event>, attributes = {}): ReadonlyArray<Xml.Event> => [
  { _tag: "StartElement", name, attributes },
  ...children,
  { _tag: "EndElement", name }
]

/** An object becomes elements named by its keys; custom fields, whose names may not be names of elements, say theirs. */
const xmlOf = (name: string, value: unknown): ReadonlyArray<Xml.Event> => {
  if (value === null || value === undefined) return element(name, [])
  if (typeof value !== "object") {
    return element(name, [{ _tag: "Text", text: String(value).replaceAll(unspeakable, "\u{FFFD}") }])
  }
  return element(
    name,
    Object.entries(value).flatMap(([key, inner]) =>
      name === "CustomFields"
        ? element("Field", xmlOf("Value", inner).slice(1, -1), { Name: key.replaceAll(unspeakable, "\u{FFFD}") })
        : xmlOf(key, inner)
    )
  )
}

const asXml = <E>(contacts: Stream.Stream<Contact, E>) => {
  const events = (...some: ReadonlyArray<Xml.Event>) => Stream.fromIterable(some)
  return events(
    { _tag: "Declaration", version: "1.0", encoding: "UTF-8" },
    { _tag: "StartElement", name: "Contacts", attributes: {} }
  ).pipe(
    Stream.concat(
      contacts.pipe(
        Stream.map((contact) => xmlOf("Contact", encodeContact(contact))),
        Stream.flattenIterable
      )
    ),
    Stream.concat(events({ _tag: "EndElement", name: "Contacts" })),
    Stream.pipeThroughChannel(Xml.encode())
  )
}

/**
 * @internal
 */
export const exportFile = <E>(
  contacts: Stream.Stream<Contact, E>,
  options: ExportFileOptions
): Stream.Stream<Uint8Array, E | FormatError> => {
  const plain: Stream.Stream<Uint8Array, E | FormatError> =
    options.format === "Csv"
      ? asCsv(contacts, options.customFields)
      : options.format === "Json"
        ? asJson(contacts)
        : asXml(contacts)
  return options.compression === "None"
    ? plain
    : Stream.make(Zip.fileStream(options.name, plain)).pipe(Stream.pipeThroughChannel(Zip.encode()))
}
