/** What a run did to each contact, as one looks at it: the values before beside those of the run. */
import { canonicalEmail, type FieldChanges, FieldValue, type RecordedChange, type ServiceError } from "@roster/domain"
import { ContactStates } from "@roster/domain/internal"
import { Effect, Schema, Stream } from "effect"
import type { Changes, RunEntry } from "./RunEntry.ts"
import type { RecordedRun, RunLogFailure } from "./RecordedRun.ts"

/** The value of a field before a run and by it, `null` where there is none. */
export const ChangedField = Schema.Struct({
  /** The name of the field, such as `FirstName` or `CustomFields.city`. */
  field: Schema.String,
  /** The value before the run. */
  before: Schema.NullOr(FieldValue),
  /** The value that the run gave. */
  byRun: Schema.NullOr(FieldValue)
})
export interface ChangedField extends Schema.Schema.Type<typeof ChangedField> {}

/** What a run did to a contact. */
export const RunChange = Schema.Struct({
  /** The address of the contact. */
  email: Schema.String,
  /** What the run did. */
  effect: Schema.Literals(["Created", "Changed", "Deleted"]),
  /** Whether the write was made: others may have changed the contact before it. */
  isMade: Schema.Boolean,
  /** What changed. The record does not have the fields of a contact that the run created. */
  fields: Schema.Array(ChangedField)
})
export interface RunChange extends Schema.Schema.Type<typeof RunChange> {}

/** The changes of a run. */
export interface RunChanges {
  /** How many there are, of contacts that were only put on lists too. */
  readonly total: number
  /** The changes, in the order in which they were made, without the first ones (default: all). */
  readonly changes: (offset?: number) => Stream.Stream<RunChange, RunLogFailure | ServiceError>
}

const shownFields = (fields: FieldChanges): ReadonlyArray<ChangedField> =>
  Object.entries(fields).flatMap(([field, [before, byRun]]) =>
    ContactStates.isMetadata(field) || field === "Email" ? [] : [{ field, before, byRun }]
  )

const changesOfEntry = ({
  changed = [],
  created = [],
  deleted = []
}: Changes): ReadonlyArray<Omit<RunChange, "isMade">> => [
  ...created.map(([email]) => ({ email, effect: "Created" as const, fields: [] })),
  ...changed.map(({ email, fields }) => ({
    email,
    effect: "Changed" as const,
    fields: shownFields(fields)
  })),
  ...deleted.map((state) => ({
    email: ContactStates.emailOf(state),
    effect: "Deleted" as const,
    fields: Object.entries(state).flatMap(([field, before]) =>
      ContactStates.isMetadata(field) || field === "Email" ? [] : [{ field, before, byRun: null }]
    )
  }))
]

const sizeOf = (entry: RunEntry): number =>
  entry._tag === "Changes"
    ? (entry.created?.length ?? 0) + (entry.changed?.length ?? 0) + (entry.deleted?.length ?? 0)
    : 0

/** A change that the service recorded. One whose person was erased has no address. */
const changeOfRecord = ({ effect, email, fields }: RecordedChange): RunChange => ({
  email: email ?? "",
  effect,
  isMade: true,
  fields: effect === "Created" ? [] : shownFields(fields)
})

/** Reads what a run did, and gives the part that one looks at. */
export const runChanges = Effect.fnUntraced(function* (
  run: RecordedRun
): Effect.fn.Return<RunChanges, RunLogFailure | ServiceError> {
  if (run.recorded !== undefined) {
    const { changes, total } = run.recorded
    return { total, changes: (offset = 0) => Stream.map(changes(offset), changeOfRecord) }
  }
  let total = 0
  let entries = 0
  /** Writes that were not made, each by the number of its entry from the end. */
  const notMade = new Map<number, Set<string>>()
  const pending = new Set<string>()
  // From the end, since the last write of a contact before the note is meant.
  yield* Stream.runForEach(run.backwards, (entry) => {
    entries++
    total += sizeOf(entry)
    if (entry._tag === "NotMade") for (const email of entry.emails) pending.add(canonicalEmail(email))
    if (entry._tag === "Changes" && pending.size > 0) {
      const meant = changesOfEntry(entry).map(({ email }) => canonicalEmail(email))
      const those = new Set(meant.filter((email) => pending.delete(email)))
      if (those.size > 0) notMade.set(entries, those)
    }
    // A page answers meanwhile.
    return Effect.yieldNow
  })
  const changes = (offset = 0) =>
    Stream.suspend(() => {
      let [left, index] = [offset, -1]
      return run.entries.pipe(
        // One at a time, so that nothing is made of entries that nobody looks at.
        Stream.rechunk(1),
        Stream.map((entry) => {
          index++
          const size = sizeOf(entry)
          if (entry._tag !== "Changes" || size <= left) {
            left -= size
            return []
          }
          const first = left
          left = 0
          const outdated = notMade.get(entries - index)
          return changesOfEntry(entry)
            .slice(first)
            .map((change) => ({ ...change, isMade: outdated?.has(canonicalEmail(change.email)) !== true }))
        }),
        Stream.flattenIterable
      )
    })
  return { total, changes }
})
