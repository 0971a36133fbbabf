/**
 * The plan of an import: what each row would change, found before anything is written. Its file is JSON with a row on
 * each line, so that neither writing nor reading holds all of it. (docs/decisions/plan.md)
 */
import {
  contactOf,
  ContactPayload,
  type ImportRow,
  JsonParser,
  maximumContactsPerAdd,
  type RejectedRow
} from "@roster/domain"
import { Array as Arrays, Effect, Result, Schema, Stream } from "effect"
import { makeUtf8Decoder } from "../bulk/Utf8Decoder.ts"
import type { UploadSurvey } from "../upload/UploadSurvey.ts"
import type { ContactLookup } from "./ContactLookup.ts"
import {
  changesOf,
  contentDigestOf,
  type ContactState,
  FieldChanges,
  givenBy,
  merged,
  onLists
} from "./ContactState.ts"

/** The first line of a plan: its target, its file and its options. */
export const PlanHeader = Schema.Struct({
  plan: Schema.Literal("roster contacts import"),
  version: Schema.Literal(1),
  /** The name of the service or store. */
  target: Schema.String,
  /** When it was made, as ISO 8601. */
  made: Schema.String,
  /** SHA-256 of the bytes of the imported file. */
  sha256: Schema.String,
  listNames: Schema.Array(Schema.String),
  /** Whether contacts that receive no mail are made ones that do. */
  resubscribe: Schema.Boolean
})
export interface PlanHeader extends Schema.Schema.Type<typeof PlanHeader> {}

const rowFields = {
  line: Schema.Int,
  contact: ContactPayload,
  /** The digest of what is stored; empty for a new contact. */
  before: Schema.String,
  /** The digest of what it becomes. */
  after: Schema.String
}

/** A row of a plan, as far as an apply reads it. */
export const PlannedRow = Schema.Struct(rowFields)
export interface PlannedRow extends Schema.Schema.Type<typeof PlannedRow> {}

/** A row that changes something, as its file has it. */
const WrittenRow = Schema.Struct({
  ...rowFields,
  /** Old and new values of the fields of a stored contact. */
  changes: Schema.optionalKey(FieldChanges),
  /** The status of the row was left out, since it would resubscribe. */
  keepsStatus: Schema.optionalKey(Schema.Literal(true))
})
type WrittenRow = typeof WrittenRow.Type

/** The counts of a plan: read = new + changed + unchanged + rejected + duplicates. */
export const PlanCounts = Schema.Struct({
  read: Schema.Int,
  new: Schema.Int,
  changed: Schema.Int,
  unchanged: Schema.Int,
  rejected: Schema.Int,
  duplicates: Schema.Int,
  /** Rows whose status would resubscribe their contacts. It is left out, unless the plan allows it. */
  wouldResubscribe: Schema.Int,
  /** Changed rows that, as far as can be read, only put their contacts on the lists. */
  onlyLists: Schema.Int
})
export interface PlanCounts extends Schema.Schema.Type<typeof PlanCounts> {}

/** A change that a summary shows. */
export interface ShownChange {
  readonly line: number
  readonly email: string
  readonly changes: FieldChanges
}

/** The counts and examples of a plan. */
export interface PlanSummary extends PlanCounts {
  /** The number of stored contacts that change in each field. */
  readonly fields: { readonly [field: string]: number }
  /** The first changes of stored contacts. */
  readonly sample: ReadonlyArray<ShownChange>
  /** The first rows that would resubscribe their contacts. */
  readonly wouldResubscribeRows: ReadonlyArray<{ readonly line: number; readonly email: string }>
  readonly rejectedRows: ReadonlyArray<Omit<RejectedRow, "cells">>
}

/** Maximum number of changes, and of rows that would resubscribe, that a summary shows. */
export const maximumShownRows = 20

/** Maximum number of fields that a summary counts one by one. */
export const maximumCountedFields = 1000

/** How a plan is made. */
export interface PlanOptions {
  readonly header: PlanHeader
  readonly lookup: ContactLookup
  readonly onProgress?: ((planned: number) => Effect.Effect<void>) | undefined
}

const encodeHeader = Schema.encodeSync(Schema.fromJsonString(PlanHeader))
const encodeRow = Schema.encodeSync(JsonParser.fromJsonString(WrittenRow))
const encodeCounts = Schema.encodeSync(Schema.fromJsonString(PlanCounts))

