/** What an undo does to one contact: what the run did is changed back, unless others did something else since. */
import { type ContactChange, type EmailAddress, wireField } from "@roster/domain"
import { DateTime, Effect } from "effect"
import { type Found, stateOfFound } from "../runs/ContactReader.ts"
import {
  type ContactState,
  digestOf,
  emailOf,
  type FieldChanges,
  type FieldValue,
  folded,
  isDigestOf,
  isList,
  isMetadata,
  writeOf
} from "../runs/ContactState.ts"
import type { ChangedField } from "../runs/RunChanges.ts"
import type { Changed, RunEntry } from "../runs/RunEntry.ts"
import type { RecordedRun } from "../runs/RunLog.ts"

/** A field of a contact that an undo looks at: before the run, by the run, and now. */
export interface UndoneField extends ChangedField {
  /** The value now. */
  readonly now: FieldValue | null
  /** Whether it stays as it is, since others changed it. */
  readonly isKept: boolean
}

/** What an undo does to a contact, or would do. */
export interface UndoneContact {
  /** The address of the contact. */
  readonly email: string
  /** What is done: nothing where it is as before already, and nothing where it is kept. */
  readonly step: "AsBefore" | "Delete" | "AddAgain" | "ChangeBack" | "Keep"
  /** What others did since, where something is kept because of it. */
  readonly since: "Changed" | "Deleted" | undefined
  /** The fields that the run changed. The record does not have those of a contact that the run created. */
  readonly fields: ReadonlyArray<UndoneField>
}

export type Target =
  | { readonly _tag: "Created"; readonly email: string; readonly digest: string; readonly at: number | undefined }
  | { readonly _tag: "Changed"; readonly email: string; readonly change: Changed; readonly at: number | undefined }
  | { readonly _tag: "Deleted"; readonly email: string; readonly state: ContactState }

export const targetsOf = (entry: RunEntry): ReadonlyArray<Target> =>
  entry._tag !== "Changes"
    ? []
    : [
        ...(entry.created ?? []).map(([email, digest]): Target => ({ _tag: "Created", email, digest, at: entry.at })),
        ...(entry.changed ?? []).map((change): Target => ({
          _tag: "Changed",
          email: change.email,
          change,
          at: entry.at
        })),
        ...(entry.deleted ?? []).map((state): Target => ({ _tag: "Deleted", email: emailOf(state), state }))
      ]

/** The step of an undo for one contact. */
type Step =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Remove" }
  /** Brings back a contact, or some fields, and keeps those that others changed since. */
  | {
      readonly _tag: "Recreate" | "Restore"
      readonly fields: { readonly [field: string]: FieldValue | null }
      readonly kept: ReadonlyArray<string>
    }
  | { readonly _tag: "Keep"; readonly fields: ReadonlyArray<string> }

const nothing: Step = { _tag: "Nothing" }

/** The names of the fields that are not metadata. */
const contentFields = (fields: FieldChanges): ReadonlyArray<string> =>
  Object.keys(fields).filter((field) => !isMetadata(field))

const restoreOf = ({ fields }: Changed, current: ContactState): Step => {
  const restored: Record<string, FieldValue | null> = {}
  const kept: Array<string> = []
  for (const field of contentFields(fields)) {
    const [old, given] = fields[field] ?? [null, null]
    const now = current[folded(field)] ?? null
    if (now === old) continue
    if (now === given) restored[field] = old
    else kept.push(field)
  }
  if (Object.keys(restored).length > 0) return { _tag: "Restore", fields: restored, kept }
  return kept.length === 0 ? nothing : { _tag: "Keep", fields: kept }
}

/** Whether a record of version 1, whose digests include dates, may mean this contact: nobody updated it since. */
const isAsAdded = ({ contact }: Found, { header, isFormer }: RecordedRun): boolean => {
  if (!isFormer || contact?.dateAdded === undefined || (contact.dateUpdated ?? null) !== null) return false
  // Dates of contacts have no fractions of a second.
  return DateTime.toEpochMillis(contact.dateAdded) + 1000 > Date.parse(header.began)
}

/** Longer than a request and its repetitions take, and than clocks differ. */
const longestWrite = 10 * 60 * 1000

/** How many milliseconds after a write the contact was added; 0 if nobody knows. */
const addedAfter = ({ contact }: Found, at: number | undefined): number =>
  at === undefined || contact?.dateAdded === undefined ? 0 : DateTime.toEpochMillis(contact.dateAdded) - at

