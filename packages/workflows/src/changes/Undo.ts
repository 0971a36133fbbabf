/**
 * Undoes a run: what it changed and nobody else did since becomes what it was. A service that compares and changes in one step
 * writes only to contacts as the undo saw them; a contact that comes back is a new one, without dates, source and activity.
 * (docs/decisions/runs.md)
 */
import {
  canonicalEmail,
  ContactsService,
  maximumChanges,
  type RunNotFound,
  type RunTaken,
  type ServiceError,
  sometimes
} from "@roster/domain"
import { fnRedacted, KnownFields, resubscribeIssue } from "@roster/domain/internal"
import { Array as Arrays, Effect, type Scope, Stream } from "effect"
import type { RunEntry } from "../runs/RunEntry.ts"
import { type RecordedRun, type Run, type RunLogFailure } from "../runs/RecordedRun.ts"
import { RunLog } from "../runs/RunLog.ts"
import { type Found, mayNotRead, nobody, type ReadError, readNow } from "../runs/ContactReader.ts"
import { attempts, datesGiven, made, madeOf } from "../runs/RecordedChanges.ts"
import {
  emptyReport,
  isNewRecipient,
  makeEffectCounter,
  makeRecipientCounter,
  checkTarget,
  maximumNamedContacts,
  type OtherTarget,
  type RunReport
} from "../runs/RunReport.ts"
import { type Stopped, stoppedAt } from "../runs/Stopped.ts"
import { makeGivers } from "./StatusGivers.ts"
import {
  leftOut,
  lowersStatus,
  makeScope,
  makeTargets,
  shownOf,
  type Target,
  type UndoneContact,
  type Undoing,
  undoingOf,
  type UndoScope
} from "./UndoStep.ts"

/** The outcome of an undo, or of its preview. Read are the contacts in the record; one that comes back is new. */
export interface UndoReport extends RunReport {
  /** The first contacts that others changed or deleted since, with their fields before the run, by it and now. */
  readonly outdatedContacts: ReadonlyArray<UndoneContact>
  /** The first contacts that stay as they are, since a value that they had may not be written. They are among the rejected. */
  readonly unwritableContacts: ReadonlyArray<UndoneContact>
  /** Contacts that others changed since in some fields, which stay, while the others become what they were. */
  readonly partlyDone: number
  /** Contacts that the run created and others changed since, which lose what only the run gave them. They are among the changed. */
  readonly stripped: number
  /** Contacts of which this service cannot bring back everything. */
  readonly incomplete: number
  /** Contacts whose status stays because nobody can tell whether somebody gave it again since, unless `resubscribe` says so. */
  readonly untold: number
  /** Changes that the record does not know. */
  readonly unknownChanges: ReadonlyArray<string>
}

/** How an undo is previewed. */
export interface UndoPreviewOptions extends UndoScope {
  /** Runs with some contacts at a time, as the undo comes to them. */
  readonly onContacts?: ((contacts: ReadonlyArray<UndoneContact>) => Effect.Effect<void>) | undefined
}

/** How a run is undone. */
export interface UndoOptions extends UndoScope {
  /** Runs after each request, with the number of contacts done so far. */
  readonly onProgress?: ((done: number) => Effect.Effect<void>) | undefined
  /** Runs with the report of the contacts so far when the undo ends, also when it fails or is interrupted. */
  readonly onReport?: ((report: UndoReport) => Effect.Effect<void>) | undefined
}

const scopeFields: KnownFields.Names<UndoScope> = {
  only: true,
  fields: true,
  force: true,
  resubscribe: resubscribeIssue
}
const previewFields = KnownFields.fieldsOf<UndoPreviewOptions>("an undo", { ...scopeFields, onContacts: true })
const undoFields = KnownFields.fieldsOf<UndoOptions>("an undo", { ...scopeFields, onProgress: true, onReport: true })

const effectOf = {
  AsBefore: "alreadySo",
  Delete: "deleted",
  AddAgain: "new",
  ChangeBack: "changed",
  Strip: "changed"
} as const