const rowsBegin = ',"rows":['
const rowsEnd = '],"counts":'

/** The rows to send, each with its contact. */
const sendableRows = <E, R>(rows: Stream.Stream<ImportRow, E, R>, isSent: (row: number) => boolean) =>
  Stream.suspend(() => {
    let number = 0
    return Stream.mapAccumArray(
      rows,
      () => undefined,
      (_, some) => {
        const sent: Array<{ readonly line: number; readonly contact: ContactPayload }> = []
        for (const row of some) {
          if (!isSent(++number)) continue
          const contact = contactOf(row)
          if (Result.isSuccess(contact)) sent.push({ line: row.line, contact: contact.success })
        }
        return [undefined, sent]
      }
    )
  })

/** A contact without its status. */
const withoutStatus = ({ status: _status, ...rest }: ContactPayload): ContactPayload => rest

/** Makes the plan of surveyed rows: the lines of its file, and once they are read, its summary. */
export const makeImportPlan = <E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  survey: UploadSurvey,
  options: PlanOptions
) => {
  const { lookup, onProgress, header } = options
  const { listNames, resubscribe } = header
  const lists = lookup.hasLists ? listNames : []
  const counts = { new: 0, changed: 0, unchanged: 0, wouldResubscribe: 0, onlyLists: 0 }
  const fields = new Map<string, number>()
  const sample: Array<ShownChange> = []
  const wouldResubscribeRows: Array<{ readonly line: number; readonly email: string }> = []
  let planned = 0

  const countFields = (changes: FieldChanges): void => {
    for (const field of Object.keys(changes)) {
      if (fields.size < maximumCountedFields || fields.has(field)) fields.set(field, (fields.get(field) ?? 0) + 1)
    }
  }
  /** The planned row, or `undefined` for one that changes nothing. */
  const planRow = (line: number, contact: ContactPayload, state: ContactState | undefined): WrittenRow | undefined => {
    const { after, wouldResubscribe } = merged(state, givenBy(contact), { lists, resubscribe })
    const keepsStatus = wouldResubscribe && !resubscribe
    if (wouldResubscribe) {
      counts.wouldResubscribe++
      if (wouldResubscribeRows.length < maximumShownRows) wouldResubscribeRows.push({ line, email: contact.email })
    }
    const row = {
      line,
      contact: keepsStatus ? withoutStatus(contact) : contact,
      before: contentDigestOf(state),
      after: contentDigestOf(after),
      ...(keepsStatus ? ({ keepsStatus } as const) : {})
    }
    if (state === undefined) {
      counts.new++
      return row
    }
    const changes = changesOf(state, after)
    const isSame = Object.keys(changes).length === 0
    // Where lists cannot be read, nobody knows who is on them.
    if (isSame && (listNames.length === 0 || (lookup.hasLists && onLists(state, listNames)))) {
      counts.unchanged++
      return undefined
    }
    counts.changed++
    if (isSame) counts.onlyLists++
    else {
      countFields(changes)
      if (sample.length < maximumShownRows) sample.push({ line, email: contact.email, changes })
    }
    return { ...row, changes }
  }

  const summary = Effect.sync((): PlanSummary => ({
    read: survey.read,
    ...counts,
    rejected: survey.invalid,
    duplicates: survey.duplicates,
    fields: Object.fromEntries([...fields].toSorted(([, one], [, other]) => other - one)),
    sample,
    wouldResubscribeRows,
    rejectedRows: survey.firstInvalid
  }))

  let isFirst = true
  const linesOf = Effect.fnUntraced(function* (
    part: ReadonlyArray<{ readonly line: number; readonly contact: ContactPayload }>
  ) {
    const states = yield* lookup.find(part.map(({ contact }) => contact.email))
    let text = ""
    for (const [index, { contact, line }] of part.entries()) {
      const row = planRow(line, contact, states[index])
      if (row === undefined) continue
      text += `${isFirst ? "" : ","}${encodeRow(row)}\n`
      isFirst = false
    }
    planned += part.length
    if (onProgress !== undefined) yield* onProgress(planned)
    return text
  })
  const lines = Stream.make(`${encodeHeader(header).slice(0, -1)}${rowsBegin}\n`).pipe(
    Stream.concat(
      sendableRows(rows, survey.sendable.has).pipe(Stream.grouped(maximumContactsPerAdd), Stream.mapEffect(linesOf))
    ),
    Stream.concat(Stream.fromEffect(Effect.map(summary, (known) => `${rowsEnd}${encodeCounts(known)}}\n`)))
  )
  return { lines, summary }
}

