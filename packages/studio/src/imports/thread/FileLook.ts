/** Looks at a file: how it is probably read, and what is in it, while it is read. */
import { type ImportMapping, type InvalidInput, lookAtRows, type UnreadableFile } from "@roster/domain"
import { encodingByMark, likelyReading } from "@roster/domain/internal"
import { Effect, Stream, Struct } from "effect"
import { makeFileSight, type FileSight, type Reading, readingKeys } from "./FileSight.ts"
import { type ImportProblem, problemOf } from "./ImportCalls.ts"
import { type ImportedContent, openContent, otherSheets } from "./ImportedContent.ts"

/** Parts of a file between two sights of it. */
const partsPerSight = 32

/** The rows that show how a file can be read. */
const triedRows = 1000

/** How a file is read, without its sheet. */
const readingOf = (given: Reading, { mapping }: ImportedContent): ImportMapping => ({
  ...Struct.pick(given, readingKeys),
  ...mapping
})

/** How a file is probably read, and whether that reads its beginning. */
interface Proposal {
  readonly content: ImportedContent
  readonly reading: Reading
  readonly isRead: boolean
}

/** How a file is probably read, where nothing is said: what is wrong with its beginning otherwise proposes it. */
const proposed = (
  content: ImportedContent,
  given: Reading
): Effect.Effect<Proposal, ImportProblem | InvalidInput | UnreadableFile> => {
  const kept = readingOf(given, content)
  return Effect.map(likelyReading(content.bytes, kept, { kept, rows: triedRows }), ({ isRead, mapping }) => {
    const found = content.isWorkbook ? Struct.pick(mapping, ["skipLines", "header"]) : Struct.pick(mapping, readingKeys)
    return { content, reading: { ...found, ...given }, isRead }
  })
}

/** The same, of another sheet of a workbook if the first one has no addresses and that has some. */
const opened = Effect.fnUntraced(function* (file: Blob, given: Reading) {
  const first = yield* proposed(yield* openContent(file, given.sheet), given)
  if (first.isRead || !first.content.isWorkbook || given.sheet !== undefined) return first
  const [sheet] = yield* otherSheets(file)
  return sheet === undefined ? first : yield* proposed(yield* openContent(file, sheet), { ...given, sheet })
})

const sights = (content: ImportedContent, reading: Reading, mark: string | undefined) =>
  Stream.suspend(() => {
    const found = makeFileSight({
      reading,
      isWorkbook: content.isWorkbook,
      encoding: mark ?? new TextDecoder(reading.encoding).encoding,
      isMarked: mark !== undefined
    })
    return Stream.chunks(lookAtRows(content.bytes, readingOf(reading, content))).pipe(
      Stream.mapAccum(
        () => 0,
        (number, part) => {
          found.add(part)
          return [number + 1, number % partsPerSight === 0 ? [found.sight(false)] : []] as const
        }
      ),
      Stream.concat(Stream.suspend(() => Stream.make(found.sight(true))))
    )
  })

/** Shows what is in a file. Nothing that is said is changed; what is not said is proposed. */
export const look = (file: Blob, given: Reading): Stream.Stream<FileSight, ImportProblem> =>
  Stream.unwrap(
    Effect.gen(function* () {
      const { content, reading } = yield* opened(file, given)
      const [start] = yield* Stream.runCollect(Stream.take(content.bytes, 1))
      const mark = start === undefined ? undefined : encodingByMark(start)
      return sights(content, reading, mark).pipe(
        // The first text that is not ASCII may come late.
        Stream.catchTag("UnreadableFile", (error) =>
          error.encoding !== undefined && reading.encoding === undefined
            ? sights(content, { ...reading, encoding: error.encoding }, mark)
            : Stream.fail(error)
        )
      )
    })
  ).pipe(Stream.mapError(problemOf))
