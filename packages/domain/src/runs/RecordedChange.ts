/** What a run did to a contact, as the service and the log of runs record it. (docs/decisions/runs.md) */
import { type DateTime, Effect, Schema } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import type { ChangeAnswer, ContactChange } from "../contacts/ContactChange.ts"
import { strictnessOf } from "../contacts/StatusLadder.ts"
import { InvalidInput } from "../errors/InvalidInput.ts"
import { formatWireDate } from "../values/WireDate.ts"
import { payloadRecord, wireRecord } from "../values/WireRecord.ts"
import { changesOf, type ContactState, digestOf, FieldChanges, partsOf } from "./ContactState.ts"

/** The times of a status that a write gave and of the one in whose place it came, as `statusTime` has them. */
export const StatusDate = Schema.Struct({
  /** The time of the status that the write gave; `null` if it deleted the contact. */
  given: Schema.NullOr(Schema.String),
  /** The time of the status before; `null` if there was none. */
  before: Schema.NullOr(Schema.String)
})
export interface StatusDate extends Schema.Schema.Type<typeof StatusDate> {}

/** The time of a status with which a contact was added: a status that is given later in the same second is another. */
export const timeOfAdding = (date: DateTime.Utc): string => `added ${formatWireDate(date)}`

/** Whether it is the time of a status with which a contact was added. */
export const isTimeOfAdding = (time: string): boolean => time.startsWith("added ")

/** When a contact got the status that it has; `null` if nobody can tell. No two statuses of a contact have the same time. */
export const statusTime = ({
  dateAdded,
  statusChangeDate
}: Pick<Contact, "dateAdded" | "statusChangeDate">): string | null =>
  statusChangeDate == null ? (dateAdded == null ? null : timeOfAdding(dateAdded)) : formatWireDate(statusChangeDate)

/** The times of a status that a write gave or, of a contact that got no mail, deleted; `undefined` if it did neither. */
export const statusDateOf = (before: Contact | undefined, after: Contact | undefined): StatusDate | undefined => {
  // Of new contacts and deleted ones an undo asks only for these.
  if ((before === undefined || after === undefined) && strictnessOf((after ?? before)?.status) === 0) return undefined
  const [given, old] = [after, before].map((contact) => (contact === undefined ? null : statusTime(contact)))
  return given === undefined || old === undefined || given === old ? undefined : { given, before: old }
}

/**
 * The date that a service tells of the status that a change gave to a contact, as it is then. That of a new contact is told if it
 * gets no mail, and is the one of its adding.
 */
export const toldStatusDate = (
  { seen, write }: Partial<Pick<ContactChange, "seen" | "write">>,
  after: Contact | undefined
): DateTime.Utc | undefined => {
  if (write?.status === undefined) return undefined
  const added = seen === null && strictnessOf(write.status) > 0 ? after?.dateAdded : undefined
  return after?.statusChangeDate ?? added ?? undefined
}

/** The times of the status that a change gave or deleted, by what was there before and what the service told. */
export const statusDateIn = (
  { seen, write }: Pick<ContactChange, "seen" | "write">,
  before: Contact | null,
  answer: ChangeAnswer
): StatusDate | undefined => {
  if (answer._tag === "Outdated") return undefined
  if (write === undefined) return statusDateOf(before ?? undefined, undefined)
  const { statusChangeDate: date } = answer
  if (date === undefined) return undefined
  return { given: seen === null ? timeOfAdding(date) : formatWireDate(date), before: before && statusTime(before) }
}

const content = {
  /** The address of the contact; `null` once its person was erased, and then there is nothing else of that person. */
  email: Schema.NullOr(Schema.String),
  /** What the run did. */
  effect: Schema.Literals(["Created", "Changed", "Deleted"]),
  /** What the changed fields were and are: all fields of a deleted contact, and none of a new one, which the record does not hold. */
  fields: FieldChanges,
  /** The digest of what the contact became; `null` for a deleted one. */
  after: Schema.NullOr(Schema.String),
  /** The digests of the fields of a new contact and of the date of its adding, of 6 characters each. */
  parts: Schema.optionalKey(Schema.String),
  /** The times of the status, if the write gave one or deleted a contact that got no mail. */
  statusDate: Schema.optionalKey(StatusDate)
}

