/**
 * Undoes a run: what it changed and nobody else did since becomes what it was. In a store of this process that is exact;
 * over the interface it is what adding and deleting contacts can express. (docs/decisions/undo.md)
 */
import {
  ContactFilter,
  type ContactPayload,
  ContactsService,
  exceedsAdd,
  fnRedacted,
  LocalContacts,
  maximumContactsPerAdd
} from "@roster/domain"
import { Array as Arrays, Effect, Stream } from "effect"
import type { ContactLookup } from "./ContactLookup.ts"
import {
  contentDigestOf,
  type ContactState,
  digestOf,
  emailOf,
  type FieldChanges,
  type FieldValue,
  isMetadata,
  isSettable,
  payloadOf,
  idField,
  stateOf,
  storedOf
} from "./ContactState.ts"
import type { Recorder, Transition } from "./RecordedContacts.ts"
import type { Changed, RunEntry } from "../runs/RunEntry.ts"
import { maximumNamedContacts } from "./RunRecord.ts"

/** The outcome of an undo, or of its preview. */
export interface UndoReport {
  /** New contacts of the run that are deleted. */
  readonly removed: number
  /** Contacts whose fields become what they were. */
  readonly restored: number
  /** Deleted contacts that come back. */
  readonly recreated: number
  /** Contacts that already are what they were. */
  readonly unchanged: number
  /** Contacts that others changed since, at least in some of the fields, which stay. */
  readonly changedSince: number
  /** The first of them, with the fields that stay. */
  readonly changedSinceSample: ReadonlyArray<{ readonly email: string; readonly fields: ReadonlyArray<string> }>
  /** Contacts of which the interface cannot bring back everything. */
  readonly incomplete: number
  /** Changes that the record does not know. */
  readonly unknown: ReadonlyArray<string>
}

type Target =
  | { readonly _tag: "Created"; readonly email: string; readonly digest: string }
  | { readonly _tag: "Changed"; readonly email: string; readonly change: Changed }
  | { readonly _tag: "Deleted"; readonly email: string; readonly state: ContactState }

const targetsOf = (entry: RunEntry): ReadonlyArray<Target> =>
  entry._tag !== "Changes"
    ? []
    : [
        ...(entry.created ?? []).map(([email, digest]): Target => ({ _tag: "Created", email, digest })),
        ...(entry.changed ?? []).map((change): Target => ({ _tag: "Changed", email: change.email, change })),
        ...(entry.deleted ?? []).map((state): Target => ({ _tag: "Deleted", email: emailOf(state), state }))
      ]

/** The step of an undo for one contact. */
type Step =
  | { readonly _tag: "Nothing" }
  | { readonly _tag: "Remove"; readonly email: string }
  | { readonly _tag: "Recreate"; readonly state: ContactState }
  /** Restores some fields, and keeps those that others changed since. */
  | {
      readonly _tag: "Restore"
      readonly email: string
      readonly after: ContactState
      readonly fields: { readonly [field: string]: FieldValue | null }
      readonly kept: ReadonlyArray<string>
    }
  | { readonly _tag: "Keep"; readonly email: string; readonly fields: ReadonlyArray<string> }

const nothing: Step = { _tag: "Nothing" }

/** The names of the fields that are not metadata. */
const contentFields = (fields: FieldChanges): ReadonlyArray<string> =>
  Object.keys(fields).filter((field) => !isMetadata(field))

const restoreOf = ({ after: digest, email, fields, id }: Changed, current: ContactState): Step => {
  if (id !== undefined && current[idField] !== id) return { _tag: "Keep", email, fields: contentFields(fields) }
  const isOurs = contentDigestOf(current) === digest
  const after: Record<string, FieldValue> = { ...current }
  const restored: Record<string, FieldValue | null> = {}
  const kept: Array<string> = []
  for (const [field, [old, given]] of Object.entries(fields)) {
    const now = current[field] ?? null
    if (now === old) continue
    // The date of somebody else's change may be the same second.
    if (now !== given || (field === "DateUpdated" && !isOurs)) {
      if (!isMetadata(field)) kept.push(field)
      continue
    }
    restored[field] = old
    if (old === null) delete after[field]
    else after[field] = old
  }
  if (Object.keys(restored).length > 0) return { _tag: "Restore", email, after, fields: restored, kept }
  return kept.length === 0 ? nothing : { _tag: "Keep", email, fields: kept }
}

