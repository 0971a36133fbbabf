/**
 * The file of an export: rows in, bytes out, in each format, plain or zipped.
 * (docs/decisions/csv.md)
 */
import type { CompressionFormat, ExportFileFormat } from "@roster/domain"
import { Stream } from "effect"
import { Zip } from "effect/encoding"
import { type ExportedRow, exportFormats } from "./ExportText.ts"

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

const utf8 = new TextEncoder()

/**
 * The bytes of a file, given its rows some at a time.
 *
 * @internal
 */
export const exportFile = <E>(
  rows: Stream.Stream<ReadonlyArray<ExportedRow>, E>,
  options: ExportFileOptions
): Stream.Stream<Uint8Array, E | Zip.ZipError> => {
  const { head, separator, tail, text } = exportFormats[options.format].file(options.customFields)
  const plain = Stream.make(head).pipe(
    Stream.concat(Stream.map(rows, (some, index) => (index === 0 ? "" : separator) + some.map(text).join(separator))),
    Stream.concat(Stream.make(tail)),
    Stream.map((piece) => utf8.encode(piece))
  )
  return options.compression === "None"
    ? plain
    : Stream.make(Zip.fileStream(options.name, plain)).pipe(Stream.pipeThroughChannel(Zip.encode()))
}
