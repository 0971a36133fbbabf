/**
 * The plan of an import: what each row would change, found before anything is written, and carried out later on the contacts
 * that still are as the plan saw them. Its file is JSON with a row on each line. (docs/decisions/runs.md)
 */
import {
  canonicalEmail,
  ContactChange,
  ContactColumns,
  contactOf,
  type ContactPayload,
  ContactsService,
  fnRedacted,
  ImportMapping,
  type ImportRow,
  ImportWarning,
  type InvalidInput,
  inputProblem,
  JsonParser,
  maximumAddBytes,
  maximumChanges,
  type ServiceError,
  statusKept,
  type TooManyContacts,
  TaggedError,
  randomId
} from "@roster/domain"
import { Array as Arrays, DateTime, Effect, Result, Schema, type Scope, Stream, Struct } from "effect"
import { makeUtf8Decoder } from "../bulk/Utf8Decoder.ts"
import { changesOf, ContactState, FieldChanges } from "../runs/ContactState.ts"
import { RunLog, type RunLogFailure, type RunNotFound, type RunTaken } from "../runs/RunLog.ts"
import { AddOutcome, defaultAddConcurrency, makeBulkSender, outcomesOf } from "../upload/BulkAdd.ts"
import type { Bitset } from "../upload/DuplicateIndex.ts"
import { RepeatedRow } from "../upload/RepeatedRows.ts"
import { toRows, type UploadSource } from "../upload/Upload.ts"
import { surveyContacts, type TooManyRows, type UploadSurvey } from "../upload/UploadSurvey.ts"
import {
  type Found,
  makeContactReader,
  mayNotRead,
  nobody,
  type ReadError,
  type ReaderOptions,
  stateOfFound
} from "../runs/ContactReader.ts"
import { effectsOf } from "../runs/RunEntry.ts"
import { fitOf, type ImportMode } from "../runs/ImportMode.ts"
import { madeOf, recordedChange, writeOfContact } from "../runs/RecordedContacts.ts"
import { NamedRejection, RejectionCause } from "../runs/Rejections.ts"
import {
  emptyReport,
  makeEffectCounter,
  maximumNamedContacts,
  OtherTarget,
  type OutdatedContact,
  type RunEffect,
  type RunReport
} from "../runs/RunReport.ts"
import { nothingUndone, undoRun, type UndoReport } from "./Undo.ts"

// What a plan is

/** The first line of a plan: its target and its options. */
export const PlanHeader = Schema.Struct({
  /** What tells a plan from other files. */
  plan: Schema.Literal("roster contacts import"),
  /** The version of the format. */
  version: Schema.Literal(2),
  /** Tells it from other plans. */
  id: Schema.String,
  /** The name of the service or store. */
  target: Schema.String,
  /** When it was made, as ISO 8601. */
  made: Schema.String,
  /** What its rows were read from, as the caller names it. */
  source: Schema.optionalKey(Schema.String),
  /** How they were read. */
  mapping: Schema.optionalKey(ImportMapping),
  /** Lists that the contacts are put on. */
  listNames: Schema.Array(Schema.String),
  /** Whether contacts that receive no mail are made ones that do. */
  resubscribe: Schema.Boolean
})
export interface PlanHeader extends Schema.Schema.Type<typeof PlanHeader> {}

/** A row of a plan, which changes something. */
export const PlannedRow = Schema.Struct({
  /** The line on which the row begins, counted from 1. */
  line: Schema.Int,
  /** What it does, to a contact that is as the plan saw it. */
  change: ContactChange,
  /** Old and new values of the fields of a stored contact, for people. */
  fields: Schema.optionalKey(FieldChanges),
  /** The status of the row was left out, since it would resubscribe. */
  keepsStatus: Schema.optionalKey(Schema.Literal(true))
})
export interface PlannedRow extends Schema.Schema.Type<typeof PlannedRow> {}

const Named = Schema.Struct({ line: Schema.Int, email: Schema.String })

