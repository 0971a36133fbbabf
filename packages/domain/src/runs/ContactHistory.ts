/** The history of a contact: what runs did to it, and each status and consent that it was given. (docs/decisions/history.md) */
import { Effect, Schema } from "effect"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { WireDate } from "../values/WireDate.ts"
import { wireRecord } from "../values/WireRecord.ts"
import { FieldChanges } from "./ContactState.ts"
import { checkRunsPage } from "./RecordedChange.ts"

/** What was done to a contact at one time. */
export class HistoryEntry extends Schema.Opaque<HistoryEntry>()(
  wireRecord({
    /** When: to the second of a status, a consent and the adding of the contact that is there, of all else when its run began. */
    date: WireDate,
    /** What was done. */
    effect: Schema.Literals(["Created", "Changed", "Deleted"]),
    /** What the changed fields were and are; of a new contact only the status that it was given, if it stops mail. */
    fields: FieldChanges,
    /** The name that the key had then; `null` for the owner of the store, and where nobody knows. */
    key: Schema.NullOr(Schema.String),
    /** The id of the run; `null` for a write without one, and where nobody knows. */
    run: Schema.NullOr(Schema.String),
    /** The command of the run, while the service keeps it. */
    command: Schema.optionalKey(Schema.String),
    /** What the run is of, such as the name of a file. */
    about: Schema.optionalKey(Schema.String),
    /** The id of the run that the run undoes. */
    undoes: Schema.optionalKey(Schema.String),
    /** How the contact came in, as the service notes it of one that is there. */
    source: Schema.optionalKey(Schema.String)
  }).annotate({ identifier: "HistoryEntry" })
) {}

/** A page of the history of a contact, the newest first. */
export class ContactHistory extends Schema.Opaque<ContactHistory>()(
  wireRecord({
    /** Whether the contact is there now. */
    exists: Schema.Boolean,
    /** The entries. There may be none on a page that is not the last, where many runs did nothing to the contact. */
    entries: Schema.Array(HistoryEntry),
    /** The `cursor` of the next page; `null` on the last one. */
    next: Schema.NullOr(Schema.String)
  }).annotate({ identifier: "ContactHistory" })
) {}

/** A page of the history of a contact. */
export interface HistoryPage {
  /** The maximum number of entries, up to 1000 (default: 20). A page of large ones has fewer. */
  readonly limit?: number | undefined
  /** The `next` of the page before this one (default: the first page). */
  readonly cursor?: string | undefined
}

/** Up to where the page before has read. */
export interface HistoryPosition {
  /** The run in which the page ended. */
  readonly run: number
  /** The change of that run before which it did. */
  readonly change: number
  /** The time of the last row of a status or consent. */
  readonly time: number
  /** The number of that row. */
  readonly status: number
  /** Whether an entry said how the contact that is there came in. */
  readonly isAdded: boolean
}

const cursorPattern = /^(\d{1,16})\.(\d{1,16})\.(\d{1,16})\.(\d{1,16})\.([01])$/

/** The cursor of the page after a position. */
export const historyCursor = ({ change, isAdded, run, status, time }: HistoryPosition): string =>
  [run, change, time, status, isAdded ? 1 : 0].join(".")

const first: HistoryPosition = {
  run: Number.MAX_SAFE_INTEGER,
  change: 0,
  time: Number.MAX_SAFE_INTEGER,
  status: 0,
  isAdded: false
}

const positionOf = (cursor: string | undefined): Effect.Effect<HistoryPosition, InvalidInput> => {
  if (cursor === undefined) return Effect.succeed(first)
  const match = cursorPattern.exec(cursor)
  const [run = 0, change = 0, time = 0, status = 0, isAdded = 0] = match?.slice(1).map(Number) ?? []
  return match !== null && [run, change, time, status].every(Number.isSafeInteger)
    ? Effect.succeed({ run, change, time, status, isAdded: isAdded === 1 })
    : Effect.fail(new InvalidInput({ field: "cursor", issue: "it is the Next of a page of a history" }))
}

/** Checks a page of a history, with the same messages on every layer, and gives where it begins. */
export const readHistoryPage = (page: HistoryPage): Effect.Effect<HistoryPosition, InvalidInput> =>
  Effect.andThen(checkRunsPage({ limit: page.limit }), positionOf(page.cursor))
