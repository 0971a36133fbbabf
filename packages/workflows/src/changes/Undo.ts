/**
 * Undoes a run: what it changed and nobody else did since becomes what it was. A service that compares and changes in one step
 * writes only to contacts as the undo saw them; a contact that comes back is a new one, without dates, source and activity.
 * (docs/decisions/runs.md)
 */
import {
  canonicalEmail,
  type ContactChange,
  ContactsService,
  type EmailAddress,
  fnRedacted,
  maximumChanges,
  sometimes,
  wireField
} from "@roster/domain"
import { Array as Arrays, DateTime, Effect, type Scope, Stream } from "effect"
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
import { type RecordedRun, RunLog, type RunLogFailure, type RunNotFound, type RunTaken } from "../runs/RunLog.ts"
import { type Found, mayNotRead, nobody, type ReadError, readNow, stateOfFound } from "../runs/ContactReader.ts"
import { attempts, made, madeOf } from "../runs/RecordedContacts.ts"
import {
  emptyReport,
  makeEffectCounter,
  maximumNamedContacts,
  OtherTarget,
  type OutdatedContact,
  type RunReport
} from "../runs/RunReport.ts"

/** The outcome of an undo, or of its preview. Read are the contacts in the record; one that comes back is new. */
export interface UndoReport extends RunReport {
  /** Contacts that others changed since in some fields, which stay, while the others become what they were. */
  readonly partlyDone: number
  /** Contacts of which this service cannot bring back everything. */
  readonly incomplete: number
  /** Changes that the record does not know. */
  readonly unknownChanges: ReadonlyArray<string>
}

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

/** How an undo is previewed. */
export interface UndoPreviewOptions {
  /** Runs with some contacts at a time, as the undo comes to them. */
  readonly onContacts?: ((contacts: ReadonlyArray<UndoneContact>) => Effect.Effect<void>) | undefined
}

/** How a run is undone. */
export interface UndoOptions {
  /** Runs after each request, with the number of contacts done so far. */
  readonly onProgress?: ((done: number) => Effect.Effect<void>) | undefined
}

type Target =
  | { readonly _tag: "Created"; readonly email: string; readonly digest: string; readonly at: number | undefined }
  | { readonly _tag: "Changed"; readonly email: string; readonly change: Changed; readonly at: number | undefined }
  | { readonly _tag: "Deleted"; readonly email: string; readonly state: ContactState }