/** The counts and examples of a plan: read = new + changed + unchanged + leftOut + rejected + duplicates. */
export const PlanSummary = Schema.Struct({
  /** The number of rows. */
  read: Schema.Int,
  /** Rows whose contacts are new. */
  new: Schema.Int,
  /** Rows whose contacts change. */
  changed: Schema.Int,
  /** Rows whose contacts are so already. */
  unchanged: Schema.Int,
  /** Rows that the mode leaves out; absent without any. */
  leftOut: Schema.optionalKey(Schema.Int),
  /** Rows that our own check refuses. */
  rejected: Schema.Int,
  /** Rows that are left out for another with their address. */
  duplicates: Schema.Int,
  /** The first of them; absent without any. */
  duplicateRows: Schema.optionalKey(Schema.Array(RepeatedRow)),
  /** Rows whose status would resubscribe their contacts. It is left out, unless the plan allows it. */
  wouldResubscribe: Schema.Int,
  /** Changed rows that, as far as can be read, only put their contacts on the lists. */
  onlyLists: Schema.Int,
  /** The number of stored contacts that change in each field. */
  fields: Schema.Record(Schema.String, Schema.Int),
  /** The first changes of stored contacts. */
  sample: Schema.Array(Schema.Struct({ ...Named.fields, changes: FieldChanges })),
  /** Which column of the file becomes which field; absent without a file. */
  columns: Schema.optionalKey(Schema.Array(ContactColumns.ColumnField)),
  /** The first contacts that rows stand for, as they would be stored; absent without any. */
  firstContacts: Schema.optionalKey(Schema.Array(Schema.Struct({ ...Named.fields, contact: ContactState }))),
  /** The first rows that would resubscribe their contacts. */
  wouldResubscribeRows: Schema.Array(Named),
  /** The first rejected rows, up to 10,000. */
  rejectedRows: Schema.Array(NamedRejection),
  /** Why rows are rejected, the causes of most rows first; absent without any. */
  causes: Schema.optionalKey(Schema.Array(RejectionCause)),
  /** What is odd in the other rows; absent if nothing is, or if the survey did not look for it. */
  warnings: Schema.optionalKey(Schema.Array(ImportWarning))
})
export interface PlanSummary extends Schema.Schema.Type<typeof PlanSummary> {}

/** Maximum number of changes, and of rows that would resubscribe, that a summary shows. */
export const maximumShownRows = 20

/** Number of contacts that a summary shows as they would be stored. */
const shownContacts = 3

/** Maximum number of fields that a summary counts one by one. */
export const maximumCountedFields = 1000

/** Where the bytes of a plan are kept. */
export interface PlanStorage<E = never> {
  /** Writes all of it. */
  readonly write: <E2, R>(content: Stream.Stream<Uint8Array, E2, R>) => Effect.Effect<void, E | E2, R>
  /** Reads it from its beginning, any number of times. */
  readonly content: Stream.Stream<Uint8Array, E>
}

/** Keeps a plan in memory. */
export const planStorageMemory = (): PlanStorage => {
  const parts: Array<Uint8Array> = []
  return {
    write: (content) => Stream.runForEach(content, (part) => Effect.sync(() => parts.push(part))),
    content: Stream.suspend(() => Stream.fromIterable(parts))
  }
}

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
   * the rows that are left as not sent. The same apply again goes on with them.
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

/** How a plan is made. */
export interface PlanOptions<E = never> extends ReaderOptions, ImportMode {
  /** Lists that the contacts are put on; new ones are created. */
  readonly listNames?: ReadonlyArray<string> | undefined
  /** Whether contacts that receive no mail may be made ones that do (default: false). */
  readonly resubscribe?: boolean | undefined
  /** A text that says what the rows were read from, such as the digest of a file. */
  readonly source?: string | undefined
  /** How the rows were read, which the plan keeps. */
  readonly mapping?: ImportMapping | undefined
  /** Where the plan is kept (default: in memory). */
  readonly storage?: PlanStorage<E> | undefined
  /** Runs now and then, with the number of rows planned so far. */
  readonly onProgress?: ((planned: number) => Effect.Effect<void>) | undefined
  /** Runs for each row that is neither rejected nor repeated, in their order, to list those that the plan leaves out, too. */
  readonly onRow?: ((row: RowPlan) => void) | undefined
}

/** What a plan finds of a row. */
export interface RowPlan {
  /** The line on which the row begins, counted from 1. */
  readonly line: number
  /** What the row does to its contact. */
  readonly effect: "new" | "changed" | "unchanged" | "leftOut"
  /** Whether the row would resubscribe its contact. */
  readonly wouldResubscribe: boolean
}

// Making one

const encodeHeader = Schema.encodeSync(Schema.fromJsonString(PlanHeader))
const encodeRow = Schema.encodeSync(JsonParser.fromJsonString(PlannedRow))
const encodeSummary = Schema.encodeSync(JsonParser.fromJsonString(PlanSummary))

const rowsBegin = ',"rows":['
const rowsEnd = '],"summary":'

/** What a plan writes of a contact. */
export interface Sendable {
  readonly line: number
  readonly contact: ContactPayload
}

