/**
 * What an upload remembers between two runs: what it uploads where, and of which rows it has the answer of the service.
 * (docs/decisions/bulk-import.md)
 */
import { Effect, Ref, Schema } from "effect"

/**
 * What makes two uploads the same one: the content of the file, where it goes, and what changes the rows that are sent.
 */
export const UploadSubject = Schema.Struct({
  /** SHA-256 of the bytes of the file. */
  sha256: Schema.String,
  bytes: Schema.Int,
  /** The name of the service or store. */
  target: Schema.String,
  listNames: Schema.Array(Schema.String),
  /** Columns and the fields that they were said to be. */
  columns: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  delimiter: Schema.optionalKey(Schema.String),
  encoding: Schema.optionalKey(Schema.String)
})
export type UploadSubject = typeof UploadSubject.Type

const Range = Schema.Tuple([Schema.Int, Schema.Int])

/** Numbers of rows, from the first to the last. */
export type RowRange = typeof Range.Type

/**
 * One line of a journal. Of the rows from first to last those are meant that can be sent, without those that the service
 * refused one by one. Rows of which only the sending is noted have no answer.
 */
export const UploadEntry = Schema.TaggedUnion({
  Sending: { rows: Range },
  Answered: {
    accepted: Schema.Array(Range),
    refused: Schema.Array(Schema.Struct({ row: Schema.Int, line: Schema.Int, reason: Schema.String })),
    unknown: Schema.Array(Range)
  }
})
export type UploadEntry = typeof UploadEntry.Type

export interface UploadRecord {
  readonly subject: UploadSubject
  readonly entries: ReadonlyArray<UploadEntry>
}

/**
 * Where the lines of one upload are kept. What `append` was given has to survive the process when it ends, and what it was
 * given in an `Answered` the machine as well, soon after, and at the latest when `force` ends.
 */
export interface UploadJournal<E = never> {
  readonly load: Effect.Effect<UploadRecord | undefined, E>
  /** Begins anew with a subject. */
  readonly begin: (subject: UploadSubject) => Effect.Effect<void, E>
  readonly append: (entry: UploadEntry) => Effect.Effect<void, E>
  /** Waits until nothing that was appended can be lost. */
  readonly force: Effect.Effect<void, E>
  readonly clear: Effect.Effect<void, E>
}

/** A journal that is gone with the process. */
export const uploadJournalMemory: Effect.Effect<UploadJournal> = Effect.map(
  Ref.make<UploadRecord | undefined>(undefined),
  (kept) => ({
    load: Ref.get(kept),
    begin: (subject) => Ref.set(kept, { subject, entries: [] }),
    append: (entry) =>
      Ref.update(kept, (record) => record && { subject: record.subject, entries: [...record.entries, entry] }),
    force: Effect.void,
    clear: Ref.set(kept, undefined)
  })
)

/** The journal is that of another upload. */
export class OtherUpload extends Schema.TaggedError<OtherUpload>()("OtherUpload", {
  /** What is not the same, in words. */
  differences: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The journal is that of another upload: ${this.differences.join("; ")}.`
  }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** What keeps an upload from going on with what an other one noted. */
export const differencesOf = (noted: UploadSubject, now: UploadSubject): ReadonlyArray<string> => [
  ...(noted.sha256 === now.sha256 && noted.bytes === now.bytes ? [] : ["the file has changed since"]),
  ...(noted.target === now.target ? [] : [`it went to ${noted.target}, and this goes to ${now.target}`]),
  ...(same(noted.listNames, now.listNames) ? [] : ["the lists were others"]),
  ...(same(noted.columns, now.columns) ? [] : ["the columns were mapped otherwise"]),
  ...(noted.delimiter === now.delimiter ? [] : ["the delimiter was another"]),
  ...(noted.encoding === now.encoding ? [] : ["the encoding was another"])
]
