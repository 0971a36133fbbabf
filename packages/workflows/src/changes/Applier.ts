/**
 * Applies rows: reads what is stored for each batch, decides what becomes of each row, records that and writes it. A service that
 * compares and changes in one step writes only to contacts as they were read; any other one takes adds and deletions. Plans of
 * every kind and imports apply by this alone. (docs/decisions/runs.md)
 */
import {
  type AddSummary,
  beforeWriting,
  type ContactChange,
  ContactFilter,
  ContactsService,
  InvalidInput,
  type KeptStatusRow,
  type ServiceError,
  type TooManyContacts
} from "@roster/domain"
import { inputProblem, payloadOfChange, withoutOwnKey } from "@roster/domain/internal"
import { Array as Arrays, Deferred, Effect, Stream } from "effect"
import { type ContactReader, type Found, foundIn, mayNotRead, nobody, readNow } from "../runs/ContactReader.ts"
import type { NamedRejection } from "../runs/Rejections.ts"
import {
  attempts,
  made,
  madeBy,
  madeOf,
  nothingEarlier,
  readEarlier,
  recordUnknown,
  unrecorded
} from "../runs/RecordedChanges.ts"
import type { Run, RunLogFailure } from "../runs/RecordedRun.ts"
import {
  emptyReport,
  isNewRecipient,
  makeEffectCounter,
  makeRecipientCounter,
  maximumNamedContacts,
  type OutdatedContact,
  type RunEffect,
  type RunReport
} from "../runs/RunReport.ts"
import { acceptedRuns, AddOutcome, defaultAddConcurrency, makeBulkSender, type SentResult } from "../upload/BulkAdd.ts"
import { maximumNamedRows } from "../upload/UploadSurvey.ts"

/** What becomes of a row, by what is stored for its contact. */
export interface Look {
  readonly effect: RunEffect | "leftOut" | "outdated"
  /** What to write; nothing is written without. */
  readonly change?: ContactChange | undefined
  /** The status that the contact keeps in place of that of the row. */
  readonly kept?: KeptStatusRow["status"] | undefined
  /** What the change makes of the contact (default: found anew). */
  readonly after?: Found | undefined
}

/** Rows that are sent together, with their places. */
export interface Rows<A> {
  readonly batch: ReadonlyArray<A>
  /** The numbers of the rows. */
  readonly rows: ArrayLike<number>
  /** The lines on which they begin. */
  readonly lines: ArrayLike<number>
}

/** How rows are applied. */
export interface Applying<A> {
  /** The run that records the changes; without one, nothing is recorded. */
  readonly run?: Run | undefined
  /** Reads what is stored; without it, rows are added unread. */
  readonly reader?: ContactReader | undefined
  /** What becomes of a row whose contact was read (default: nothing). */
  readonly look?: (row: A, found: Found) => Look
  /** Whether a row is looked at again when others changed its contact meanwhile (default: the contact is left as it is). */
  readonly looksAgain?: boolean
  /** Adds rows unread, for a key that may not read; without it, that key is refused. */
  readonly add?:
    | ((batch: ReadonlyArray<A>) => Effect.Effect<AddSummary, TooManyContacts | InvalidInput | ServiceError>)
    | undefined
  /** Runs before the first rows are added unread by a key that may not read. */
  readonly onUnread?: Effect.Effect<void> | undefined
  /** Whether rows that are added unread are more than one call takes. */
  readonly exceeds: (batch: ReadonlyArray<A>) => boolean
  /** What our own check has against a row. */
  readonly check: (row: A) => InvalidInput | undefined
  /** Runs before each write. While it waits, the write does; once it gives false, no more is written. */
  readonly proceed?: Effect.Effect<boolean> | undefined
  readonly concurrency?: number | undefined
}

/** A row that others changed. */
interface Outdated {
  readonly _tag: "Outdated"
}

/** A row that the mode of an import leaves out. */
interface LeftOut {
  readonly _tag: "LeftOut"
}

type Own = Outdated | LeftOut

const outdated: Outdated = { _tag: "Outdated" }
const leftOut: LeftOut = { _tag: "LeftOut" }