/** The counts of the rows of a plan, which are complete at its end. */
export type PlanCounts = Pick<UploadSurvey, "read" | "invalid" | "duplicates" | "firstInvalid" | "causes"> &
  Partial<Pick<UploadSurvey, "duplicateRows" | "header" | "warnings">>

/** The rows to send, each with its contact. */
const sendableRows = <E, R>(rows: Stream.Stream<ImportRow, E, R>, sendable: Bitset) =>
  Stream.suspend(() => {
    let number = 0
    return Stream.mapAccumArray(
      rows,
      () => undefined,
      (_, some) => {
        const sent: Array<Sendable> = []
        for (const row of some) {
          if (!sendable.has(++number)) continue
          const contact = contactOf(row)
          if (Result.isSuccess(contact)) sent.push({ line: row.line, contact: contact.success })
        }
        return [undefined, sent]
      }
    )
  })

/** Collects the rows of a plan and its summary. */
const makePlanner = (
  { listNames, mapping, resubscribe }: PlanHeader,
  survey: PlanCounts,
  { onRow = () => undefined, ...mode }: ImportMode & Pick<PlanOptions, "onRow">
) => {
  const fit = fitOf(mode)
  const columns = survey.header === undefined ? [] : ContactColumns.columnFields(survey.header.cells, mapping)
  const counts = { new: 0, changed: 0, unchanged: 0, leftOut: 0, wouldResubscribe: 0, onlyLists: 0 }
  let newActive = 0
  const fields = new Map<string, number>()
  const sample: Array<PlanSummary["sample"][number]> = []
  const firstContacts: Array<NonNullable<PlanSummary["firstContacts"]>[number]> = []
  const wouldResubscribeRows: Array<{ readonly line: number; readonly email: string }> = []

  /** The warnings, where it is known how many new contacts have no status. */
  const warned = (newActive: number): Pick<PlanSummary, "warnings"> => {
    const warnings = (survey.warnings ?? []).flatMap((warning) =>
      warning.code !== "Active" ? [warning] : newActive === 0 ? [] : [{ ...warning, count: newActive }]
    )
    return warnings.length === 0 ? {} : { warnings }
  }

  /** The planned row, or `undefined` for one that changes nothing. */
  const plan = ({ contact, line }: Sendable, found: Found): PlannedRow | undefined => {
    const { email } = contact
    const before = found.contact
    const asked = writeOfContact(contact, { listNames, resubscribe })
    const fitted = fit === undefined ? asked : fit(asked, found)
    if (fitted === undefined) {
      counts.leftOut++
      onRow({ line, effect: "leftOut", wouldResubscribe: false })
      return undefined
    }
    const wouldResubscribe = statusKept(before?.status, contact.status) !== undefined
    const keepsStatus = wouldResubscribe && !resubscribe
    if (wouldResubscribe) {
      counts.wouldResubscribe++
      if (wouldResubscribeRows.length < maximumShownRows) wouldResubscribeRows.push({ line, email })
    }
    const write = keepsStatus ? { ...fitted.write, status: undefined } : fitted.write
    const change: ContactChange = { email: fitted.email, seen: before, write }
    const row = { line, change, ...(keepsStatus ? ({ keepsStatus } as const) : {}) }
    const told = (effect: RowPlan["effect"]): void => {
      counts[effect]++
      onRow({ line, effect, wouldResubscribe })
    }
    const state = (of: Found): ContactState => stateOfFound(email, of) ?? {}
    if (firstContacts.length < shownContacts) {
      firstContacts.push({ line, email, contact: state(madeOf(found, change)) })
    }
    if (before === null) {
      told("new")
      if (write?.status === undefined) newActive++
      return row
    }
    const changes = changesOf(state(found), state(madeOf(found, change)))
    const isSame = Object.keys(changes).length === 0
    // Where lists cannot be read, nobody knows who is on them.
    if (isSame && (listNames.length === 0 || found.lists !== undefined)) {
      told("unchanged")
      return undefined
    }
    told("changed")
    if (isSame) counts.onlyLists++
    else {
      for (const field of Object.keys(changes)) {
        if (fields.size < maximumCountedFields || fields.has(field)) fields.set(field, (fields.get(field) ?? 0) + 1)
      }
      if (sample.length < maximumShownRows) sample.push({ line, email, changes })
    }
    return { ...row, fields: changes }
  }
  const summary = (): PlanSummary => ({
    read: survey.read,
    ...(counts.leftOut === 0 ? Struct.omit(counts, ["leftOut"]) : counts),
    rejected: survey.invalid,
    duplicates: survey.duplicates,
    ...(survey.duplicateRows === undefined || survey.duplicateRows.length === 0
      ? {}
      : { duplicateRows: survey.duplicateRows }),
    fields: Object.fromEntries([...fields].toSorted(([, one], [, other]) => other - one)),
    sample,
    ...(columns.length === 0 ? {} : { columns }),
    ...(firstContacts.length === 0 ? {} : { firstContacts }),
    wouldResubscribeRows,
    rejectedRows: survey.firstInvalid,
    ...(survey.causes.length === 0 ? {} : { causes: survey.causes }),
    ...warned(newActive)
  })
  return { plan, summary }
}