const makeTally = () => {
  const effects = makeEffectCounter()
  const recipients = makeRecipientCounter()
  const tally = { read: 0, outdated: 0, leftOut: 0, rejected: 0 }
  const rest = { partlyDone: 0, stripped: 0, incomplete: 0, untold: 0 }
  const outdatedContacts: Array<UndoneContact> = []
  const unwritableContacts: Array<UndoneContact> = []
  const unknownChanges: Array<string> = []
  let underWay = 0
  return {
    /** Counts contacts as unknown until they have an answer. */
    sends: (count: number): void => {
      underWay = count
    },
    add: (undoing: Undoing): void => {
      const { change, found, isIncomplete } = undoing
      const contact = shownOf(undoing)
      tally.read++
      if (isIncomplete) rest.incomplete++
      if (change !== undefined && isNewRecipient(found.contact, madeOf(found, change).contact))
        recipients.add(found.contact === null)
      const { isUntold, since, step } = contact
      if (isUntold === true) rest.untold++
      if (since !== undefined && outdatedContacts.length < maximumNamedContacts) outdatedContacts.push(contact)
      if (step === "Unwritable" && unwritableContacts.length < maximumNamedContacts) unwritableContacts.push(contact)
      if (step === "LeftOut") tally.leftOut++
      else if (step === "Keep") tally.outdated++
      else if (step === "Unwritable") tally.rejected++
      else {
        effects.add(effectOf[step])
        if (step === "Strip") rest.stripped++
        if (since !== undefined) rest.partlyDone++
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
      read: tally.read + underWay,
      unknown: underWay,
      outdatedContacts,
      unwritableContacts,
      ...rest,
      unknownChanges,
      newRecipients: recipients.counts()
    })
  }
}

/** The report of an undo of nothing. */
export const nothingUndone: UndoReport = makeTally().report(undefined)

/** Parts of what one call takes. */
const partsOf = (targets: ReadonlyArray<Target>): ReadonlyArray<ReadonlyArray<Target>> =>
  Arrays.chunksOf(targets, maximumChanges)

/** Says what an undo does to some contacts as they are now; `known` has what an earlier step of a preview makes of them. */
const makeLook = Effect.fnUntraced(function* (run: RecordedRun, scope: UndoScope, undoing?: Run) {
  const service = yield* ContactsService
  const within = yield* makeScope(scope)
  const isForced = scope.force === true
  const givers = yield* Effect.cached(makeGivers(run, undoing))
  const look = Effect.fnUntraced(function* (targets: ReadonlyArray<Target>, known?: ReadonlyMap<string, Found>) {
    const { found, isExact } = yield* readNow(
      service,
      targets.map(({ email }) => email)
    )
    if (found === undefined) return yield* mayNotRead
    const giverOf = targets.some(lowersStatus) ? (yield* givers).giverOf : () => "Run" as const
    return yield* Effect.forEach(targets, (target, index) => {
      const email = canonicalEmail(target.email)
      const earlier = known?.get(email)
      const now = earlier ?? found[index] ?? nobody
      const giver = earlier === undefined && lowersStatus(target) ? giverOf(email, now) : "Run"
      return Effect.flatMap(within(target, now), (meant) =>
        meant === undefined
          ? Effect.succeed(leftOut(target, now))
          : undoingOf(run, meant, now, { isExact, isForced, giver, resubscribe: scope.resubscribe })
      )
    })
  })
  /** Notes the statuses that this undo gives itself. */
  const note = (...[making, answers]: Parameters<typeof datesGiven>) => {
    const dates = datesGiven(making, answers)
    return dates.length === 0 ? Effect.void : Effect.map(givers, ({ note }) => dates.forEach(note))
  }
  return { look, note }
})

const openToUndo = Effect.fnUntraced(function* (id: string) {
  const log = yield* RunLog
  const run = yield* log.read(id)
  yield* checkTarget(run.header)
  return run
})

type UndoError = RunNotFound | RunTaken | RunLogFailure | OtherTarget | ReadError

