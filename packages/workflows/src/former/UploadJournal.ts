/** The journal by which an interrupted upload resumes. (docs/decisions/bulk-import.md) */
import { KeptStatusRow } from "@roster/domain"
import { Effect, Ref, Schema } from "effect"
import { makeBitset } from "../upload/DuplicateIndex.ts"
import { makeKeptStatusRows } from "../upload/RowAdds.ts"
import type { UploadSurvey } from "../upload/UploadSurvey.ts"

/** The identity of an upload: the file, its target, and the options that change which rows are sent. */
export const UploadIdentity = Schema.Struct({
  /** SHA-256 of the bytes of the file. */
  sha256: Schema.String,
  bytes: Schema.Int,
  /** The name of the service or store. */
  target: Schema.String,
  listNames: Schema.Array(Schema.String),
  /** Columns and the fields that they were mapped to. */
  columns: Schema.Array(Schema.Tuple([Schema.String, Schema.String])),
  delimiter: Schema.optionalKey(Schema.String),
  encoding: Schema.optionalKey(Schema.String),
  /** Whether contacts may be resubscribed. */
  resubscribe: Schema.optionalKey(Schema.Boolean)
})
export type UploadIdentity = typeof UploadIdentity.Type

const Range = Schema.Tuple([Schema.Int, Schema.Int])

/** The numbers of the first and the last row of a range. */
export type RowRange = typeof Range.Type

/** A line of a journal. Ranges mean sendable, not refused rows; rows that are only in `Sending` have no answer. */
export const UploadEntry = Schema.TaggedUnion({
  Sending: { rows: Range },
  Answered: {
    accepted: Schema.Array(Range),
    refused: Schema.Array(Schema.Struct({ row: Schema.Int, line: Schema.Int, reason: Schema.String })),
    unknown: Schema.Array(Range),
    /** The accepted rows whose contacts kept their status. */
    kept: Schema.optionalKey(Schema.Array(Schema.Struct({ row: Schema.Int, ...KeptStatusRow.fields })))
  }
})
export type UploadEntry = typeof UploadEntry.Type

/** The content of a journal. */
export interface UploadRecord {
  readonly identity: UploadIdentity
  readonly entries: ReadonlyArray<UploadEntry>
}

/** The storage of a journal. An appended line survives the end of the process, and after `fsync` a power failure. */
export interface UploadJournal<E = never> {
  readonly load: Effect.Effect<UploadRecord | undefined, E>
  /** Replaces the journal by an empty one. */
  readonly begin: (identity: UploadIdentity) => Effect.Effect<void, E>
  readonly append: (entry: UploadEntry) => Effect.Effect<void, E>
  /** Waits until all appended lines are durable. */
  readonly fsync: Effect.Effect<void, E>
  readonly clear: Effect.Effect<void, E>
}

/** The journal of an upload, and the identity of the upload. */
export interface JournaledUpload<E = never> {
  readonly lines: UploadJournal<E>
  readonly identity: UploadIdentity
  /** Starts from the beginning, whatever the journal holds. */
  readonly restart?: boolean | undefined
}

/** A journal in memory, which ends with the process. */
export const uploadJournalMemory: Effect.Effect<UploadJournal> = Effect.map(
  Ref.make<UploadRecord | undefined>(undefined),
  (kept) => ({
    load: Ref.get(kept),
    begin: (identity) => Ref.set(kept, { identity, entries: [] }),
    append: (entry) =>
      Ref.update(kept, (record) => record && { identity: record.identity, entries: [...record.entries, entry] }),
    fsync: Effect.void,
    clear: Ref.set(kept, undefined)
  })
)

/** The journal belongs to another upload. */
export class OtherUpload extends Schema.TaggedError<OtherUpload>()("OtherUpload", {
  /** A description of each difference. */
  differences: Schema.Array(Schema.String)
}) {
  override get message(): string {
    return `The journal is that of another upload: ${this.differences.join("; ")}.`
  }
}

const same = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

const differencesOf = (noted: UploadIdentity, now: UploadIdentity): ReadonlyArray<string> => [
  ...(noted.sha256 === now.sha256 && noted.bytes === now.bytes ? [] : ["the file has changed since"]),
  ...(noted.target === now.target ? [] : [`it went to ${noted.target}, and this goes to ${now.target}`]),
  ...(same(noted.listNames, now.listNames) ? [] : ["the lists were others"]),
  ...(same(noted.columns, now.columns) ? [] : ["the columns were mapped otherwise"]),
  ...(noted.delimiter === now.delimiter ? [] : ["the delimiter was another"]),
  ...(noted.encoding === now.encoding ? [] : ["the encoding was another"]),
  ...((noted.resubscribe ?? false) === (now.resubscribe ?? false)
    ? []
    : [`it ${noted.resubscribe === true ? "was" : "was not"} allowed to resubscribe contacts`])
]

/** Reads a journal. Unanswered rows count as not sent, as adding again only updates. Fails with `OtherUpload`. */
export const resumeUpload = Effect.fnUntraced(function* <E>(
  { read, sendable }: Pick<UploadSurvey, "read" | "sendable">,
  journal: JournaledUpload<E> | undefined
) {
  const settled = makeBitset()
  const kept = makeKeptStatusRows()
  const refused = new Map<number, { readonly line: number; readonly reason: string }>()
  const record = journal === undefined || journal.restart === true ? undefined : yield* journal.lines.load
  if (journal !== undefined && record !== undefined) {
    const differences = differencesOf(record.identity, journal.identity)
    if (differences.length > 0) return yield* new OtherUpload({ differences })
  }
  for (const entry of record?.entries ?? []) {
    if (entry._tag === "Sending") continue
    for (const [first, last] of entry.accepted) {
      for (let row = first; row <= Math.min(last, read); row++) if (sendable.has(row)) settled.add(row)
    }
    for (const row of entry.kept ?? []) if (sendable.has(row.row)) kept.add(row)
    for (const { line, reason, row } of entry.refused) if (sendable.has(row)) refused.set(row, { line, reason })
  }
  // A range of accepted rows may contain a row that an earlier run saw refused.
  for (const row of refused.keys()) settled.remove(row)
  let accepted = 0
  for (let row = 1; row <= read; row++) if (settled.has(row)) accepted++
  return {
    /** Whether there was no earlier run, or it is disregarded. */
    isNew: record === undefined,
    /** The numbers of the rows that the service accepted. */
    settled,
    accepted,
    /** The rows that the service refused, by number. They are not sent again. */
    refused,
    /** The accepted rows whose contacts kept their status. */
    kept,
    /** Number of sendable rows with an answer. */
    answered: accepted + refused.size
  }
})
