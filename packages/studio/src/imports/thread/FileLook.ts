/** Looks at a file: how it is probably read, and what is in it, while it is read. */
import { type ImportMapping, lookAtRows, readContacts } from "@roster/domain"
import { encodingByMark } from "@roster/domain/internal"
import { Data, Effect, Stream, Struct } from "effect"
import { makeFileSight, type FileSight, type Reading, readingKeys } from "./FileSight.ts"
import { type ImportProblem, problemOf } from "./ImportCalls.ts"
import { type ImportedContent, openContent } from "./ImportedContent.ts"

/** Parts of a file between two sights of it. */
const partsPerSight = 32

/** The first bytes of a file, which show how it can be read. */
const firstBytes = 64 * 1024

/** Ends a reading after the first bytes. */
class Enough extends Data.TaggedError("Enough") {}

const firstOf = ({ bytes }: ImportedContent) =>
  Stream.suspend(() => {
    let known = 0
    return Stream.mapEffect(bytes, (part) => {
      if (known >= firstBytes) return Effect.fail(new Enough())
      known += part.length
      return Effect.succeed(part)
    })
  })

/** How a file is read, without its sheet. */
const readingOf = (given: Reading, { mapping }: ImportedContent): ImportMapping => ({
  ...Struct.pick(given, readingKeys),
  ...mapping
})

/** How a file is probably read, where nothing is said: what is wrong with its beginning otherwise proposes it. */
const proposed = (content: ImportedContent, given: Reading): Effect.Effect<Reading, ImportProblem> =>
  Stream.runDrain(readContacts(firstOf(content), readingOf(given, content))).pipe(
    Effect.as(given),
    Effect.catchTags({
      Enough: () => Effect.succeed(given),
      UnreadableFile: (error) => {
        const found = { ...Struct.pick(error, ["encoding", "skipLines", "header"]), ...given }
        return Object.keys(found).length > Object.keys(given).length ? proposed(content, found) : Effect.succeed(given)
      }
    })
  )

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
      const content = yield* openContent(file, given.sheet)
      const [start] = yield* Stream.runCollect(Stream.take(content.bytes, 1))
      const mark = start === undefined ? undefined : encodingByMark(start)
      const reading = yield* proposed(content, given)
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