const busy = new InvalidInput({ field: "body", issue: "others keep changing the contact; send the row again" })

const outcomeOf = ({ effect, kept: keptStatus }: Look, isRecipient = false): AddOutcome | Own =>
  effect === "leftOut"
    ? leftOut
    : effect === "outdated"
      ? outdated
      : AddOutcome.Accepted({
          effect,
          ...(keptStatus === undefined ? {} : { keptStatus }),
          ...(isRecipient ? { isRecipient } : {})
        })

/** What was written of a row. */
const writtenOutcome = ({ change, found, look }: Due<unknown>, kept = look.kept): AddOutcome | Own => {
  const { after = madeOf(found, change) } = look
  return outcomeOf({ ...look, kept }, kept === look.kept && isNewRecipient(found.contact, after.contact))
}

/** What changes have in common that one call makes at a service that compares nothing. */
const kindOf = ({ delete: isDeleted, write }: ContactChange): string =>
  JSON.stringify([isDeleted, write?.addToLists ?? [], write?.resubscribe])

/** A row that is due to be written. */
interface Due<A> {
  readonly row: A
  readonly place: number
  readonly found: Found
  readonly look: Look
  readonly change: ContactChange
}

/** The rows whose contacts kept their status: their number, and up to 10,000 of them. */
const makeKeptStatusRows = () => {
  const rows: Array<RunReport["keptStatuses"][number]> = []
  let count = 0
  return {
    add: (row: RunReport["keptStatuses"][number]) => {
      count++
      if (rows.length < maximumNamedRows) rows.push(row)
    },
    report: () => ({ statusesKept: count, keptStatuses: rows.toSorted((one, other) => one.line - other.line) })
  }
}