const targetsOf = (entry: RunEntry): ReadonlyArray<Target> =>
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
interface Undoing {
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

const undoingOf = Effect.fnUntraced(function* (run: RecordedRun, target: Target, found: Found, isExact: boolean) {
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
const shownOf = ({ found, step, target }: Undoing): UndoneContact => {
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

const effectOf = { Nothing: "alreadySo", Remove: "deleted", Recreate: "new", Restore: "changed" } as const

const makeTally = () => {
  const effects = makeEffectCounter()
  const tally = { read: 0, outdated: 0 }
  const rest = { partlyDone: 0, incomplete: 0 }
  const outdatedContacts: Array<OutdatedContact> = []
  const unknownChanges: Array<string> = []
  const keep = (email: string, fields: ReadonlyArray<string>) => {
    if (outdatedContacts.length < maximumNamedContacts) outdatedContacts.push({ email, fields })
  }
  return {
    add: ({ isIncomplete, step, target: { email } }: Undoing): void => {
      tally.read++
      if (isIncomplete) rest.incomplete++
      if (step._tag === "Keep") {
        tally.outdated++
        return keep(email, step.fields)
      }
      effects.add(effectOf[step._tag])
      if (step._tag === "Restore" && step.kept.length > 0) {
        rest.partlyDone++
        keep(email, step.kept)
      }
    },
    note: (entry: RunEntry): void => {
      if (entry._tag === "Unknown" && unknownChanges.length < maximumNamedContacts) unknownChanges.push(entry.what)
    },
    done: () => tally.read,
    report: (run: string | undefined): UndoReport => ({
      ...emptyReport,
      ...effects.counts(),
      run,
      ...tally,
      outdatedContacts,
      ...rest,
      unknownChanges
    })
  }
}

/** The report of an undo of nothing. */
export const nothingUndone: UndoReport = makeTally().report(undefined)

/** Parts of what one call takes. */
const partsOf = (targets: ReadonlyArray<Target>): ReadonlyArray<ReadonlyArray<Target>> =>
  Arrays.chunksOf(targets, maximumChanges)

/** What an undo does to some contacts as they are now; `known` has what an earlier step of a preview makes of them. */
const look = Effect.fnUntraced(function* (
  run: RecordedRun,
  targets: ReadonlyArray<Target>,
  known?: ReadonlyMap<string, Found>
) {
  const service = yield* ContactsService
  const { found, isExact } = yield* readNow(
    service,
    targets.map(({ email }) => email)
  )
  if (found === undefined) return yield* mayNotRead
  return yield* Effect.forEach(targets, (target, index) =>
    undoingOf(run, target, known?.get(canonicalEmail(target.email)) ?? found[index] ?? nobody, isExact)
  )
})

const openToUndo = Effect.fnUntraced(function* (id: string) {
  const log = yield* RunLog
  const run = yield* log.read(id)
  const { target } = run.header
  if (target !== log.target) return yield* new OtherTarget({ other: target, current: log.target })
  return run
})

type UndoError = RunNotFound | RunTaken | RunLogFailure | OtherTarget | ReadError

/**
 * Says what an undo of a run would do, and writes nothing.
 *
 * ```ts
 * import { previewUndo, RunLog } from "@roster/workflows"
 * import { Console, Effect } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   const [newest] = yield* (yield* RunLog).list
 *   if (newest === undefined) return undefined
 *   return yield* previewUndo(newest.header.id, {
 *     onContacts: (contacts) => Console.error(contacts.map(({ step }) => step).join(" "))
 *   })
 * })
 * ```
 */
export const previewUndo = fnRedacted("previewUndo")(function* (
  id: string,
  options: UndoPreviewOptions = {}
): Effect.fn.Return<UndoReport, UndoError, ContactsService | RunLog> {
  const { onContacts } = options
  const run = yield* openToUndo(id)
  const tally = makeTally()
  /** What the steps so far make of contacts that the run wrote more than once. */
  const known = new Map<string, Found>()
  const once = new Set<string>()
  const often = new Set<string>()
  yield* Stream.runForEach(run.entries, (entry) => {
    for (const target of targetsOf(entry)) {
      const email = canonicalEmail(target.email)
      ;(once.has(email) ? often : once).add(email)
    }
    // A page answers meanwhile.
    return Effect.yieldNow
  })
  yield* Stream.runForEach(run.backwards, (entry) => {
    tally.note(entry)
    return Effect.forEach(
      partsOf(targetsOf(entry)).toReversed(),
      (targets) =>
        Effect.flatMap(look(run, targets, known), (undoings) => {
          for (const undoing of undoings) {
            tally.add(undoing)
            const { change, found, target } = undoing
            const email = canonicalEmail(target.email)
            if (change !== undefined && often.has(email)) known.set(email, madeOf(found, change))
          }
          return onContacts === undefined ? Effect.void : onContacts(undoings.map(shownOf))
        }),
      { discard: true }
    )
  })
  return tally.report(undefined)
})

/**
 * Undoes a run by its id, from its last entry to the first, as a run of its own that can be undone too. Doing it again does no
 * harm. A run that is going on cannot be undone, and one that was undone does not go on.
 *
 * ```ts
 * import { RunLog, undoRun } from "@roster/workflows"
 * import { Console, Effect } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   const [newest] = yield* (yield* RunLog).list
 *   if (newest === undefined) return undefined
 *   return yield* undoRun(newest.header.id, { onProgress: (done) => Console.error(`${done} contacts`) })
 * })
 * ```
 */
export const undoRun = fnRedacted("undoRun")(function* (
  id: string,
  options: UndoOptions = {}
): Effect.fn.Return<UndoReport, UndoError, ContactsService | RunLog | Scope.Scope> {
  const { onProgress } = options
  const log = yield* RunLog
  const service = yield* ContactsService
  const undone = yield* openToUndo(id)
  const { command, input, undoes } = undone.header
  // It must not go on meanwhile, nor afterwards as if its rows were still written.
  const held =
    undone.isEnded || (input === undefined && undoes === undefined)
      ? undefined
      : yield* log.open({ command, input, undoes })
  const own = yield* log.open({ command: "undo", undoes: id })
  const tally = makeTally()

  const undoPart = Effect.fnUntraced(function* (targets: ReadonlyArray<Target>) {
    let due = targets
    for (let attempt = 1; due.length > 0; attempt++) {
      const undoings = yield* look(undone, due)
      yield* sometimes("an undo has seen what it changes")
      const changing = undoings.flatMap(({ change, found }) => (change === undefined ? [] : [{ change, found }]))
      const answers = yield* made(service, own, {
        changes: changing.map(({ change }) => change),
        found: changing.map(({ found }) => found)
      })
      const outdated = new Set<string>(
        changing.flatMap(({ change }, index) => (answers[index]?._tag === "Outdated" ? [change.email] : []))
      )
      const isLast = attempt === attempts
      for (const undoing of undoings) {
        if (!outdated.has(undoing.target.email)) tally.add(undoing)
        else if (isLast) tally.add({ ...undoing, step: { _tag: "Keep", fields: [] }, isIncomplete: false })
      }
      due = isLast ? [] : due.filter(({ email }) => outdated.has(email))
    }
    if (onProgress !== undefined) yield* onProgress(tally.done())
  })

  yield* Stream.runForEach(undone.backwards, (entry) => {
    tally.note(entry)
    return Effect.forEach(partsOf(targetsOf(entry)).toReversed(), undoPart, { discard: true })
  })
  const { changed, created, deleted } = yield* own.counts
  yield* own.end
  if (held !== undefined && held.header.id === id) yield* held.end
  return tally.report(changed + created + deleted === 0 ? undefined : own.header.id)
}, Effect.scoped)