/** Writes the plan of rows, each with what is stored for its contact. */
export const writtenPlan = Effect.fnUntraced(function* <E, R, ES = never>(
  parts: Stream.Stream<ReadonlyArray<readonly [row: Sendable, found: Found]>, E, R>,
  counts: PlanCounts,
  options: Omit<PlanOptions<ES>, keyof ReaderOptions>
): Effect.fn.Return<ImportPlan<ES>, E | ES, R | RunLog> {
  const { listNames = [], mapping, onProgress, resubscribe = false, source } = options
  const storage: PlanStorage<ES> = options.storage ?? planStorageMemory()
  const { target } = yield* RunLog
  const header: PlanHeader = {
    plan: "roster contacts import",
    version: 2,
    id: yield* randomId,
    target,
    made: DateTime.formatIso(yield* DateTime.now),
    ...(source === undefined ? {} : { source }),
    ...(mapping === undefined ? {} : { mapping }),
    listNames,
    resubscribe
  }
  const planner = makePlanner(header, counts, options)
  let planned = 0
  let isFirst = true
  const linesOf = Effect.fnUntraced(function* (part: ReadonlyArray<readonly [Sendable, Found]>) {
    let text = ""
    for (const [row, found] of part) {
      const line = planner.plan(row, found)
      if (line === undefined) continue
      text += `${isFirst ? "" : ","}${encodeRow(line)}\n`
      isFirst = false
    }
    planned += part.length
    if (onProgress !== undefined) yield* onProgress(planned)
    return text
  })
  const lines = Stream.make(`${encodeHeader(header).slice(0, -1)}${rowsBegin}\n`).pipe(
    Stream.concat(Stream.mapEffect(parts, linesOf)),
    Stream.concat(Stream.suspend(() => Stream.make(`${rowsEnd}${encodeSummary(planner.summary())}}\n`)))
  )
  yield* storage.write(Stream.encodeText(lines))
  return planOf(header, planner.summary(), storage.content)
})

/**
 * Makes the plan of surveyed rows, which are read again.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { makeImportPlan, surveyContacts } from "@roster/workflows"
 * import { Effect, Stream } from "effect"
 *
 * const rows = readContacts(Stream.make(new TextEncoder().encode("email\nada@example.com\n")))
 *
 * export const example = Effect.gen(function* () {
 *   const survey = yield* surveyContacts(rows, { digests: true })
 *   return yield* makeImportPlan(rows, survey, { listNames: ["newsletter"] })
 * })
 * ```
 */
export const makeImportPlan = fnRedacted("makeImportPlan")(function* <E, ES = never>(
  rows: Stream.Stream<ImportRow, E>,
  survey: UploadSurvey,
  options: PlanOptions<ES> = {}
): Effect.fn.Return<ImportPlan<ES>, E | ES | ReadError, ContactsService | RunLog | Scope.Scope> {
  const reader = yield* makeContactReader(survey.read - survey.invalid - survey.duplicates, options)
  const found = Effect.fnUntraced(function* (part: ReadonlyArray<Sendable>) {
    const { found } = yield* reader.read(part.map(({ contact }) => contact.email))
    if (found === undefined) return yield* mayNotRead
    return part.map((row, index) => [row, found[index] ?? nobody] as const)
  })
  const parts = sendableRows(rows, survey.sendable).pipe(Stream.grouped(maximumChanges), Stream.mapEffect(found))
  return yield* writtenPlan(parts, survey, options)
})

/**
 * Reads contacts or the rows of a file and what is stored, and says what they would change. Nothing is written until the
 * plan is applied.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { planImport } from "@roster/workflows"
 * import { Effect, Stream } from "effect"
 *
 * const rows = readContacts(Stream.make(new TextEncoder().encode("email\nada@example.com\n")))
 *
 * export const example = Effect.gen(function* () {
 *   const plan = yield* planImport(rows, { listNames: ["newsletter"] })
 *   if (plan.summary.changed > 100) return undefined
 *   return yield* plan.apply
 * })
 * ```
 */
