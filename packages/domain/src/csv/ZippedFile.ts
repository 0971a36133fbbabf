/** The one file of a zip archive. (docs/decisions/csv.md) */
import { Effect, Stream } from "effect"
import { Zip } from "effect/encoding"
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

/** Whether an entry is a folder, or a file that macOS adds to archives. */
export const isIgnoredEntry = (name: string): boolean =>
  name.endsWith("/") || name.startsWith("__MACOSX/") || /(?:^|\/)\.DS_Store$/.test(name)

/** Whether a file has the signature of a zip archive, which may be empty. */
export const isZip = (bytes: Uint8Array | undefined): boolean =>
  bytes !== undefined &&
  bytes[0] === 0x50 &&
  bytes[1] === 0x4b &&
  ((bytes[2] === 3 && bytes[3] === 4) || (bytes[2] === 5 && bytes[3] === 6))

const unreadable = (reason: string) => new UnreadableFile({ line: 1, reason })

/** The one file of a zip archive, decompressed as it is read, with bounds on its size and its entries. */
export const unzipped = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | UnreadableFile> =>
  Stream.suspend(() => {
    let packed = 0
    let decompressed = 0
    let entries = 0
    let files = 0
    const limited = <E2>(body: Stream.Stream<Uint8Array, E2>) =>
      Stream.mapEffect(body, (chunk) => {
        decompressed += chunk.length
        const issue = decompressionIssue(packed, decompressed)
        return issue === undefined ? Effect.succeed(chunk) : Effect.fail(unreadable(issue))
      })
    return bytes.pipe(
      Stream.tap((chunk) => Effect.sync(() => (packed += chunk.length))),
      Stream.pipeThroughChannel(Zip.decode()),
      Stream.flatMap(({ body, header }): Stream.Stream<Uint8Array, E | Zip.ZipError | UnreadableFile> => {
        entries++
        const issue = entries > maximumEntries ? tooManyEntries : nameIssue(header.path)
        if (issue !== undefined) return Stream.fail(unreadable(issue))
        // Read with the limit: to find its end the decoder would decompress it without one.
        if (isIgnoredEntry(header.path)) return Stream.drain(limited(body))
        files++
        return files === 1 ? limited(body) : Stream.fail(unreadable(tooManyFiles))
      }),
      Stream.catchIf(Zip.isZipError, (error) => Stream.fail(unreadable(`the archive cannot be read: ${error.message}`)))
    )
  })

/** The refusal of an archive with more entries than `maximumEntries`. */
export const tooManyEntries = `the archive has more than ${maximumEntries} entries`

/** The refusal of an archive with more than one file. */
export const tooManyFiles = "the archive holds more than one file"
