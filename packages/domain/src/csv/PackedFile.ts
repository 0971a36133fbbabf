/** Files that are packed: the one file of a zip archive, and gzip. (docs/decisions/csv.md) */
import { Effect, Option, Sink, Stream } from "effect"
import { Zip } from "effect/encoding"
import { joinBytes } from "../values/Bytes.ts"
import { appleDocument, excelWorkbook, openDocument } from "./FileKind.ts"
import { UnreadableFile } from "./TextDecoding.ts"

/** The most entries of an archive: one file, its folders, and what macOS adds. */
export const maximumEntries = 100

/** The largest decompressed size, against zip bombs. */
const maximumDecompressedBytes = 4 * 1024 * 1024 * 1024

/** The largest compression ratio. Real contacts stay below 50, zip bombs are above 1000. */
const maximumRatio = 200

/** Below this size the ratio is not checked. */
const ratioFreeBytes = 16 * 1024 * 1024

/** Why an archive of this size may not decompress to that size, or `undefined`. */
export const decompressionIssue = (packed: number, decompressed: number): string | undefined => {
  if (decompressed > maximumDecompressedBytes) return "the archive decompresses to more than 4 GiB"
  return decompressed > ratioFreeBytes && decompressed > packed * maximumRatio
    ? `the archive decompresses to more than ${maximumRatio} times its size`
    : undefined
}

/** Why the name of an entry is refused, or `undefined`. */
export const nameIssue = (name: string): string | undefined =>
  /^(?:[/\\]|[a-z]:)/i.test(name) || name.split(/[/\\]/).includes("..")
    ? "the archive holds a name that leads out of it"
    : undefined

/** What an archive with an entry of this name really is, or `undefined`. */
export const documentIssue = (name: string): string | undefined => {
  if (/^(?:\[Content_Types\]\.xml|_rels\/|docProps\/|xl\/)/i.test(name)) return excelWorkbook
  if (/^(?:Index\/.*\.iwa|Index\.zip|preview(?:-micro|-web)?\.jpg|Metadata\/\w+\.plist)$/.test(name))
    return appleDocument
  return name === "mimetype" ? openDocument : undefined
}

/** The bytes that show whether a file is packed, and whether it is a workbook. */
export const packedBytes = 128

/** Whether a file is a workbook of a current Excel (.xlsx), by the first entry of the archive that it is. */
export const isWorkbook = (bytes: Uint8Array): boolean => {
  const end = 30 + (bytes[26] ?? 0) + 256 * (bytes[27] ?? 0)
  return isZip(bytes) && documentIssue(new TextDecoder().decode(bytes.subarray(30, end))) === excelWorkbook
}

/** Whether an entry is a folder, or a file that macOS adds to archives. */
export const isIgnoredEntry = (name: string): boolean =>
  name.endsWith("/") || name.startsWith("__MACOSX/") || /(?:^|\/)\.DS_Store$/.test(name)

/** Whether a file has the signature of a zip archive, which may be empty. */
export const isZip = (bytes: Uint8Array | undefined): boolean =>
  bytes !== undefined &&
  bytes[0] === 0x50 &&
  bytes[1] === 0x4b &&
  ((bytes[2] === 3 && bytes[3] === 4) || (bytes[2] === 5 && bytes[3] === 6))

const shortened = (name: string): string => JSON.stringify(name.length > 60 ? `…${name.slice(-60)}` : name)

const unreadable = (reason: string) => new UnreadableFile({ line: 1, reason })

