/** What an undo does to one contact: what the run did is changed back, unless others did something else since. */
import {
  canonicalEmail,
  type ContactChange,
  type ContactState,
  type EmailAddress,
  type FieldChanges,
  FieldValue,
  InvalidRule,
  parseRule,
  type Resubscribe,
  Rule,
  ruleMatcher,
  type RuleText
} from "@roster/domain"
import {
  ContactStates,
  everyStatus,
  FieldNames,
  isLifted,
  strictnessOf,
  wireField,
  wouldLower
} from "@roster/domain/internal"
import { DateTime, Effect, Schema } from "effect"
import { type Found, stateOfFound } from "../runs/ContactReader.ts"
import { ChangedField } from "../runs/RunChanges.ts"
import type { Changed, RunEntry } from "../runs/RunEntry.ts"
import type { RecordedRun } from "../runs/RecordedRun.ts"

/** A field of a contact that an undo looks at: before the run, by the run, and now. */
export const UndoneField = Schema.Struct({
  ...ChangedField.fields,
  /** The value now. */
  now: Schema.NullOr(FieldValue),
  /** Whether it stays as it is, since others changed it or its value of before may not be written. */
  isKept: Schema.Boolean
})
export interface UndoneField extends Schema.Schema.Type<typeof UndoneField> {}

/** What an undo does to a contact, or would do. */
export class UndoneContact extends Schema.Opaque<UndoneContact>()(
  Schema.Struct({
    /** The address of the contact. */
    email: Schema.String,
    /**
     * What is done: `Strip` takes off a contact that the run created, and others changed since, what it has from the run alone; nothing is
     * done where it is as before already, where it is kept, where a value that it had is none that may be written,
     * and where the undo is not of it.
     */
    step: Schema.Literals(["AsBefore", "Delete", "AddAgain", "ChangeBack", "Strip", "Keep", "Unwritable", "LeftOut"]),
    /** What others did since, where something is kept because of it. */
    since: Schema.optional(Schema.Literals(["Changed", "Deleted"])),
    /** Whether the status stays because nobody can tell whether somebody gave it again since. */
    isUntold: Schema.optional(Schema.Boolean),
    /**
     * The fields that the run changed. The record does not have those of a contact that the run created: of one that others changed since
     * these are what it has from the run alone, and becomes without it.
     */
    fields: Schema.Array(UndoneField)
  })
) {}

/** What of a run is undone. */
export interface UndoScope {
  /**
   * Undoes only what the run did to contacts that this rule selects: as they are now, or, if they are deleted, by what the record
   * says that they were (default: all).
   */
  readonly only?: RuleText | undefined
  /**
   * Changes back only these fields, such as `FirstName`, `Lists.news` or a custom field by its name (default: all). Contacts that
   * the run created or deleted stay as they are.
   */
  readonly fields?: ReadonlyArray<string> | undefined
  /**
   * Also undoes what others changed since (default: false). A changed contact that was deleted since stays deleted, since the
   * record does not have the rest of it.
   */
  readonly force?: boolean | undefined
  /**
   * The statuses that are lifted, and so also changed back where nobody can tell whether somebody gave them again since, such as
   * the person themselves (default: false; the contact keeps the status).
   */
  readonly resubscribe?: Resubscribe | undefined
}

export type Target =
  | {
      readonly _tag: "Created"
      readonly email: string
      readonly digest: string
      /** The digests of its fields; empty in records that have none. */
      readonly parts: string
      readonly at: number | undefined
    }
  | { readonly _tag: "Changed"; readonly email: string; readonly change: Changed; readonly at: number | undefined }
  | { readonly _tag: "Deleted"; readonly email: string; readonly state: ContactState }

const targetsOf = (entry: RunEntry): ReadonlyArray<Target> =>
  entry._tag !== "Changes"
    ? []
    : [
        ...(entry.created ?? []).map(([email, digest], place): Target => ({
          _tag: "Created",
          email,
          digest,
          parts: entry.parts?.[place] ?? "",
          at: entry.at
        })),
        ...(entry.changed ?? []).map((change): Target => ({
          _tag: "Changed",
          email: change.email,
          change,
          at: entry.at
        })),
        ...(entry.deleted ?? []).map((state): Target => ({
          _tag: "Deleted",
          email: ContactStates.emailOf(state),
          state
        }))
      ]