const stepOf = (target: Target, current: ContactState | undefined): Step => {
  const { email } = target
  switch (target._tag) {
    case "Created":
      if (current === undefined) return nothing
      return digestOf(current) === target.digest ? { _tag: "Remove", email } : { _tag: "Keep", email, fields: [] }
    case "Changed":
      return current === undefined
        ? { _tag: "Keep", email, fields: contentFields(target.change.fields) }
        : restoreOf(target.change, current)
    case "Deleted": {
      if (current === undefined) return { _tag: "Recreate", state: target.state }
      const isSame = contentDigestOf(current) === contentDigestOf(target.state)
      return isSame ? nothing : { _tag: "Keep", email, fields: [] }
    }
  }
}

/** Whether an add over the interface brings back everything of a step. */
const isExpressible = (step: Step): boolean =>
  step._tag !== "Recreate" &&
  (step._tag !== "Restore" ||
    Object.entries(step.fields).every(
      ([field, old]) => isSettable(field) || (field.startsWith("Consent.") && old !== null)
    ))

/** The contact to add for a step. */
const additionOf = (step: Extract<Step, { readonly _tag: "Restore" | "Recreate" }>): ContactState => {
  if (step._tag === "Recreate") return step.state
  const given: Record<string, FieldValue> = { Email: step.email }
  for (const [field, old] of Object.entries(step.fields)) {
    if (isSettable(field)) given[field] = old ?? ""
    else if (field.startsWith("Consent.") && old !== null) given[field] = old
  }
  return given
}

const makeTally = (isExact: boolean) => {
  const counts = { removed: 0, restored: 0, recreated: 0, unchanged: 0, changedSince: 0, incomplete: 0 }
  const changedSinceSample: Array<{ readonly email: string; readonly fields: ReadonlyArray<string> }> = []
  const unknown: Array<string> = []
  const keep = (email: string, fields: ReadonlyArray<string>) => {
    counts.changedSince++
    if (changedSinceSample.length < maximumNamedContacts) changedSinceSample.push({ email, fields })
  }
  return {
    add: (step: Step): void => {
      if (!isExact && !isExpressible(step)) counts.incomplete++
      switch (step._tag) {
        case "Nothing":
          counts.unchanged++
          break
        case "Remove":
          counts.removed++
          break
        case "Recreate":
          counts.recreated++
          break
        case "Restore":
          counts.restored++
          if (step.kept.length > 0) keep(step.email, step.kept)
          break
        case "Keep":
          keep(step.email, step.fields)
      }
    },
    note: (entry: RunEntry): void => {
      if (entry._tag === "Unknown" && unknown.length < maximumNamedContacts) unknown.push(entry.what)
    },
    report: (): UndoReport => ({ ...counts, changedSinceSample, unknown })
  }
}

const currentStates = Effect.fnUntraced(function* (lookup: ContactLookup, emails: ReadonlyArray<string>) {
  const store = yield* LocalContacts
  if (store === undefined) return yield* lookup.find(emails)
  return (yield* store.read(emails)).map((stored) => (stored === undefined ? undefined : stateOf(stored)))
})

/** Parts of at most 1000 contacts. */
const partsOf = (targets: ReadonlyArray<Target>): ReadonlyArray<ReadonlyArray<Target>> =>
  Arrays.chunksOf(targets, maximumContactsPerAdd)

/** Says what an undo of these entries would do, and writes nothing. */
export const previewUndo = fnRedacted("previewUndo")(function* <E, R>(
  entries: Stream.Stream<RunEntry, E, R>,
  lookup: ContactLookup
) {
  const tally = makeTally((yield* LocalContacts) !== undefined)
  yield* Stream.runForEach(entries, (entry) => {
    tally.note(entry)
    return Effect.forEach(partsOf(targetsOf(entry)), (targets) =>
      Effect.map(
        currentStates(
          lookup,
          targets.map(({ email }) => email)
        ),
        (current) => {
          for (const [index, target] of targets.entries()) tally.add(stepOf(target, current[index]))
        }
      )
    )
  })
  return tally.report()
})