/** Counts what an archive has and what comes of it, and refuses what decompresses to too much. */
const makeBounds = () => {
  let packed = 0
  let decompressed = 0
  return {
    counted: (chunk: Uint8Array) => {
      packed += chunk.length
      return chunk
    },
    bounded: <E>(body: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | UnreadableFile> =>
      Stream.mapEffect(body, (chunk) => {
        decompressed += chunk.length
        const issue = decompressionIssue(packed, decompressed)
        return issue === undefined ? Effect.succeed(chunk) : Effect.fail(unreadable(issue))
      })
  }
}

/** The one file of a zip archive, decompressed as it is read, with bounds on its size and its entries. */
export const unzipped = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | UnreadableFile> =>
  Stream.suspend(() => {
    const { bounded, counted } = makeBounds()
    let entries = 0
    const names: Array<string> = []
    return bytes.pipe(
      Stream.map(counted),
      Stream.pipeThroughChannel(Zip.decode()),
      Stream.flatMap(({ body, header }): Stream.Stream<Uint8Array, E | Zip.ZipError | UnreadableFile> => {
        entries++
        const issue = entries > maximumEntries ? tooManyEntries : (nameIssue(header.path) ?? documentIssue(header.path))
        if (issue !== undefined) return Stream.fail(unreadable(issue))
        // Read with the limit: to find its end the decoder would decompress it without one.
        if (isIgnoredEntry(header.path)) return Stream.drain(bounded(body))
        names.push(header.path)
        return names.length === 1 ? bounded(body) : Stream.fail(unreadable(tooManyFiles(names)))
      }),
      Stream.catchIf(Zip.isZipError, (error) => Stream.fail(unreadable(`the archive cannot be read: ${error.message}`)))
    )
  })

/** The refusal of an archive with more entries than `maximumEntries`. */
export const tooManyEntries = `the archive has more than ${maximumEntries} entries`

/** The refusal of an archive with more than one file, of which it names two. */
export const tooManyFiles = (names: ReadonlyArray<string>): string =>
  `the archive holds more than one file, ${names.slice(0, 2).map(shortened).join(" and ")}${names.length > 2 ? " among them" : ""}; ` +
  "unpack it and import each one that you want"

const isGzip = (bytes: Uint8Array): boolean => bytes[0] === 0x1f && bytes[1] === 0x8b

/** Whether a file is a zip archive or compressed with gzip, by its first bytes. */
export const isPacked = (bytes: Uint8Array): boolean => isZip(bytes) || isGzip(bytes)

/** The bytes that show whether a file is packed. */
const signatureBytes = 4

/** The first bytes of a file, and all of them. */
const peek = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Effect.map(
    Stream.peel(
      bytes,
      Sink.fold<Uint8Array, Uint8Array>(
        () => new Uint8Array(0),
        (known) => known.length < signatureBytes,
        (known, part) => Effect.succeed(joinBytes([known, part]))
      )
    ),
    ([first, rest]) => ({ first, whole: first.length === 0 ? rest : Stream.concat(Stream.make(first), rest) })
  )

/** What gzip has compressed, with the bounds of archives. */
const gunzipped = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | UnreadableFile> =>
  Stream.suspend(() => {
    const { bounded, counted } = makeBounds()
    let ended: Option.Option<E> = Option.none()
    const source = bytes.pipe(
      Stream.map((part) => new Uint8Array(counted(part))),
      Stream.mapError((error) => {
        ended = Option.some(error)
        return error
      })
    )
    return Stream.fromReadableStream<Uint8Array, E | UnreadableFile>({
      evaluate: () => Stream.toReadableStream(source).pipeThrough(new DecompressionStream("gzip")),
      onError: () =>
        Option.getOrElse(ended, () =>
          unreadable("what gzip has compressed is broken, breaks off, or has several parts; unpack it and import that")
        )
    }).pipe(bounded)
  })

/** The content of a file, unpacked as it is read if it is packed. */
export const unpacked = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | UnreadableFile> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const sent = yield* peek(bytes)
      if (!isPacked(sent.first)) return sent.whole
      const inner = yield* peek(isZip(sent.first) ? unzipped(sent.whole) : gunzipped(sent.whole))
      if (isPacked(inner.first)) {
        return yield* unreadable(
          "it holds another archive, what gzip has compressed, or a workbook; unpack it once and import that"
        )
      }
      return inner.whole
    })
  )