/** The file is not the plan of an import, or not all of it. */
export class UnreadablePlan extends Schema.TaggedError<UnreadablePlan>()("UnreadablePlan", {
  reason: Schema.String
}) {
  override get message(): string {
    return `This is not a whole plan of an import: ${this.reason}`
  }
}

const unreadable = (reason: string) => new UnreadablePlan({ reason })

/** A line of the file of a plan. */
export type PlanLine =
  | { readonly _tag: "Header"; readonly header: PlanHeader }
  | { readonly _tag: "Row"; readonly row: PlannedRow }
  | { readonly _tag: "Unread" }
  | { readonly _tag: "Counts"; readonly counts: PlanCounts }

const decodeHeader = Schema.decodeUnknownResult(Schema.fromJsonString(PlanHeader))
const decodeRow = Schema.decodeUnknownResult(JsonParser.fromJsonString(PlannedRow))
const decodeCounts = Schema.decodeUnknownResult(Schema.fromJsonString(PlanCounts))

const readLine = (text: string, isFirst: boolean, decodesRows: boolean): Result.Result<PlanLine, UnreadablePlan> => {
  if (isFirst) {
    if (!text.endsWith(rowsBegin)) return Result.fail(unreadable("it does not begin as one"))
    return Result.mapBoth(decodeHeader(`${text.slice(0, -rowsBegin.length)}}`), {
      onSuccess: (header): PlanLine => ({ _tag: "Header", header }),
      onFailure: () => unreadable("it does not begin as one of this version")
    })
  }
  if (text.startsWith(rowsEnd)) {
    return Result.mapBoth(decodeCounts(text.slice(rowsEnd.length, -1)), {
      onSuccess: (counts): PlanLine => ({ _tag: "Counts", counts }),
      onFailure: () => unreadable("its end cannot be read")
    })
  }
  if (!decodesRows) return Result.succeed({ _tag: "Unread" })
  return Result.mapBoth(decodeRow(text.startsWith(",") ? text.slice(1) : text), {
    onSuccess: (row): PlanLine => ({ _tag: "Row", row }),
    onFailure: () => unreadable("one of its rows cannot be read")
  })
}

/** Maximum length of a line of a plan in UTF-16 units, far more than a contact and its changes take. */
const longestLine = 1024 * 1024

/**
 * Reads the file of a plan in UTF-8. Fails for one that breaks off, or whose rows do not add up. Its rows are decoded
 * unless they are only to be counted.
 */
export const readPlan = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>,
  { decodesRows = true }: { readonly decodesRows?: boolean } = {}
): Stream.Stream<PlanLine, UnreadablePlan | E, R> =>
  Stream.suspend(() => {
    let number = 0
    let rows = 0
    let counts: PlanCounts | undefined
    const read = (text: string): Result.Result<PlanLine, UnreadablePlan> => {
      if (text.length > longestLine) return Result.fail(unreadable("one of its lines is too long"))
      if (counts !== undefined) return Result.fail(unreadable("there is text after its end"))
      const line = readLine(text, number++ === 0, decodesRows)
      if (Result.isSuccess(line)) {
        if (line.success._tag === "Row" || line.success._tag === "Unread") rows++
        if (line.success._tag === "Counts") counts = line.success.counts
      }
      return line
    }
    const end = Effect.suspend(() => {
      if (counts === undefined) return unreadable("it breaks off")
      return rows === counts.new + counts.changed ? Effect.void : unreadable("it does not have all its rows")
    })
    const decode = makeUtf8Decoder(() => unreadable("it is not UTF-8"))
    return Stream.mapEffect(content, (piece) => decode(piece)).pipe(
      Stream.concat(Stream.fromEffect(Effect.suspend(() => decode()))),
      Stream.splitLines,
      Stream.filter((line) => line !== ""),
      Stream.mapArrayEffect((part) => Effect.fromResult(Result.all(Arrays.map(part, read)))),
      Stream.concat(Stream.fromEffectDrain(end))
    )
  })
