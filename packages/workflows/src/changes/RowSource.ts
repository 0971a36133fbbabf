/** What is imported or planned: contacts, or the rows of a file, which a program may be able to read only once. */
import { ContactPayload, type FileHeader, type ImportRow, TaggedError } from "@roster/domain"
import { JsonParser, type KnownFields } from "@roster/domain/internal"
import { Array as Arrays, Effect, Predicate, Result, Schema, Stream } from "effect"
import type { ContactDraft } from "../upload/BulkAdd.ts"
import { batches } from "../upload/UploadBatches.ts"
import { makeSurveyor, type SurveyOptions } from "../upload/UploadSurvey.ts"
import type { PlanStorage } from "./PlanFile.ts"

/** Contacts, or the rows of a file. */
export type RowSource<E> = Stream.Stream<ImportRow, E> | Stream.Stream<ContactDraft, E>

/** The header of contacts that come from no file. */
const noHeader: FileHeader = { cells: ["Email"], delimiter: "," }

const rowOf = (contact: ContactDraft, line: number, lists?: ReadonlyArray<string>): ImportRow => {
  const email: unknown = Predicate.hasProperty(contact, "email") ? contact.email : undefined
  return {
    line,
    lists,
    header: noHeader,
    cells: [typeof email === "string" ? email : ""],
    // The survey checks it, as it does for callers without type checks.
    contact: Result.succeed(contact as ContactPayload)
  }
}

const isRow = (item: ImportRow | ContactDraft): boolean => Predicate.hasProperty(item, "header")

/** Contacts as rows, whose line is their place, counted from 1. Rows stay as they are. */
export const toRows = <E>(source: RowSource<E>): Stream.Stream<ImportRow, E> =>
  Stream.suspend(() => {
    let line = 0
    const items: Stream.Stream<ImportRow | ContactDraft, E> = source
    return Stream.mapArray(items, (part) => {
      // By their type, all items are rows or all are contacts.
      if (isRow(part[0])) return part as Arrays.NonEmptyReadonlyArray<ImportRow>
      return Arrays.map(part as Arrays.NonEmptyReadonlyArray<ContactDraft>, (contact) => rowOf(contact, ++line))
    })
  })

/** Maximum size of a source that is kept in memory since it may be read once only. */
export const maximumSpoolBytes = 64 * 1024 * 1024

/** The source is larger than what is kept of one in memory. Nothing was written. */
export class SourceTooLarge extends TaggedError<SourceTooLarge>()("SourceTooLarge", {
  /** The number of bytes that memory takes. */
  maximum: Schema.Int
}) {
  override get message(): string {
    return (
      `The contacts take more than ${this.maximum / 1024 / 1024} MiB of memory while they are planned. Give a file to ` +
      "keep them in (the option spool), or import them in parts."
    )
  }
}

/** Keeps bytes in memory, as many as that takes. */
const spoolMemory = (): PlanStorage<SourceTooLarge> => {
  const parts: Array<Uint8Array> = []
  let size = 0
  return {
    write: (content) =>
      Stream.runForEach(content, (part) => {
        size += part.length
        if (size > maximumSpoolBytes) return Effect.fail(new SourceTooLarge({ maximum: maximumSpoolBytes }))
        parts.push(part)
        return Effect.void
      }),
    content: Stream.suspend(() => Stream.fromIterable(parts))
  }
}

/** The numbers and lines of the rows of the next contacts. */
const Places = Schema.fromJsonString(
  Schema.Struct({
    rows: Schema.Array(Schema.Int),
    lines: Schema.Array(Schema.Int),
    /** The lists that each names. */
    lists: Schema.Array(Schema.Array(Schema.String))
  })
)
const encodePlaces = Schema.encodeSync(Places)
const decodePlaces = Schema.decodeUnknownEffect(Places)
const Contacts = Schema.Array(ContactPayload)
const encodeContacts = Schema.encodeSync(Contacts)
const decodeContacts = Schema.decodeUnknownSync(Contacts)

/** A row that is not sent, which takes its place among the others. */
const noRow: ImportRow = { line: 0, header: noHeader, cells: [], contact: Result.fail("it was rejected") }

/** How a source is read once. */
export interface SpoolOptions<E> {
  /** Where the rows are kept while they are surveyed and planned (default: memory, up to 64 MiB). */
  readonly spool?: PlanStorage<E> | undefined
}

/** Its fields. */
export const spoolFields: KnownFields.Names<SpoolOptions<unknown>> = { spool: true }

/** Reads a source once, surveys its rows and keeps them, to be read again. */
export const readOnce = Effect.fnUntraced(function* <E, ES = SourceTooLarge>(
  source: RowSource<E>,
  { spool, ...options }: SurveyOptions & SpoolOptions<ES>
) {
  const storage: PlanStorage<ES | SourceTooLarge> = spool ?? spoolMemory()
  const surveyor = makeSurveyor(options)
  const surveyed = Stream.mapArrayEffect(toRows(source), (part) => Effect.as(surveyor.add(part), part))
  yield* storage.write(
    Stream.flatMap(batches(surveyed, { isSent: surveyor.isSendable }), ({ batch, lines, rows }) =>
      Stream.make(
        encoder.encode(
          `${encodePlaces({ rows, lines, lists: batch.map(({ lists }) => lists) })}\n` +
            `${JSON.stringify(encodeContacts(batch.map(({ contact }) => contact)))}\n`
        )
      )
    )
  )
  const rows = Stream.suspend(() => {
    let last = 0
    let places: typeof Places.Type | undefined
    return storage.content.pipe(
      Stream.decodeText,
      Stream.splitLines,
      Stream.mapEffect(
        Effect.fnUntraced(function* (text) {
          if (places === undefined) {
            places = yield* Effect.orDie(decodePlaces(text))
            return []
          }
          const { lines, lists, rows } = places
          places = undefined
          return decodeContacts(JsonParser.parse(text)).flatMap((contact, index) => {
            const row = rows[index] ?? 0
            const gap = row - last - 1
            last = row
            return [...(gap > 0 ? Arrays.replicate(noRow, gap) : []), rowOf(contact, lines[index] ?? 0, lists[index])]
          })
        })
      ),
      Stream.flattenIterable
    )
  })
  return { rows, survey: yield* surveyor.end(rows) }
})

const encoder = new TextEncoder()