/** Gives the targets of entries that are read from the last to the first, without those whose changes were not made. */
export const makeTargets = () => {
  const notMade = new Set<string>()
  return (entry: RunEntry): ReadonlyArray<Target> => {
    if (entry._tag === "NotMade") for (const email of entry.emails) notMade.add(canonicalEmail(email))
    return notMade.size === 0
      ? targetsOf(entry)
      : targetsOf(entry).filter(({ email }) => !notMade.delete(canonicalEmail(email)))
  }
}

/** The step of an undo for one contact. */
type Step =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Remove" }
  /** Brings back a contact, or some fields, and keeps those that others changed since. */
  | {
      readonly _tag: "Recreate" | "Restore"
      readonly fields: { readonly [field: string]: FieldValue | null }
      readonly kept: ReadonlyArray<string>
      readonly isUntold?: boolean
    }
  | { readonly _tag: "Keep"; readonly fields: ReadonlyArray<string>; readonly isUntold?: boolean }
  /** Others changed nothing, and the field had a value that only another service may hold. */
  | { readonly _tag: "Unwritable"; readonly fields: ReadonlyArray<string> }
  /** The undo is not of this contact. */
  | { readonly _tag: "LeftOut" }

const nothing: Step = { _tag: "Nothing" }

/** The names of the fields that are not metadata. */
const contentFields = (fields: FieldChanges): ReadonlyArray<string> =>
  Object.keys(fields).filter((field) => !ContactStates.isMetadata(field))

/** Who gave a status last: the run or an undo, others, or nobody can tell. */
export type StatusGiver = "Run" | "Others" | "Untold"

/** Whether an undo makes the status of a contact less strict than the one that the run gave it. */
export const lowersStatus = (target: Target): boolean => {
  const { Status: [old, given] = [null, null] } = target._tag === "Changed" ? target.change.fields : {}
  return wouldLower(given, old)
}

