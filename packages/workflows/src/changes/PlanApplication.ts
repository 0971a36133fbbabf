/** A plan, and how it is carried out later, on the contacts that still are as the plan saw them. (docs/decisions/runs.md) */
import {
  canonicalEmail,
  ContactsService,
  fnRedacted,
  inputProblem,
  type InvalidInput,
  maximumAddBytes,
  maximumChanges,
  type ServiceError,
  TaggedError,
  type TooManyContacts
} from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { RunLog, type RunLogFailure, type RunNotFound, type RunTaken } from "../runs/RunLog.ts"
import { AddOutcome, defaultAddConcurrency, makeBulkSender, outcomesOf } from "../upload/BulkAdd.ts"
import type { ReadError } from "../runs/ContactReader.ts"
import { effectsOf } from "../runs/RunEntry.ts"
import { recordedChange } from "../runs/RecordedContacts.ts"
import {
  emptyReport,
  makeEffectCounter,
  maximumNamedContacts,
  OtherTarget,
  type OutdatedContact,
  type RunEffect,
  type RunReport
} from "../runs/RunReport.ts"
import { nothingUndone, type UndoReport, undoRun } from "./Undo.ts"
import {
  encodeRow,
  Named,
  type PlanHeader,
  type PlannedRow,
  type PlanSummary,
  readPlan,
  unreadable,
  type UnreadablePlan
} from "./PlanFile.ts"

/** Contacts have changed since the plan was made. */
export class PlanOutdated extends TaggedError<PlanOutdated>()("PlanOutdated", {
  /** How many. */
  count: Schema.Int,
  /** The lines and addresses of the first of them. */
  sample: Schema.Array(Named)
}) {
  override get message(): string {
    const contacts = this.count === 1 ? "1 contact has" : `${this.count} contacts have`
    return `${contacts} changed since the plan was made.`
  }
}

/** What an apply needs, and how it fails. A failure of the service is in its report. */
type Applying<E> = Effect.Effect<AppliedPlan, E | RunTaken | RunLogFailure, ContactsService | RunLog>

/** How a plan is applied. */
export interface ApplyOptions {
  /** The command in the log (default: apply). */
  readonly command?: string | undefined
  /** Number of concurrent requests (default: 8). */
  readonly concurrency?: number | undefined
  /** Runs after each request, with the number of rows done so far. */
  readonly onProgress?: ((done: number) => Effect.Effect<void>) | undefined
  /**
   * Runs before each request. While it waits, that request does; once it gives false, no more is sent, and the report counts
   * the rows that are left as not sent. The same apply again resumes with them.
   */
  readonly proceed?: Effect.Effect<boolean> | undefined
}

/** A plan that was applied. */
export interface AppliedPlan {
  /** What the apply did. */
  readonly report: RunReport
  /** Undoes what this run, and earlier ones that it resumed, changed. */
  readonly undo: Effect.Effect<
    UndoReport,
    RunNotFound | RunTaken | RunLogFailure | OtherTarget | ReadError,
    ContactsService | RunLog
  >
}

/** A plan, which can be kept and applied later. */
export interface ImportPlan<E = never> {
  /** What the plan is for. */
  readonly header: PlanHeader
  /** What it would change. */
  readonly summary: PlanSummary
  /** The rows that change something, in the order of the file. */
  readonly rows: Stream.Stream<PlannedRow, E | UnreadablePlan>
  /** The bytes of its file, for `loadPlan`. */
  readonly content: Stream.Stream<Uint8Array, E>
  /** Checks that every contact is as the plan found it or as it makes it, and writes nothing. */
  readonly verify: Effect.Effect<
    void,
    PlanOutdated | E | UnreadablePlan | InvalidInput | ServiceError | TooManyContacts,
    ContactsService
  >
  /** Applies the rows whose contacts are as the plan saw them, and reports the others. Again, it does nothing twice. */
  readonly apply: Applying<E | UnreadablePlan>
  /** The same with options. */
  readonly applyWith: (options: ApplyOptions) => Applying<E | UnreadablePlan>
}

/** The rows of a call, whose JSON is about half of what one takes at most. */
const partsOf = <E>(rows: Stream.Stream<PlannedRow, E>) =>
  Stream.mapAccumArray(
    rows,
    (): { part: Array<PlannedRow>; bytes: number } => ({ part: [], bytes: 0 }),
    ({ bytes, part }, some) => {
      const full: Array<ReadonlyArray<PlannedRow>> = []
      for (const row of some) {
        part.push(row)
        bytes += encodeRow(row).length
        if (part.length === maximumChanges || bytes > maximumAddBytes / 2) {
          full.push(part)
          part = []
          bytes = 0
        }
      }
      return [{ part, bytes }, full]
    },
    { onHalt: ({ part }) => (part.length === 0 ? [] : [part]) }
  )

