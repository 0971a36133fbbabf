/**
 * The file of an export, in each format, plain or zipped.
 * (docs/decisions/csv.md)
 */
import type { CompressionFormat, ExportFileFormat } from "@roster/domain"
import { Stream } from "effect"
import { Zip } from "effect/encoding"
import type { SpooledPiece } from "./ExportSpool.ts"
import { exportFormats } from "./ExportFormat.ts"

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
 */
export const exportFileName = (asked: string | undefined, format: ExportFileFormat): string => {
  const last = (asked ?? "").split(/[/\\]/).at(-1) ?? ""
  const name = shortened(
    last.replaceAll(/[\p{Cc}\p{Cf}\p{Cs}"*:<>?|]/gu, "_").replaceAll(/^[.\s]+|[.\s]+$/g, "")
  ).replace(/[.\s]+$/, "")
  if (name === "") return `contacts.${extensions[format]}`
  return device.test(name) ? `_${name}` : name
}

export interface ExportFileOptions {
  readonly format: ExportFileFormat
  readonly compression: CompressionFormat
  /** The name inside an archive. */
  readonly name: string
  /** The names of the custom fields that get a column. */
  readonly customFields: ReadonlyArray<string>
}

export const contentType = (format: ExportFileFormat, compression: CompressionFormat): string =>
  compression === "Zip" ? "application/zip" : contentTypes[format]

const utf8 = new TextEncoder()

/** The bytes of a file, given its rows. */
export const exportFile = <E>(
  pieces: Stream.Stream<SpooledPiece, E>,
  options: ExportFileOptions
): Stream.Stream<Uint8Array, E | Zip.ZipError> => {
  const { head, tail, widened } = exportFormats[options.format]
  const { customFields } = options
  const bytesOf = ({ bytes, names }: SpooledPiece): Uint8Array =>
    names.length === customFields.length
      ? bytes
      : utf8.encode(widened(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes), names, customFields))
  const plain = Stream.make(utf8.encode(head(customFields))).pipe(
    Stream.concat(Stream.map(pieces, bytesOf)),
    Stream.concat(Stream.make(utf8.encode(tail)))
  )
  return options.compression === "None"
    ? plain
    : Stream.make(Zip.fileStream(options.name, plain)).pipe(Stream.pipeThroughChannel(Zip.encode()))
}
