/** The file of a plan: JSON with its header, a row on each line, and its summary. (docs/decisions/runs.md) */
import {
  ContactChange,
  ContactState,
  FieldChanges,
  ImportMapping,
  ImportWarning,
  KeptStatusRow,
  Resubscribe,
  TaggedError
} from "@roster/domain"
import { ContactColumns, JsonParser } from "@roster/domain/internal"
import { Array as Arrays, Effect, Result, Schema, Stream } from "effect"
import { makeUtf8Decoder } from "../bulk/Utf8Decoder.ts"
import { RepeatedRow } from "../upload/RepeatedRows.ts"
import { NamedRejection, RejectionCause } from "../runs/Rejections.ts"
import { NewRecipients } from "../runs/RunReport.ts"

/** The version of the format. Version 2 had no deletions, and version 3 other names of counts. */
export const version = 4

/** The first line of a plan: its target and its options. */
export class PlanHeader extends Schema.Opaque<PlanHeader>()(
  Schema.Struct({
    /** What tells a plan from other files. */
    plan: Schema.Literal("roster contacts"),
    /** The version of the format. */
    version: Schema.Literal(version),
    /** Tells it from other plans. */
    id: Schema.String,
    /** The id of the store whose contacts it changes, or the address of a service that tells none. */
    target: Schema.String,
    /** The name of the service or store for people, if it is another. */
    name: Schema.optionalKey(Schema.String),
    /** When it was made, as ISO 8601. */
    made: Schema.String,
    /** What its rows were read from, as the caller names it. */
    source: Schema.optionalKey(Schema.String),
    /** How they were read. */
    mapping: Schema.optionalKey(ImportMapping),
    /** Lists that the contacts are put on. */
    listNames: Schema.Array(Schema.String),
    /** The statuses that it lifts. */
    resubscribe: Resubscribe
  })
) {}

/** A row of a plan, which changes something. */
export class PlannedRow extends Schema.Opaque<PlannedRow>()(
  Schema.Struct({
    /** The line on which the row begins, counted from 1. */
    line: Schema.Int,
    /** What it does, to a contact that is as the plan saw it. */
    change: ContactChange,
    /** Old and new values of the fields of a stored contact, for people. */
    fields: Schema.optionalKey(FieldChanges),
    /** Those of them that change only the form of their value; absent without any. */
    onlyForm: Schema.optionalKey(Schema.Array(Schema.String)),
    /** The status of the row was left out, since the contact keeps its own. */
    keepsStatus: Schema.optionalKey(Schema.Literal(true))
  })
) {}

/** A row by its line and address. */
export const Named = Schema.Struct({ line: Schema.Int, email: Schema.String })

/** A value that a conversion leaves as it is. */
export const LeftValue = Schema.Struct({
  /** The address of its contact. */
  email: Schema.String,
  /** The name of the custom field. */
  field: Schema.String,
  /** The value, up to 100 characters of it. */
  value: Schema.String,
  /** Why it is left. */
  reason: Schema.String
})
export interface LeftValue extends Schema.Schema.Type<typeof LeftValue> {}