/** Makes what applies rows in the order in which they are given. */
export const makeApplier = Effect.fnUntraced(function* <A extends { readonly email: string }>({
  add,
  check,
  concurrency = defaultAddConcurrency,
  exceeds,
  look = () => ({ effect: "leftOut" }),
  looksAgain = false,
  onUnread = Effect.void,
  proceed = Effect.succeed(true),
  reader,
  run
}: Applying<A>) {
  const service = yield* ContactsService
  const recorder = run ?? unrecorded
  const earlier = run?.isResumed === true ? yield* readEarlier(run) : nothingEarlier
  type Results = ReadonlyArray<SentResult<Own>>
  type Failed = TooManyContacts | InvalidInput | ServiceError

  let last = Effect.void
  /** The turn of rows, after those that came before: new contacts stand in the order of their rows. */
  const makeTurn = () => {
    const ended = Deferred.makeUnsafe<void>()
    const wait = last
    last = Deferred.await(ended)
    return { wait, end: Deferred.succeed(ended, undefined) }
  }

  /** What becomes of a row, and what to write. */
  const lookAt = (row: A, place: number, found: Found): Due<A> | AddOutcome | Own => {
    const seen = look(row, found)
    // A contact that this run has written is on the lists too, where those cannot be read.
    const isSo = seen.effect === "alreadySo" && earlier.has(row.email)
    return seen.change === undefined || isSo ? outcomeOf(seen) : { row, place, found, look: seen, change: seen.change }
  }

  /** Writes where the service compares. */
  const compared = Effect.fnUntraced(function* (first: ReadonlyArray<Due<A>>, outcomes: Array<AddOutcome | Own>) {
    let due = first
    for (let attempt = 1; due.length > 0; attempt++) {
      const changes = due.map(({ change }) => change)
      yield* earlier.takeBack(changes)
      const answers = yield* made(service, recorder, { changes, found: due.map(({ found }) => found) })
      const late: Array<readonly [Due<A>, Found | undefined]> = []
      for (const [index, one] of due.entries()) {
        const answer = answers[index]
        if (answer?._tag === "Outdated") late.push([one, foundIn(answer)])
        else outcomes[one.place] = writtenOutcome(one)
      }
      if (!looksAgain) for (const [{ place }] of late) outcomes[place] = outdated
      due = looksAgain ? yield* lookAgain(late, outcomes, attempt === attempts) : []
    }
  })

  /** Looks at rows again whose contacts others changed meanwhile. */
  const lookAgain = Effect.fnUntraced(function* (
    late: ReadonlyArray<readonly [Due<A>, Found | undefined]>,
    outcomes: Array<AddOutcome | Own>,
    isLast: boolean
  ) {
    const unseen = isLast ? [] : late.filter(([, now]) => now === undefined)
    // A long answer leaves out how some contacts are now.
    const { found = [] } = yield* readNow(
      service,
      unseen.map(([{ row }]) => row.email)
    )
    const read = new Map(unseen.map(([{ place }], index) => [place, found[index]]))
    return late.flatMap(([{ place, row }, answered]): ReadonlyArray<Due<A>> => {
      const now = answered ?? read.get(place)
      const next =
        isLast || now === undefined
          ? AddOutcome.Refused({ index: place, email: row.email, error: busy })
          : lookAt(row, place, now)
      if (!("_tag" in next)) return [next]
      outcomes[place] = next
      return []
    })
  })

  /** Writes where the service does not compare: those that one call can make together. */
  const plain = Effect.fnUntraced(function* (due: ReadonlyArray<Due<A>>, outcomes: Array<AddOutcome | Own>) {
    for (const some of Object.values(Arrays.groupBy(due, ({ change }) => kindOf(change)))) {
      const changes = Arrays.map(some, ({ change }) => change)
      const [{ delete: isDeleted, write }] = changes
      yield* earlier.takeBack(changes)
      const call =
        isDeleted === true
          ? service
              .deleteMany(ContactFilter.ByEmails({ emails: Arrays.map(changes, ({ email }) => email) }))
              .pipe(Effect.catchTag(["ConflictingFilter", "InvalidRule"], Effect.die), Effect.as(noneKept))
          : withoutOwnKey(
              service.addWithoutAnswer(changes.map(payloadOfChange), {
                listNames: write?.addToLists,
                resubscribe: write?.resubscribe
              })
            )
      const { keptStatuses } = yield* madeBy(recorder, { changes, found: some.map(({ found }) => found) }, call)
      const kept = new Map(keptStatuses.map(({ index, status }) => [index, status]))
      for (const [index, one] of some.entries()) outcomes[one.place] = writtenOutcome(one, kept.get(index))
    }
  })

  let isUnread = false
  /** Adds rows unread, for a key that may not read or without a record. */
  const unread = Effect.fnUntraced(function* (batch: ReadonlyArray<A>): Effect.fn.Return<Results, Failed> {
    if (add === undefined) return yield* mayNotRead
    if (!isUnread && reader !== undefined) {
      isUnread = true
      yield* recordUnknown(recorder, "changes by a key that may not read contacts")
      yield* onUnread
    }
    return acceptedRuns(batch.length, yield* recorder.write(add(batch)))
  })

  const sender = yield* makeBulkSender<A, Effect.Effect<void>, Own>({
    call: Effect.fnUntraced(function* (batch, turn): Effect.fn.Return<Results, Failed> {
      if (reader === undefined) return yield* unread(batch)
      const { found, isExact } = yield* beforeWriting(
        reader.read(batch.map(({ email }) => email)).pipe(Effect.catchTag("InvalidRule", Effect.die))
      )
      if (found === undefined) return yield* unread(batch)
      const outcomes: Array<AddOutcome | Own> = []
      const due = batch.flatMap((row, place): ReadonlyArray<Due<A>> => {
        const one = lookAt(row, place, found[place] ?? nobody)
        if (!("_tag" in one)) return [one]
        outcomes[place] = one
        return []
      })
      if (isExact) yield* turn
      yield* isExact ? compared(due, outcomes) : plain(due, outcomes)
      return outcomes.map((outcome) => ({ count: 1, outcome }))
    }),
    exceeds,
    check
  })

  const effects = makeEffectCounter()
  const found = { leftOut: 0, outdated: 0, unknown: 0 }
  const outdatedContacts: Array<OutdatedContact> = []
  const refused = new Map<number, NamedRejection>()
  const kept = makeKeptStatusRows()
  const recipients = makeRecipientCounter()
  let underWay = 0
  /** Whether it was said that nothing more is written: the rows that are left are not even read. */
  let isOver = false

  const count = ({ batch, lines, rows }: Rows<A>, results: Results): void => {
    let at = 0
    for (const { count, outcome } of results) {
      const line = lines[at] ?? 0
      const { email = "" } = batch[at] ?? {}
      if (outcome._tag === "Accepted") {
        effects.add(outcome.effect ?? "unknownWhetherNew", count)
        if (outcome.keptStatus !== undefined) kept.add({ line, email, status: outcome.keptStatus })
        if (outcome.isRecipient === true) recipients.add(outcome.effect === "new", count)
      } else if (outcome._tag === "Refused") {
        const { email, error } = outcome
        refused.set(rows[at] ?? 0, { line, reason: inputProblem(error), code: "Service", email })
      } else if (outcome._tag === "Unknown") found.unknown += count
      else if (outcome._tag === "LeftOut") found.leftOut += count
      else if (outcome._tag === "Outdated") {
        found.outdated += count
        if (outdatedContacts.length < maximumNamedContacts) outdatedContacts.push({ line, email })
      }
      at += count
    }
  }

  const send = Effect.fnUntraced(function* <P extends Rows<A>>(
    part: P,
    onSent: ((part: P) => Effect.Effect<void>) | undefined
  ) {
    const { length } = part.batch
    const turn = makeTurn()
    yield* Effect.uninterruptibleMask(
      Effect.fnUntraced(function* (restore) {
        if (isOver || (yield* sender.stoppedBy) !== undefined) return
        if (!(yield* restore(proceed))) {
          isOver = true
          return
        }
        // After an interruption they remain counted as unknown.
        underWay += length
        const results = yield* restore(sender.send(part.batch, turn.wait))
        underWay -= length
        count(part, results)
        if (onSent !== undefined) yield* onSent(part)
      })
    ).pipe(Effect.ensuring(turn.end))
  })

  const report = Effect.gen(function* (): Effect.fn.Return<RunReport> {
    const done = effects.counts()
    const isWritten = run?.isResumed === true || isUnread || (run !== undefined && (yield* run.hasChanged))
    return {
      ...emptyReport,
      ...done,
      run: isWritten ? run?.header.id : undefined,
      leftOut: found.leftOut,
      outdated: found.outdated,
      outdatedContacts,
      rejected: refused.size,
      rejectedRows: [...refused.values()].toSorted((one, other) => one.line - other.line),
      ...kept.report(),
      ...(done.unknownWhetherNew > 0 ? {} : { newRecipients: recipients.counts() }),
      unknown: found.unknown + underWay
    }
  })

  return {
    /** Applies rows, up to the first error of the service. */
    apply: <P extends Rows<A>, E, R>(
      parts: Stream.Stream<P, E, R>,
      onSent?: (part: P) => Effect.Effect<void>
    ): Effect.Effect<void, E, R> =>
      parts.pipe(
        Stream.takeWhileEffect(() => Effect.map(sender.stoppedBy, (error) => error === undefined && !isOver)),
        Stream.mapEffect((part) => send(part, onSent), { concurrency, unordered: true }),
        Stream.runDrain
      ),
    /** Ends the run if no row is left of it. */
    end: (read: number): Effect.Effect<void, RunLogFailure> =>
      Effect.flatMap(report, (now) =>
        run === undefined || leftOf(now, read) + now.unknown > 0 ? Effect.void : run.end
      ),
    /** The outcomes so far, of the rows that were applied. */
    report,
    /** The error that stopped it, if any. */
    stoppedBy: sender.stoppedBy,
    /** The rows that the service refused, by their numbers. */
    refused
  }
})

/** The number of rows that were not applied, of those to apply. */
export const leftOf = (
  {
    done,
    leftOut,
    outdated,
    rejected,
    unknown
  }: Pick<RunReport, "done" | "leftOut" | "outdated" | "rejected" | "unknown">,
  all: number
): number => all - done - leftOut - outdated - rejected - unknown

const noneKept: AddSummary = { keptStatuses: [] }