const transitionsOf = (
  targets: ReadonlyArray<Target>,
  current: ReadonlyArray<ContactState | undefined>,
  steps: ReadonlyArray<Step>
): ReadonlyArray<Transition> =>
  targets.flatMap(({ email }, index): ReadonlyArray<Transition> => {
    const step = steps[index] ?? nothing
    const before = current[index]
    switch (step._tag) {
      case "Remove":
        return [{ email, before, after: undefined }]
      case "Recreate":
        return [{ email, before: undefined, after: step.state }]
      case "Restore":
        return [{ email, before, after: step.after }]
      default:
        return []
    }
  })

/** How a run is undone. */
export interface UndoOptions {
  readonly lookup: ContactLookup
  /** Records what the undo changes, so that it can be undone too. */
  readonly recorder: Recorder
  readonly onProgress?: ((done: number) => Effect.Effect<void>) | undefined
}

/**
 * Undoes the entries of a run, which come from the last to the first, since a contact may have been changed twice.
 * Doing it again does no harm, so one that was stopped is resumed by the same call.
 */
export const undoRun = fnRedacted("undoRun")(function* <E, R>(
  backwards: Stream.Stream<RunEntry, E, R>,
  { lookup, onProgress, recorder }: UndoOptions
) {
  const store = yield* LocalContacts
  const service = yield* ContactsService
  const tally = makeTally(store !== undefined)
  let done = 0

  const remove = (steps: ReadonlyArray<Step>) => {
    const [first, ...rest] = steps.flatMap((step) => (step._tag === "Remove" ? [step.email] : []))
    return first === undefined ? Effect.void : service.deleteMany(ContactFilter.ByEmails({ emails: [first, ...rest] }))
  }
  /** Adds contacts, in parts if they are more than one add takes. */
  const add = (contacts: ReadonlyArray<ContactPayload>): ReturnType<typeof service.addWithoutAnswer> => {
    if (!exceedsAdd(contacts)) return service.addWithoutAnswer(contacts)
    const middle = Math.ceil(contacts.length / 2)
    return Effect.andThen(add(contacts.slice(0, middle)), add(contacts.slice(middle)))
  }
  const write = Effect.fnUntraced(function* (steps: ReadonlyArray<Step>) {
    const written = steps.filter((step) => step._tag === "Restore" || step._tag === "Recreate")
    if (written.length === 0) return
    if (store !== undefined) {
      return yield* store.write(written.map((step) => storedOf(step._tag === "Restore" ? step.after : step.state)))
    }
    yield* add(yield* Effect.forEach(written, (step) => payloadOf(additionOf(step))))
  })
  /** A contact that only another service may hold cannot be written back, and is left. */
  const writable = (step: Step): Effect.Effect<Step> =>
    store !== undefined || (step._tag !== "Restore" && step._tag !== "Recreate")
      ? Effect.succeed(step)
      : Effect.match(payloadOf(additionOf(step)), {
          onSuccess: () => step,
          onFailure: ({ field }): Step => ({
            _tag: "Keep",
            email: step._tag === "Restore" ? step.email : emailOf(step.state),
            fields: [field]
          })
        })
  const undoPart = Effect.fnUntraced(function* (targets: ReadonlyArray<Target>) {
    const change = Effect.gen(function* () {
      const current = yield* currentStates(
        lookup,
        targets.map(({ email }) => email)
      )
      const steps = yield* Effect.forEach(targets, (target, index) => writable(stepOf(target, current[index])))
      yield* recorder.record("contactsPost", transitionsOf(targets, current, steps))
      yield* remove(steps)
      yield* write(steps)
      return steps
    })
    const steps = yield* store === undefined ? change : store.atomically(change)
    for (const step of steps) tally.add(step)
    done += targets.length
    if (onProgress !== undefined) yield* onProgress(done)
  })

  yield* Stream.runForEach(backwards, (entry) => {
    tally.note(entry)
    return Effect.forEach(partsOf(targetsOf(entry)).toReversed(), undoPart, { discard: true })
  })
  return tally.report()
})
