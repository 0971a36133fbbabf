/** A plan, and how it is carried out later, on the contacts that still are as the plan saw them. (docs/decisions/runs.md) */
import {
  type ContactChange,
  type ContactsService,
  maximumPlaces,
  type InvalidInput,
  judgeChange,
  maximumAddBytes,
  maximumChanges,
  type RunTaken,
  type ServiceError,
  TaggedError,
  type TooManyContacts
} from "@roster/domain"
import { areListsSo, fnRedacted, KnownFields } from "@roster/domain/internal"
import { Effect, Schema, Stream, Struct } from "effect"
import { type RunLogFailure } from "../runs/RecordedRun.ts"
import { RunLog } from "../runs/RunLog.ts"
import {
  type Found,
  makeContactReader,
  mayNotRead,
  nobody,
  type ReaderOptions,
  readerFields
} from "../runs/ContactReader.ts"
import { checkTarget, emptyReport, maximumNamedContacts, type OtherTarget, type RunReport } from "../runs/RunReport.ts"
import { type Stopped, stoppedAt, unlessStopped } from "../runs/Stopped.ts"
import { leftOf, type Look, makeApplier } from "./Applier.ts"
import { nothingUndone, type UndoFailure, type UndoReport, undoRun } from "./Undo.ts"
import {
  encodeRow,
  Named,
  type PlanHeader,
  type PlannedRow,
  type PlanSummary,
  readPlan,
  rowsIn,
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

/** What an apply needs, and how it fails. */
type Applying<E> = Effect.Effect<AppliedPlan, E | RunTaken | RunLogFailure | Stopped, ContactsService | RunLog>

type Verifying<E> = Effect.Effect<
  void,
  PlanOutdated | E | InvalidInput | ServiceError | TooManyContacts,
  ContactsService
>

/** How a plan is applied. */
export interface ApplyOptions extends ReaderOptions {
  /** The command in the log (default: apply). */
  readonly command?: string | undefined
  /** What the run works on, so that the same work with a new plan goes on in the same run (default: the plan). */
  readonly input?: Schema.Json | undefined
  /** Number of concurrent requests (default: 8). */
  readonly concurrency?: number | undefined
  /** Runs after each request, with the number of rows done so far. */
  readonly onProgress?: ((done: number) => Effect.Effect<void>) | undefined
  /**
   * Runs before each request. While it waits, that request does; once it gives false, no more is sent, and the report counts
   * the rows that are left as not sent. The same apply again resumes with them.
   */
  readonly proceed?: Effect.Effect<boolean> | undefined
  /** Runs with the report when the apply ends, also when it fails or is interrupted. */
  readonly onReport?: ((report: RunReport) => Effect.Effect<void>) | undefined
}

const verifyFields = KnownFields.fieldsOf<ReaderOptions>("a verification", readerFields)
const applyFields = KnownFields.fieldsOf<ApplyOptions>("an apply", {
  ...readerFields,
  command: true,
  input: true,
  concurrency: true,
  onProgress: true,
  proceed: true,
  onReport: true
})

/** A plan that was applied. */
export interface AppliedPlan {
  /** What the apply did. */
  readonly report: RunReport
  /** Undoes what this run, and earlier ones that it resumed, changed. */
  readonly undo: Effect.Effect<UndoReport, UndoFailure, ContactsService | RunLog>
}

/** A plan, which can be kept and applied later. */
export interface Plan<E = never> {
  /** What the plan is for. */
  readonly header: PlanHeader
  /** What it would change. */
  readonly summary: PlanSummary
  /** The rows that change something, in the order of the file. */
  readonly rows: Stream.Stream<PlannedRow, E | UnreadablePlan>
  /** The bytes of its file, for `loadPlan`. */
  readonly content: Stream.Stream<Uint8Array, E>
  /** Checks that every contact is as the plan found it or as it makes it, and writes nothing. */
  readonly verify: Verifying<E | UnreadablePlan>
  /** Verifies with options. */
  readonly verifyWith: (options: ReaderOptions) => Verifying<E | UnreadablePlan>
  /**
   * Applies the rows whose contacts are as the plan saw them, and reports the others. Again, it does nothing twice, so after
   * `Stopped` it can be retried.
   */
  readonly apply: Applying<E | UnreadablePlan>
  /** Applies with options. */
  readonly applyWith: (options: ApplyOptions) => Applying<E | UnreadablePlan | InvalidInput>
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
export const planOf = <E>(header: PlanHeader, summary: PlanSummary, content: Stream.Stream<Uint8Array, E>): Plan<E> => {
  const rows = Stream.mapAccumArray(
    readPlan(content),
    () => undefined,
    (_, part) => [undefined, part.flatMap((line) => (line._tag === "Row" ? [line.row] : []))]
  )

  const read = (options: ReaderOptions) => makeContactReader(rowsIn(summary), options)

  const verifyWith = Effect.fnUntraced(function* (options: ReaderOptions) {
    yield* KnownFields.checkFields(verifyFields, options)
    const reader = yield* read(options)
    let count = 0
    const sample: Array<{ readonly line: number; readonly email: string }> = []
    yield* Stream.runForEach(
      partsOf(rows),
      Effect.fnUntraced(function* (part) {
        const { found } = yield* reader
          .read(part.map(({ change }) => change.email))
          .pipe(Effect.catchTag("InvalidRule", Effect.die))
        if (found === undefined) return yield* mayNotRead
        for (const [index, { change, line }] of part.entries()) {
          if (judge(change, found[index] ?? nobody) !== "Outdated") continue
          count++
          if (sample.length < maximumNamedContacts) sample.push({ line, email: change.email })
        }
      })
    )
    if (count > 0) return yield* new PlanOutdated({ count, sample })
  })

  const applied = Effect.fnUntraced(function* ({
    command = "apply",
    concurrency,
    input = { plan: header.id },
    onProgress,
    onReport = () => Effect.void,
    proceed,
    ...options
  }: ApplyOptions): Effect.fn.Return<
    AppliedPlan,
    E | UnreadablePlan | RunTaken | RunLogFailure | Stopped,
    ContactsService | RunLog
  > {
    const log = yield* RunLog
    const all = rowsIn(summary)
    const untouched: RunReport = { ...emptyReport, read: all, notSent: all }
    const report = yield* Effect.scoped(
      Effect.gen(function* () {
        const run = yield* log.open({ command, input }).pipe(
          Effect.catchTags({
            InvalidInput: Effect.die,
            ServiceError: stoppedAt(untouched)
          })
        )
        const applier = yield* makeApplier<Planned>({
          run,
          reader: yield* read(options),
          look: ({ row }, found) => lookAt(row, found),
          exceeds: (batch) =>
            batch.reduce((sum, { row }) => sum + (row.change.write?.addToLists?.length ?? 0), 0) > maximumPlaces,
          check: () => undefined,
          concurrency,
          proceed
        }).pipe(Effect.catchTag("ServiceError", stoppedAt(untouched)))
        let sent = 0
        const parts = Stream.map(partsOf(rows), (part) => {
          const lines = part.map(({ line }) => line)
          return { batch: part.map((row): Planned => ({ email: row.change.email, row })), lines, rows: lines }
        })
        const hasRecipients = summary.newRecipients !== undefined
        const reported = Effect.map(applier.report, (applied): RunReport => ({
          ...(hasRecipients ? applied : Struct.omit(applied, ["newRecipients"])),
          statusesKept: summary.statusesKept + applied.statusesKept,
          keptStatuses: [...summary.keptStatuses, ...applied.keptStatuses],
          read: all,
          notSent: leftOf(applied, all)
        }))
        yield* applier
          .apply(parts, ({ batch }) => {
            sent += batch.length
            return onProgress === undefined ? Effect.void : onProgress(sent)
          })
          .pipe(Effect.andThen(applier.end(all)), Effect.ensuring(Effect.flatMap(reported, onReport)))
        return yield* unlessStopped(yield* reported, yield* applier.stoppedBy)
      })
    )
    const { run: id } = report
    return { report, undo: id === undefined ? Effect.succeed(nothingUndone) : undoRun(id) }
  })

  const applyWith = (options: ApplyOptions) =>
    Effect.andThen(KnownFields.checkFields(applyFields, options), applied(options))

  return { header, summary, rows, content, verify: verifyWith({}), verifyWith, apply: applied({}), applyWith }
}

interface Planned {
  readonly email: string
  readonly row: PlannedRow
}

/** What a change of a plan would do to what is stored now. */
const judge = (change: ContactChange, { contact, lists = [] }: Found) =>
  judgeChange(contact, change, areListsSo(lists, change.write)).result

/** What becomes of a row of a plan. */
const lookAt = ({ change, fields = {} }: PlannedRow, found: Found): Look => {
  const result = judge(change, found)
  if (result === "Outdated") return { effect: "outdated" }
  if (result === "AlreadySo") return { effect: "alreadySo" }
  return {
    effect:
      change.delete === true
        ? "deleted"
        : change.seen === null
          ? "new"
          : Object.keys(fields).length > 0
            ? "changed"
            : "alreadySo",
    change: { ...change, seen: found.contact }
  }
}

/**
 * Loads a plan from the bytes of its file, which are read again when it is applied. Fails for one that is not whole, or is
 * for other contacts than those of the log.
 */
export const loadPlan = fnRedacted("loadPlan")(function* <E>(
  content: Stream.Stream<Uint8Array, E>
): Effect.fn.Return<Plan<E>, E | UnreadablePlan | OtherTarget | ServiceError, RunLog> {
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
  yield* checkTarget(header)
  return planOf(header, summary, content)
})