const stepOf = (run: RecordedRun, target: Target, found: Found): Step => {
  const { email } = target
  const current = stateOfFound(email, found)
  switch (target._tag) {
    case "Created":
      if (current === undefined) return nothing
      // One of another time is of others: the run was killed before it added its own, or theirs took the place of that.
      return (isDigestOf(target.digest, current, found.lists) &&
        Math.abs(addedAfter(found, target.at)) <= longestWrite) ||
        isAsAdded(found, run)
        ? { _tag: "Remove" }
        : { _tag: "Keep", fields: [] }
    case "Changed":
      return current === undefined
        ? { _tag: "Keep", fields: contentFields(target.change.fields) }
        : // A later one than that of the write is of others, unless an undo brought it back as it was.
          addedAfter(found, target.at) > longestWrite && !isDigestOf(target.change.after, current, found.lists)
          ? { _tag: "Keep", fields: contentFields(target.change.fields) }
          : restoreOf(target.change, current)
    case "Deleted": {
      if (current === undefined) return { _tag: "Recreate", fields: target.state, kept: [] }
      return isDigestOf(digestOf(target.state), current, found.lists) ? nothing : { _tag: "Keep", fields: [] }
    }
  }
}

/** What an undo does to one contact. */
export interface Undoing {
  readonly target: Target
  readonly found: Found
  readonly step: Step
  readonly change: ContactChange | undefined
  /** Whether this service cannot bring back everything. */
  readonly isIncomplete: boolean
}

/** Whether a service that compares nothing can give a field that value. */
const canGive = ([field, value]: readonly [string, unknown]): boolean =>
  value !== null || (!isList(field) && !field.startsWith("Consent."))

export const undoingOf = Effect.fnUntraced(function* (
  run: RecordedRun,
  target: Target,
  found: Found,
  isExact: boolean
) {
  const step = stepOf(run, target, found)
  // The service checks the address.
  const email = target.email as EmailAddress
  const seen = found.contact
  const given = { target, found, step, change: undefined, isIncomplete: false }
  if (step._tag === "Remove") return { ...given, change: { email, seen, delete: true } } satisfies Undoing
  if (step._tag !== "Restore" && step._tag !== "Recreate") return given satisfies Undoing
  const fields = Object.entries(step.fields)
  const possible = isExact ? fields : fields.filter(canGive)
  const hidden =
    target._tag === "Changed" && found.lists === undefined && Object.keys(target.change.fields).some(isList)
  return yield* Effect.match(writeOf(Object.fromEntries(possible), { resubscribe: true }), {
    onSuccess: (write): Undoing => ({
      ...given,
      change: { email, seen, write },
      isIncomplete: !isExact && (hidden || step._tag === "Recreate" || possible.length < fields.length)
    }),
    // A contact that only another service may hold cannot be written back, and is left.
    onFailure: ({ field }): Undoing => ({ ...given, step: { _tag: "Keep", fields: [wireField(field)] } })
  })
})

const shownSteps = {
  Nothing: "AsBefore",
  Remove: "Delete",
  Recreate: "AddAgain",
  Restore: "ChangeBack",
  Keep: "Keep"
} as const

/** What a run did to a contact, with what it has now. */
export const shownOf = ({ found, step, target }: Undoing): UndoneContact => {
  const { email } = target
  const current = stateOfFound(email, found)
  const kept = new Set(step._tag === "Keep" ? step.fields : "kept" in step ? step.kept : [])
  const changed: ReadonlyArray<ChangedField> =
    target._tag === "Changed"
      ? Object.entries(target.change.fields).map(([field, [before, byRun]]) => ({ field, before, byRun }))
      : target._tag === "Deleted"
        ? Object.entries(target.state).map(([field, before]) => ({ field, before, byRun: null }))
        : []
  const isLeft = step._tag === "Keep" || kept.size > 0
  return {
    email,
    step: shownSteps[step._tag],
    since: isLeft ? (current === undefined ? "Deleted" : "Changed") : undefined,
    fields: changed.flatMap(({ field, ...values }) =>
      isMetadata(field) || field === "Email"
        ? []
        : [
            {
              field,
              ...values,
              now: current?.[folded(field)] ?? null,
              isKept: kept.has(field) || (step._tag === "Keep" && kept.size === 0)
            }
          ]
    )
  }
}