/** A plan by its header, its summary and the bytes of its file. */
export const planOf = <E>(
  header: PlanHeader,
  summary: PlanSummary,
  content: Stream.Stream<Uint8Array, E>
): ImportPlan<E> => {
  const rows = Stream.mapAccumArray(
    readPlan(content),
    () => undefined,
    (_, part) => [undefined, part.flatMap((line) => (line._tag === "Row" ? [line.row] : []))]
  )

  const verify = Effect.gen(function* () {
    const service = yield* ContactsService
    let count = 0
    const sample: Array<{ readonly line: number; readonly email: string }> = []
    yield* Stream.runForEach(partsOf(rows), (part) =>
      Effect.map(
        service.change(
          part.map(({ change }) => change),
          { dryRun: true }
        ),
        (answers) => {
          for (const [index, { change, line }] of part.entries()) {
            if (answers[index]?._tag !== "Outdated") continue
            count++
            if (sample.length < maximumNamedContacts) sample.push({ line, email: change.email })
          }
        }
      )
    )
    if (count > 0) return yield* new PlanOutdated({ count, sample })
  })

  const applyWith = Effect.fnUntraced(function* ({
    command = "apply",
    concurrency = defaultAddConcurrency,
    onProgress,
    proceed
  }: ApplyOptions): Effect.fn.Return<
    AppliedPlan,
    E | UnreadablePlan | RunTaken | RunLogFailure,
    ContactsService | RunLog
  > {
    const service = yield* ContactsService
    const log = yield* RunLog
    const report = yield* Effect.scoped(
      Effect.gen(function* () {
        const run = yield* log.open({ command, input: { plan: header.id } })
        const sender = yield* makeBulkSender<Planned, void, Outdated>({
          call: (batch) =>
            Effect.map(
              recordedChange(
                service,
                run,
                Array.from(batch, ({ row }) => row.change)
              ),
              (answers) =>
                answers.map(({ _tag }) => ({
                  count: 1,
                  outcome:
                    _tag === "Outdated"
                      ? ({ _tag } as const)
                      : AddOutcome.Accepted(_tag === "AlreadySo" ? { effect: "alreadySo" } : {})
                }))
            ),
          exceeds: () => false,
          check: () => undefined
        })
        /** What earlier processes of the run did. */
        const earlier = new Map<string, RunEffect>()
        yield* Stream.runForEach(run.earlier, (entry) =>
          Effect.sync(() => {
            if (entry._tag === "Changes") for (const [email, effect] of effectsOf(entry)) earlier.set(email, effect)
            if (entry._tag === "NotMade") for (const email of entry.emails) earlier.delete(canonicalEmail(email))
          })
        )
        const effects = makeEffectCounter()
        const found = { doneEarlier: 0, outdated: 0, rejected: 0, notSent: 0, unknown: 0 }
        const outdatedContacts: Array<OutdatedContact> = []
        const rejectedRows: Array<{ readonly line: number; readonly reason: string }> = []
        let sent = 0
        const send = Effect.fnUntraced(function* (part: ReadonlyArray<PlannedRow>) {
          if (proceed !== undefined && !(yield* proceed)) {
            found.notSent += part.length
            return
          }
          const batch = part.map((row): Planned => ({ email: row.change.email, row }))
          for (const [index, outcome] of outcomesOf(yield* sender.send(batch, undefined)).entries()) {
            const row = part[index]
            if (row === undefined) continue
            const { change, fields = {}, line } = row
            if (outcome._tag === "Accepted") {
              const before = outcome.effect === undefined ? undefined : earlier.get(canonicalEmail(change.email))
              const effect = change.seen === null ? "new" : Object.keys(fields).length > 0 ? "changed" : "alreadySo"
              effects.add(before ?? outcome.effect ?? effect)
              if (before !== undefined) found.doneEarlier++
            } else if (outcome._tag === "NotSent") found.notSent++
            else if (outcome._tag === "Unknown") found.unknown++
            else if (outcome._tag === "Refused") {
              found.rejected++
              if (rejectedRows.length < maximumNamedContacts)
                rejectedRows.push({ line, reason: inputProblem(outcome.error) })
            } else {
              found.outdated++
              if (outdatedContacts.length < maximumNamedContacts)
                outdatedContacts.push({ line, email: row.change.email })
            }
          }
          sent += part.length
          if (onProgress !== undefined) yield* onProgress(sent)
        })
        yield* partsOf(rows).pipe(Stream.mapEffect(send, { concurrency, unordered: true }), Stream.runDrain)
        if (found.notSent + found.unknown === 0) yield* run.end
        const counts = yield* run.counts
        const isWritten = run.isResumed || counts.created + counts.changed > 0
        const report: RunReport = {
          ...emptyReport,
          ...effects.counts(),
          run: isWritten ? run.header.id : undefined,
          read: summary.new + summary.changed,
          ...found,
          outdatedContacts,
          rejectedRows,
          stoppedBy: yield* sender.stoppedBy
        }
        return report
      })
    )
    const { run: id } = report
    return { report, undo: id === undefined ? Effect.succeed(nothingUndone) : undoRun(id) }
  })

  return { header, summary, rows, content, verify, apply: applyWith({}), applyWith }
}

interface Planned {
  readonly email: string
  readonly row: PlannedRow
}

interface Outdated {
  readonly _tag: "Outdated"
}

/**
 * Loads a plan from the bytes of its file, which are read again when it is applied. Fails for one that is not whole, or is
 * for another service or store than that of the log.
 */
export const loadPlan = fnRedacted("loadPlan")(function* <E>(
  content: Stream.Stream<Uint8Array, E>
): Effect.fn.Return<ImportPlan<E>, E | UnreadablePlan | OtherTarget, RunLog> {
  let header: PlanHeader | undefined
  let summary: PlanSummary | undefined
  yield* Stream.runForEach(readPlan(content, { decodesRows: false }), (line) =>
    Effect.sync(() => {
      if (line._tag === "Header") header = line.header
      if (line._tag === "Summary") summary = line.summary
    })
  )
  // A plan without them fails to be read.
  if (header === undefined || summary === undefined) return yield* unreadable("it breaks off")
  const { target } = yield* RunLog
  if (header.target !== target) return yield* new OtherTarget({ other: header.target, current: target })
  return planOf(header, summary, content)
})