/** The counts and examples of a plan: read = new + changed + deleted + alreadySo + leftOut + rejected + duplicates. */
export class PlanSummary extends Schema.Opaque<PlanSummary>()(
  Schema.Struct({
    /** The number of rows. */
    read: Schema.Int,
    /** Rows whose contacts are new. */
    new: Schema.Int,
    /** Rows whose contacts change. */
    changed: Schema.Int,
    /** Contacts that the plan deletes; absent without any. */
    deleted: Schema.optionalKey(Schema.Int),
    /** How many of them have each status; absent without any. */
    statuses: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)),
    /** Rows whose contacts are so already, as far as the service shows it. */
    alreadySo: Schema.Int,
    /** Rows that the mode leaves out; absent without any. */
    leftOut: Schema.optionalKey(Schema.Int),
    /** Rows that our own check refuses. */
    rejected: Schema.Int,
    /** Rows that are merged into a later one with their address. */
    duplicates: Schema.Int,
    /** The first of them; absent without any. */
    duplicateRows: Schema.optionalKey(Schema.Array(RepeatedRow)),
    /** Rows whose contacts keep their status in place of that of the row. */
    statusesKept: Schema.Int,
    /** Those of `alreadySo` that are sent all the same, since the service does not show who is on the lists. */
    onlyLists: Schema.Int,
    /** The number of stored contacts that change in each field. */
    fields: Schema.Record(Schema.String, Schema.Int),
    /** The number of them in which only the form of the value changes, such as 25.07.2022 to 2022-07-25; absent without any. */
    onlyForm: Schema.optionalKey(Schema.Record(Schema.String, Schema.Int)),
    /** The first changes of stored contacts, with the fields of which only the form changes. */
    sample: Schema.Array(
      Schema.Struct({
        ...Named.fields,
        changes: FieldChanges,
        onlyForm: Schema.optionalKey(Schema.Array(Schema.String))
      })
    ),
    /** Which column of the file becomes which field; absent without a file. */
    columns: Schema.optionalKey(Schema.Array(ContactColumns.ColumnField)),
    /** The number of values that a conversion leaves as they are; absent without any. */
    valuesLeft: Schema.optionalKey(Schema.Int),
    /** The first of them, up to 10,000. */
    leftValues: Schema.optionalKey(Schema.Array(LeftValue)),
    /** The first contacts that rows stand for, as they would be stored; absent without any. */
    firstContacts: Schema.optionalKey(Schema.Array(Schema.Struct({ ...Named.fields, contact: ContactState }))),
    /** The first rows whose contacts keep their status, up to 20. */
    keptStatuses: Schema.Array(Schema.Struct({ ...Named.fields, ...KeptStatusRow.fields })),
    /** The first rejected rows, up to 10,000. */
    rejectedRows: Schema.Array(NamedRejection),
    /** Why rows are rejected, the causes of most rows first; absent without any. */
    causes: Schema.optionalKey(Schema.Array(RejectionCause)),
    /** Who will receive mail and did not before; absent of deletions. */
    newRecipients: Schema.optionalKey(NewRecipients),
    /** What is odd in the other rows; absent if nothing is, or if the survey did not look for it. */
    warnings: Schema.optionalKey(Schema.Array(ImportWarning))
  })
) {}

/** Where the bytes of a plan are kept. */
export interface PlanStorage<E = never> {
  /** Writes all of it. */
  readonly write: <E2, R>(content: Stream.Stream<Uint8Array, E2, R>) => Effect.Effect<void, E | E2, R>
  /** Reads it from its beginning, any number of times. */
  readonly content: Stream.Stream<Uint8Array, E>
}

/** Keeps a plan in memory. */
export const planStorageMemory = (): PlanStorage => {
  const parts: Array<Uint8Array> = []
  return {
    write: (content) => Stream.runForEach(content, (part) => Effect.sync(() => parts.push(part))),
    content: Stream.suspend(() => Stream.fromIterable(parts))
  }
}

/** The first line of a plan as JSON. */
export const encodeHeader = Schema.encodeSync(Schema.fromJsonString(PlanHeader))
/** A row as JSON. */
export const encodeRow = Schema.encodeSync(JsonParser.fromJsonString(PlannedRow))
/** The counts and examples as JSON. */
export const encodeSummary = Schema.encodeSync(JsonParser.fromJsonString(PlanSummary))

/** Ends the first line. */
export const rowsBegin = ',"rows":['
/** Begins the last line. */
export const rowsEnd = '],"summary":'

/** The number of rows of a plan, each of which changes something, as far as is known. */
export const rowsIn = ({ changed, deleted = 0, new: added, onlyLists }: PlanSummary): number =>
  added + changed + deleted + onlyLists

/** The file is not a plan, or not all of it. */
export class UnreadablePlan extends TaggedError<UnreadablePlan>()("UnreadablePlan", {
  /** Why it cannot be read, in words. */
  reason: Schema.String
}) {
  override get message(): string {
    return `This is not a whole plan: ${this.reason}`
  }
}

