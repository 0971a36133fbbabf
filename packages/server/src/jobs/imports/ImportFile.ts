/**
 * The CSV inside whatever was sent: the file itself, or the one file of a zip archive. An archive is unfolded as it is
 * read, never onto a disk: its names are looked at and lead nowhere. (docs/decisions/csv.md)
 */
import { UnreadableFile } from "@roster/domain"
import { Effect, Sink, Stream } from "effect"
import { Zip } from "effect/encoding"
import { inParts } from "../queue/JobBlobs.ts"

/** How many entries an archive may have: one file, its folders, and what a Mac puts beside it. */
export const maximumEntries = 100

/** How much an archive may unfold to: it can be small and unfold to any size. */
const maximumUnfoldedBytes = 4 * 1024 * 1024 * 1024

/** How many bytes one of an archive may become. Real contacts stay below 50; what is made to be large is above 1000. */
const maximumRatio = 200

/** Below this size the ratio says nothing. */
const ratioFreeBytes = 16 * 1024 * 1024

/** Says whether so many bytes of an archive may become so many of a file, and if not, why. */
export const unfoldingIssue = (packed: number, unfolded: number): string | undefined => {
  if (unfolded > maximumUnfoldedBytes) return "the archive unfolds to more than 4 GiB"
  return unfolded > ratioFreeBytes && unfolded > packed * maximumRatio
    ? `the archive unfolds to more than ${maximumRatio} times its size`
    : undefined
}

/** What speaks against the name of an entry. */
export const nameIssue = (name: string): string | undefined =>
  /^(?:[/\\]|[a-z]:)/i.test(name) || name.split(/[/\\]/).includes("..")
    ? "the archive holds a name that leads out of it"
    : undefined

/** Whether an entry is a folder, or what a Mac adds to an archive of its own accord. */
export const isBeside = (name: string): boolean =>
  name.endsWith("/") || name.startsWith("__MACOSX/") || /(?:^|\/)\.DS_Store$/.test(name)

/** Whether a file begins as an archive does, with an entry or with the end of an empty list of them. */
export const isZip = (bytes: Uint8Array | undefined): boolean =>
  bytes !== undefined &&
  bytes[0] === 0x50 &&
  bytes[1] === 0x4b &&
  ((bytes[2] === 3 && bytes[3] === 4) || (bytes[2] === 5 && bytes[3] === 6))

const isGzip = (bytes: Uint8Array | undefined): boolean => bytes?.[0] === 0x1f && bytes[1] === 0x8b

export const unreadable = (reason: string) => new UnreadableFile({ line: 1, reason })

const unzip = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | UnreadableFile> =>
  Stream.suspend(() => {
    let packed = 0
    let unfolded = 0
    let entries = 0
    let files = 0
    const limited = <E2>(body: Stream.Stream<Uint8Array, E2>) =>
      Stream.mapEffect(body, (chunk) => {
        unfolded += chunk.length
        const issue = unfoldingIssue(packed, unfolded)
        return issue === undefined ? Effect.succeed(chunk) : Effect.fail(unreadable(issue))
      })
    return bytes.pipe(
      Stream.tap((chunk) => Effect.sync(() => (packed += chunk.length))),
      Stream.pipeThroughChannel(Zip.decode()),
      Stream.flatMap(({ body, header }): Stream.Stream<Uint8Array, E | Zip.ZipError | UnreadableFile> => {
        entries++
        const issue = entries > maximumEntries ? tooManyEntries : nameIssue(header.path)
        if (issue !== undefined) return Stream.fail(unreadable(issue))
        // Read nevertheless: the decoder would unfold it without a limit to find its end.
        if (isBeside(header.path)) return Stream.drain(limited(body))
        files++
        return files === 1 ? limited(body) : Stream.fail(unreadable(tooManyFiles))
      }),
      Stream.catchIf(Zip.isZipError, (error) => Stream.fail(unreadable(`the archive cannot be read: ${error.message}`)))
    )
  })

export const tooManyEntries = `the archive has more than ${maximumEntries} entries`

export const tooManyFiles = "the archive holds more than one file"

/** The bytes, with a look at the first of them. */
const begun = <E>(bytes: Stream.Stream<Uint8Array, E>) =>
  Effect.map(Stream.peel(inParts(bytes), Sink.take<Uint8Array>(1)), ([[first], rest]) => ({
    first,
    whole: first === undefined ? rest : Stream.concat(Stream.make(first), rest)
  }))

export const csvOf = <E>(bytes: Stream.Stream<Uint8Array, E>): Stream.Stream<Uint8Array, E | UnreadableFile> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const sent = yield* begun(bytes)
      const { first, whole } = isZip(sent.first) ? yield* begun(unzip(sent.whole)) : sent
      if (first !== sent.first && isZip(first)) {
        return yield* unreadable("the archive holds another archive; send the CSV itself, or zipped once")
      }
      if (isGzip(first)) return yield* unreadable("it is compressed with gzip; send it as it is, or zipped")
      return whole
    })
  )