/** A recorded change without its number, as a store keeps it. */
export const ChangeContent = Schema.Struct(content)
export interface ChangeContent extends Schema.Schema.Type<typeof ChangeContent> {}

/** A recorded change of a contact, with its lists, which are fields such as `Lists.news`. */
export class RecordedChange extends Schema.Opaque<RecordedChange>()(
  wireRecord({
    /** Its number in the run, from 1 on. */
    number: Schema.Int,
    ...content
  }).annotate({ identifier: "RunChange" })
) {}

/** A change without its number in a run, of a contact that has an address. */
export type ChangeOfContact = ChangeContent & { readonly email: string }

/** The change from one state of a contact to another; `undefined` if nothing changed. */
export const changeOf = (
  email: string,
  before: ContactState | undefined,
  after: ContactState | undefined,
  {
    dateAdded,
    statusDate
  }: { readonly statusDate?: StatusDate | undefined; readonly dateAdded?: DateTime.Utc | undefined } = {}
): ChangeOfContact | undefined => {
  const dated = statusDate === undefined ? {} : { statusDate }
  if (before === undefined) {
    if (after === undefined) return undefined
    return { email, effect: "Created", fields: {}, after: digestOf(after), parts: partsOf(after, dateAdded), ...dated }
  }
  const fields = changesOf(before, after ?? {})
  if (after === undefined) return { email, effect: "Deleted", fields, after: null, ...dated }
  return Object.keys(fields).length === 0 && statusDate === undefined
    ? undefined
    : { email, effect: "Changed", fields, after: digestOf(after), ...dated }
}

/** A change without its person. Its effect stays, so that the counts of the run do. */
export const erasedChange = ({ effect }: ChangeContent): ChangeContent => ({
  email: null,
  effect,
  fields: {},
  after: null
})

/** The maximum number of changes on a page, of about 1 MiB: larger changes make a shorter page. */
export const maximumChangesPerPage = 1000

/** A page of the changes of a run. */
export interface RunChangesPage {
  /** The maximum number of changes, up to 1000 (default: 20). A page of large ones has fewer. */
  readonly limit?: number | undefined
  /** Gives the changes with higher numbers, the lowest first (default: 0, so all). */
  readonly after?: number | undefined
  /** Gives the changes with lower numbers in place of those with higher ones, the highest first. */
  readonly before?: number | undefined
}

/** A page of runs, the newest first. */
export interface RunsPage {
  /** The maximum number of runs, up to 1000 (default: 20). */
  readonly limit?: number | undefined
  /** The id of a run: only runs that were begun before it are given. */
  readonly before?: string | undefined
}

const isCount = (value: number | undefined, most: number): boolean =>
  value === undefined || (Number.isSafeInteger(value) && value >= 0 && value <= most)

const refused = (field: string, issue: string) => Effect.fail(new InvalidInput({ field, issue }))

/** Checks a page of runs, with the same messages on every layer. */
export const checkRunsPage = ({ limit }: RunsPage): Effect.Effect<void, InvalidInput> =>
  isCount(limit, maximumChangesPerPage)
    ? Effect.void
    : refused("limit", `it is a whole number from 0 to ${maximumChangesPerPage}; read more page by page`)

/** Checks a page of changes, with the same messages on every layer. */
export const checkRunPage = ({ after, before, limit }: RunChangesPage): Effect.Effect<void, InvalidInput> => {
  const isNumber = "it is the number of a change, a whole number from 0 on"
  if (!isCount(after, Number.MAX_SAFE_INTEGER)) return refused("after", isNumber)
  if (!isCount(before, Number.MAX_SAFE_INTEGER)) return refused("before", isNumber)
  return after === undefined || before === undefined
    ? checkRunsPage({ limit })
    : refused("before", "a page goes on after a change or before one, not both")
}

/** The maximum number of changes that are erased at once. */
export const maximumErased = 1000

/** The numbers of the changes of a run whose persons are erased. */
export const ErasedNumbers = payloadRecord("what is erased", {
  /** The numbers of the changes, at most 1000. */
  numbers: Schema.Array(Schema.Int).check(Schema.isMaxLength(maximumErased))
}).annotate({ identifier: "ErasedNumbers" })
export interface ErasedNumbers extends Schema.Schema.Type<typeof ErasedNumbers> {}