/** A plan that cannot be read. */
export const unreadable = (reason: string) => new UnreadablePlan({ reason })

/** A line of the file of a plan. */
export type PlanLine =
  | { readonly _tag: "Header"; readonly header: PlanHeader }
  | { readonly _tag: "Row"; readonly row: PlannedRow }
  | { readonly _tag: "Unread" }
  | { readonly _tag: "Summary"; readonly summary: PlanSummary }

const decodeHeader = Schema.decodeUnknownResult(JsonParser.fromJsonString(PlanHeader))
const decodeRow = Schema.decodeUnknownResult(JsonParser.fromJsonString(PlannedRow))
const decodeSummary = Schema.decodeUnknownResult(JsonParser.fromJsonString(PlanSummary))

/** Why a first line cannot be read. */
const otherVersion = (text: string): string => {
  const [, other] = /"version":(\d{1,6})[,}]/.exec(text) ?? []
  return other === undefined || Number(other) === version
    ? "its first line cannot be read"
    : `it is of version ${other}, and this Roster reads plans of version ${version}; make the plan again`
}

const readLine = (text: string, isFirst: boolean, decodesRows: boolean): Result.Result<PlanLine, UnreadablePlan> => {
  if (isFirst) {
    if (!text.endsWith(rowsBegin)) return Result.fail(unreadable("it does not begin as one"))
    return Result.mapBoth(decodeHeader(`${text.slice(0, -rowsBegin.length)}}`), {
      onSuccess: (header): PlanLine => ({ _tag: "Header", header }),
      onFailure: () => unreadable(otherVersion(text))
    })
  }
  if (text.startsWith(rowsEnd)) {
    return Result.mapBoth(decodeSummary(text.slice(rowsEnd.length, -1)), {
      onSuccess: (summary): PlanLine => ({ _tag: "Summary", summary }),
      onFailure: () => unreadable("its end cannot be read")
    })
  }
  if (!decodesRows) return Result.succeed({ _tag: "Unread" })
  return Result.mapBoth(decodeRow(text.startsWith(",") ? text.slice(1) : text), {
    onSuccess: (row): PlanLine => ({ _tag: "Row", row }),
    onFailure: () => unreadable("one of its rows cannot be read")
  })
}

/** Rows that are planned, written or read at once: some milliseconds of work. */
export const rowsBetweenOthers = 64

/** Maximum length of a line of a plan in UTF-16 units, far more than a row and a summary take. */
const longestLine = 16 * 1024 * 1024

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
    let summary: PlanSummary | undefined
    const read = (text: string): Result.Result<PlanLine, UnreadablePlan> => {
      if (text.length > longestLine) return Result.fail(unreadable("one of its lines is too long"))
      if (summary !== undefined) return Result.fail(unreadable("there is text after its end"))
      const line = readLine(text, number++ === 0, decodesRows)
      if (Result.isSuccess(line)) {
        if (line.success._tag === "Row" || line.success._tag === "Unread") rows++
        if (line.success._tag === "Summary") summary = line.success.summary
      }
      return line
    }
    const end = Effect.suspend(() => {
      if (summary === undefined) return unreadable("it breaks off")
      return rows === rowsIn(summary) ? Effect.void : unreadable("it does not have all its rows")
    })
    const decode = makeUtf8Decoder(() => unreadable("it is not UTF-8"))
    return Stream.mapEffect(content, (piece) => decode(piece)).pipe(
      Stream.concat(Stream.fromEffect(Effect.suspend(() => decode()))),
      Stream.splitLines,
      Stream.filter((line) => line !== ""),
      Stream.rechunk(rowsBetweenOthers),
      // A page draws and answers meanwhile.
      Stream.mapArrayEffect((part) =>
        Effect.andThen(
          Effect.yieldNow,
          Effect.suspend(() => Effect.fromResult(Result.all(Arrays.map(part, read))))
        )
      ),
      Stream.concat(Stream.fromEffectDrain(end))
    )
  })