const restoreOf = (
  fields: FieldChanges,
  current: ContactState,
  isForced: boolean,
  giver: StatusGiver = "Run"
): Step => {
  const restored: Record<string, FieldValue | null> = {}
  const kept: Array<string> = []
  for (const field of contentFields(fields)) {
    const [old, given] = fields[field] ?? [null, null]
    const now = current[ContactStates.folded(field)] ?? null
    if (ContactStates.isSame(field, now, old)) continue
    const isOthers =
      !ContactStates.isSame(field, now, given) || (field === "Status" && giver !== "Run" && wouldLower(now, old))
    if (isOthers && !isForced) kept.push(field)
    else restored[field] = old
  }
  const told = giver === "Untold" && kept.includes("Status") && current["Status"] === fields["Status"]?.[1]
  const untold = told ? { isUntold: true } : {}
  if (Object.keys(restored).length > 0) return { _tag: "Restore", fields: restored, kept, ...untold }
  return kept.length === 0 ? nothing : { _tag: "Keep", fields: kept, ...untold }
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

/**
 * Takes off a new contact that others changed since what it still has from the run alone. Nobody but the run decided that it gets
 * mail, so it is one that has not confirmed; a status that stops mail stays.
 */
const strippedOf = (
  { at, parts }: Extract<Target, { readonly _tag: "Created" }>,
  found: Found,
  current: ContactState
): Step => {
  const dateAdded = found.contact?.dateAdded
  // One of another time is of others.
  const isOfRun =
    at === undefined
      ? dateAdded !== undefined && ContactStates.isAddedAt(parts, dateAdded)
      : Math.abs(addedAfter(found, at)) <= longestWrite
  const fields: Record<string, FieldValue | null> = {}
  const kept: Array<string> = []
  for (const [field, value] of Object.entries(current)) {
    if (field === "Email") continue
    const isOwn = isOfRun && ContactStates.hasPart(parts, field, value)
    if (!isOwn || (field === "Status" && strictnessOf(value) > 0)) kept.push(field)
    else fields[field] = field === "Status" ? "NotConfirmed" : null
  }
  return Object.keys(fields).length === 0 ? { _tag: "Keep", fields: [] } : { _tag: "Restore", fields, kept }
}

const stepOf = (
  run: RecordedRun,
  target: Target,
  found: Found,
  { giver, isForced }: { readonly isForced: boolean; readonly giver: StatusGiver }
): Step => {
  const { email } = target
  const current = stateOfFound(email, found)
  switch (target._tag) {
    case "Created":
      if (current === undefined) return nothing
      // One of another time is of others: the run was killed before it added its own, or theirs took the place of that.
      return isForced ||
        (ContactStates.isDigestOf(target.digest, current, found.lists) &&
          Math.abs(addedAfter(found, target.at)) <= longestWrite) ||
        isAsAdded(found, run)
        ? { _tag: "Remove" }
        : strippedOf(target, found, current)
    case "Changed": {
      const { after, fields } = target.change
      // A later one than that of the write is of others, unless an undo brought it back as it was.
      return current === undefined ||
        (!isForced &&
          addedAfter(found, target.at) > longestWrite &&
          !ContactStates.isDigestOf(after, current, found.lists))
        ? { _tag: "Keep", fields: contentFields(fields) }
        : restoreOf(fields, current, isForced, giver)
    }
    case "Deleted": {
      if (current === undefined) return { _tag: "Recreate", fields: target.state, kept: [] }
      if (ContactStates.isDigestOf(ContactStates.digestOf(target.state), current, found.lists)) return nothing
      return isForced
        ? restoreOf(ContactStates.changesOf(target.state, current), current, true)
        : { _tag: "Keep", fields: [] }
    }
  }
}

/** What a rule sees of a contact. */
const subjectOf = (target: Target, { contact }: Found) => {
  const { email } = target
  if (contact !== null) return Effect.succeed({ ...contact, email })
  const before = (fields: FieldChanges) => Object.entries(fields).map(([field, [old]]) => [field, old] as const)
  const state =
    target._tag === "Deleted"
      ? target.state
      : Object.fromEntries(target._tag === "Changed" ? before(target.change.fields) : [])
  return Effect.match(ContactStates.writeOf(state), {
    onSuccess: ({ customFields = {}, ...content }) => {
      const given = Object.entries(customFields).flatMap(([name, value]) => (value === null ? [] : [[name, value]]))
      return { ...content, email, customFields: Object.fromEntries(given) }
    },
    // A contact that only another service may hold is read by its address alone.
    onFailure: () => ({ email })
  })
}

/** The names by which a field may be meant. */
const namesOf = (field: string): ReadonlyArray<string> =>
  [field, field.replace(/^(?:CustomFields|Consent)\./, "")].map(FieldNames.foldName)

/** Gives what of a target a scope has, if anything. */
export const makeScope = Effect.fnUntraced(function* ({ fields, only }: UndoScope) {
  const rule = only === undefined ? undefined : yield* Effect.fromResult(parseRule(only))
  if (only !== undefined && rule !== undefined && Rule.namesLists(rule)) {
    // What a run recorded of a contact are not all of its lists.
    const problem = "an undo cannot ask who is on a list"
    return yield* new InvalidRule({ rule: only, position: 0, length: only.length, problem, expected: [] })
  }
  const matches = rule === undefined ? undefined : ruleMatcher(rule, yield* DateTime.now)
  const named = fields === undefined ? undefined : new Set(fields.map(FieldNames.foldName))
  return Effect.fnUntraced(function* (target: Target, found: Found) {
    if (matches !== undefined && !matches(yield* subjectOf(target, found))) return undefined
    if (named === undefined) return target
    if (target._tag !== "Changed") return undefined
    const meant = Object.entries(target.change.fields).filter(([field]) =>
      namesOf(field).some((name) => named.has(name))
    )
    if (meant.length === 0) return undefined
    return { ...target, change: { ...target.change, fields: Object.fromEntries(meant) } } satisfies Target
  })
})

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
  value !== null || (!ContactStates.isList(field) && !field.startsWith("Consent."))

/** What an undo of this run does to the contact of a target, of which it has seen what there is now. */
export const undoingOf = Effect.fnUntraced(function* (
  run: RecordedRun,
  target: Target,
  found: Found,
  {
    giver,
    isExact,
    isForced,
    resubscribe = false
  }: {
    readonly isExact: boolean
    readonly isForced: boolean
    readonly giver: StatusGiver
    readonly resubscribe?: Resubscribe | undefined
  }
) {
  const isTaken = giver === "Untold" && isLifted(found.contact?.status, resubscribe)
  const step = stepOf(run, target, found, { giver: isTaken ? "Run" : giver, isForced })
  // The service checks the address.
  const email = target.email as EmailAddress
  const seen = found.contact
  const given = { target, found, step, change: undefined, isIncomplete: false }
  if (step._tag === "Remove") return { ...given, change: { email, seen, delete: true } } satisfies Undoing
  if (step._tag !== "Restore" && step._tag !== "Recreate") return given satisfies Undoing
  const fields = Object.entries(step.fields)
  const possible = isExact ? fields : fields.filter(canGive)
  const hidden =
    found.lists === undefined &&
    (target._tag === "Created" ||
      (target._tag === "Changed" && Object.keys(target.change.fields).some(ContactStates.isList)))
  return yield* Effect.match(ContactStates.writeOf(Object.fromEntries(possible), { resubscribe: everyStatus }), {
    onSuccess: (write): Undoing => ({
      ...given,
      change: { email, seen, write },
      isIncomplete: !isExact && (hidden || step._tag === "Recreate" || possible.length < fields.length)
    }),
    onFailure: ({ field }): Undoing => ({ ...given, step: { _tag: "Unwritable", fields: [wireField(field)] } })
  })
})

/** A contact that the undo is not of. */
export const leftOut = (target: Target, found: Found): Undoing => ({
  target,
  found,
  step: { _tag: "LeftOut" },
  change: undefined,
  isIncomplete: false
})

/** Whether a contact that the run created stays, without what it has from the run alone. */
const isStripped = ({ step, target }: Pick<Undoing, "step" | "target">): boolean =>
  step._tag === "Restore" && target._tag === "Created"

const shownSteps = {
  Nothing: "AsBefore",
  Remove: "Delete",
  Recreate: "AddAgain",
  Restore: "ChangeBack",
  Keep: "Keep",
  Unwritable: "Unwritable",
  LeftOut: "LeftOut"
} as const

/** What a run did to a contact, with what it has now. */
export const shownOf = ({ found, step, target }: Undoing): UndoneContact => {
  const { email } = target
  const current = stateOfFound(email, found)
  const kept = new Set(
    step._tag === "Keep" || step._tag === "Unwritable" ? step.fields : "kept" in step ? step.kept : []
  )
  const changed: ReadonlyArray<ChangedField> =
    target._tag === "Changed"
      ? Object.entries(target.change.fields).map(([field, [before, byRun]]) => ({ field, before, byRun }))
      : target._tag === "Deleted"
        ? Object.entries(target.state).map(([field, before]) => ({ field, before, byRun: null }))
        : step._tag === "Restore"
          ? Object.entries(step.fields).map(([field, before]) => ({ field, before, byRun: current?.[field] ?? null }))
          : []
  const isLeft = step._tag === "Keep" || (step._tag !== "Unwritable" && kept.size > 0) || isStripped({ step, target })
  return {
    email,
    step: isStripped({ step, target }) ? "Strip" : shownSteps[step._tag],
    since: isLeft ? (current === undefined ? "Deleted" : "Changed") : undefined,
    ...("isUntold" in step && step.isUntold === true ? { isUntold: true } : {}),
    fields: changed.flatMap(({ field, ...values }) =>
      ContactStates.isMetadata(field) || field === "Email"
        ? []
        : [
            {
              field,
              ...values,
              now: current?.[ContactStates.folded(field)] ?? null,
              isKept: kept.has(field) || (step._tag === "Keep" && kept.size === 0)
            }
          ]
    )
  }
}