/** How an undo fails. */
export type UndoFailure = Exclude<UndoError, ServiceError> | Stopped<UndoReport>

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
  yield* KnownFields.checkFields(previewFields, options)
  const { onContacts } = options
  const run = yield* openToUndo(id)
  const { look } = yield* makeLook(run, options)
  const tally = makeTally()
  /** What the steps so far make of contacts that the run wrote more than once. */
  const known = new Map<string, Found>()
  const once = new Set<string>()
  const often = new Set<string>()
  const countedOf = makeTargets()
  yield* Stream.runForEach(run.backwards, (entry) => {
    for (const target of countedOf(entry)) {
      const email = canonicalEmail(target.email)
      ;(once.has(email) ? often : once).add(email)
    }
    // A page answers meanwhile.
    return Effect.yieldNow
  })
  const targetsOf = makeTargets()
  yield* Stream.runForEach(run.backwards, (entry) => {
    tally.note(entry)
    return Effect.forEach(
      partsOf(targetsOf(entry)).toReversed(),
      (targets) =>
        Effect.flatMap(look(targets, known), (undoings) => {
          const shown = undoings.map((undoing) => {
            const { change, found, target } = undoing
            tally.add(undoing)
            const email = canonicalEmail(target.email)
            if (change !== undefined && often.has(email)) known.set(email, madeOf(found, change))
            return shownOf(undoing)
          })
          return onContacts === undefined ? Effect.void : onContacts(shown)
        }),
      { discard: true }
    )
  })
  return tally.report(undefined)
})

/**
 * Undoes a run by its id, from its last entry to the first, as a run of its own that can be undone too. Doing it again does no
 * harm, so after `Stopped` it can be retried. A run that is going on cannot be undone, and one that was undone does not go on.
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
): Effect.fn.Return<UndoReport, UndoFailure, ContactsService | RunLog | Scope.Scope> {
  yield* KnownFields.checkFields(undoFields, options)
  const undone = yield* openToUndo(id).pipe(Effect.catchTag("ServiceError", stoppedAt(nothingUndone, "contact")))
  const { changed, created, deleted } = undone.counts
  const total = undone.recorded?.total ?? created + changed + deleted
  const withRest = (report: UndoReport): UndoReport => {
    const notSent = Math.max(0, total - report.read)
    return { ...report, read: report.read + notSent, notSent }
  }
  const { fields, force, only, onProgress, onReport = () => Effect.void, resubscribe } = options
  const service = yield* ContactsService
  // An undo of another part is another run.
  const part = {
    ...(only && { only }),
    ...(fields && { fields }),
    ...(force === true && { force }),
    ...(resubscribe && { resubscribe })
  }
  const own = yield* undone
    .beginUndo(Object.keys(part).length === 0 ? undefined : part)
    .pipe(Effect.catchTag("ServiceError", stoppedAt(withRest(nothingUndone), "contact")))
  const { look, note } = yield* makeLook(undone, options, own)
  const tally = makeTally()

  const undoPart = Effect.fnUntraced(function* (targets: ReadonlyArray<Target>) {
    let due = targets
    for (let attempt = 1; due.length > 0; attempt++) {
      const undoings = yield* look(due)
      yield* sometimes("an undo has seen what it changes")
      const changing = undoings.flatMap(({ change, found }) => (change === undefined ? [] : [{ change, found }]))
      tally.sends(changing.length)
      const making = { changes: changing.map(({ change }) => change), found: changing.map(({ found }) => found) }
      const answers = yield* made(service, own, making).pipe(
        Effect.tapError((error) =>
          error._tag === "ServiceError" && error.mayHaveHappened ? Effect.void : Effect.sync(() => tally.sends(0))
        )
      )
      tally.sends(0)
      yield* note(making, answers)
      const outdated = new Set<string>(
        changing.flatMap(({ change }, index) => (answers[index]?._tag === "Outdated" ? [change.email] : []))
      )
      const isLast = attempt === attempts
      for (const undoing of undoings) {
        const isOutdated = outdated.has(undoing.target.email)
        if (!isOutdated) tally.add(undoing)
        else if (isLast)
          tally.add({ ...undoing, step: { _tag: "Keep", fields: [] }, change: undefined, isIncomplete: false })
      }
      due = isLast ? [] : due.filter(({ email }) => outdated.has(email))
    }
    if (onProgress !== undefined) yield* onProgress(tally.done())
  })

  const targetsOf = makeTargets()
  const reported = Effect.map(own.hasChanged, (hasChanged) => tally.report(hasChanged ? own.header.id : undefined))
  yield* Stream.runForEach(undone.backwards, (entry) => {
    tally.note(entry)
    return Effect.forEach(partsOf(targetsOf(entry)).toReversed(), undoPart, { discard: true })
  }).pipe(
    Effect.andThen(own.end),
    Effect.ensuring(Effect.flatMap(reported, onReport)),
    Effect.catchTag("ServiceError", (cause) =>
      Effect.flatMap(reported, (now) => stoppedAt(withRest(now), "contact")(cause))
    )
  )
  return yield* reported
}, Effect.scoped)