export const planImport = fnRedacted("planImport")(function* <E, ES = never>(
  source: UploadSource<E>,
  options: PlanOptions<ES> = {}
): Effect.fn.Return<ImportPlan<ES>, E | ES | ReadError | TooManyRows, ContactsService | RunLog | Scope.Scope> {
  const rows = toRows(source)
  return yield* makeImportPlan(rows, yield* surveyContacts(rows), options)
})

// Applying it

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

const planOf = <E>(header: PlanHeader, summary: PlanSummary, content: Stream.Stream<Uint8Array, E>): ImportPlan<E> => {
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

// Reading it

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

/** The file is not the plan of an import, or not all of it. */
export class UnreadablePlan extends TaggedError<UnreadablePlan>()("UnreadablePlan", {
  /** Why it cannot be read, in words. */
  reason: Schema.String
}) {
  override get message(): string {
    return `This is not a whole plan of an import: ${this.reason}`
  }
}

const unreadable = (reason: string) => new UnreadablePlan({ reason })

/** A line of the file of a plan. */
export type PlanLine =
  | { readonly _tag: "Header"; readonly header: PlanHeader }
  | { readonly _tag: "Row"; readonly row: PlannedRow }
  | { readonly _tag: "Unread" }
  | { readonly _tag: "Summary"; readonly summary: PlanSummary }

const decodeHeader = Schema.decodeUnknownResult(Schema.fromJsonString(PlanHeader))
const decodeRow = Schema.decodeUnknownResult(JsonParser.fromJsonString(PlannedRow))
const decodeSummary = Schema.decodeUnknownResult(JsonParser.fromJsonString(PlanSummary))

const readLine = (text: string, isFirst: boolean, decodesRows: boolean): Result.Result<PlanLine, UnreadablePlan> => {
  if (isFirst) {
    if (!text.endsWith(rowsBegin)) return Result.fail(unreadable("it does not begin as one"))
    return Result.mapBoth(decodeHeader(`${text.slice(0, -rowsBegin.length)}}`), {
      onSuccess: (header): PlanLine => ({ _tag: "Header", header }),
      onFailure: () => unreadable("it does not begin as one of this version")
    })
  }
  if (text.startsWith(rowsEnd)) {
    return Result.mapBoth(decodeSummary(text.slice(rowsEnd.length, -1)), {
      onSuccess: (summary): PlanLine => ({ _tag: "Summary", summary }),
      onFailure: () => unreadable("its end cannot be read")
    })
  }
  if (!decodesRows) return Result.succeed({ _tag: "Unread" })
  return Result.mapBoth(decodeRow(text.startsWith(",") ? text.slice(1) : text), {
    onSuccess: (row): PlanLine => ({ _tag: "Row", row }),
    onFailure: () => unreadable("one of its rows cannot be read")
  })
}

/** Maximum length of a line of a plan in UTF-16 units, far more than a row and a summary take. */
const longestLine = 16 * 1024 * 1024

/**
 * Reads the file of a plan in UTF-8. Fails for one that breaks off, or whose rows do not add up. Its rows are decoded
 * unless they are only to be counted.
 */
export const readPlan = <E, R>(
  content: Stream.Stream<Uint8Array, E, R>,
  { decodesRows = true }: { readonly decodesRows?: boolean } = {}
): Stream.Stream<PlanLine, UnreadablePlan | E, R> =>
  Stream.suspend(() => {
    let number = 0
    let rows = 0
    let summary: PlanSummary | undefined
    const read = (text: string): Result.Result<PlanLine, UnreadablePlan> => {
      if (text.length > longestLine) return Result.fail(unreadable("one of its lines is too long"))
      if (summary !== undefined) return Result.fail(unreadable("there is text after its end"))
      const line = readLine(text, number++ === 0, decodesRows)
      if (Result.isSuccess(line)) {
        if (line.success._tag === "Row" || line.success._tag === "Unread") rows++
        if (line.success._tag === "Summary") summary = line.success.summary
      }
      return line
    }
    const end = Effect.suspend(() => {
      if (summary === undefined) return unreadable("it breaks off")
      return rows === summary.new + summary.changed ? Effect.void : unreadable("it does not have all its rows")
    })
    const decode = makeUtf8Decoder(() => unreadable("it is not UTF-8"))
    return Stream.mapEffect(content, (piece) => decode(piece)).pipe(
      Stream.concat(Stream.fromEffect(Effect.suspend(() => decode()))),
      Stream.splitLines,
      Stream.filter((line) => line !== ""),
      Stream.mapArrayEffect((part) => Effect.fromResult(Result.all(Arrays.map(part, read)))),
      Stream.concat(Stream.fromEffectDrain(end))
    )
  })
