/** Makes the plan of an import: what each row would change, found before anything is written. (docs/decisions/runs.md) */
import {
  type AddMode,
  type AddOptions,
  type ContactChange,
  type ContactPayload,
  ContactSize,
  type ContactsService,
  type ContactState,
  type ContactWrite,
  type FieldChanges,
  type ImportMapping,
  type ImportRow,
  type InvalidInput,
  type KeptStatus,
  maximumChanges,
  ServiceError,
  ListsText
} from "@roster/domain"
import {
  ContactColumns,
  contactOf,
  ContactStates,
  fnRedacted,
  inputProblem,
  exceedsLists,
  listsRefusal,
  mergedRefusal,
  modeFields,
  onlyForms,
  randomId,
  type StoredTextReaders,
  KnownFields,
  resubscribeIssue
} from "@roster/domain/internal"
import { Array as Arrays, DateTime, Effect, Result, type Scope, Stream, Struct } from "effect"
import { recordedTarget } from "../runs/RecordedRun.ts"
import { RunLog } from "../runs/RunLog.ts"
import type { Bitset } from "../upload/Bitset.ts"
import { readOnce, type RowSource, type SourceTooLarge, type SpoolOptions, spoolFields } from "./RowSource.ts"
import { onLists } from "../upload/BulkAdd.ts"
import { beginsWithoutStatus } from "../upload/RepeatedRows.ts"
import { maximumNamedRows, type TooManyRows, type UploadSurvey } from "../upload/UploadSurvey.ts"
import {
  type Found,
  makeContactReader,
  mayNotRead,
  nobody,
  type ReaderOptions,
  type ReadError,
  stateOfFound,
  readerFields
} from "../runs/ContactReader.ts"
import { fitOf, makeUnreached } from "../runs/ImportMode.ts"
import { makeRejectionCauses, type NamedRejection } from "../runs/Rejections.ts"
import { madeOf, writeOfContact } from "../runs/RecordedChanges.ts"
import { isNewRecipient, makeRecipientCounter } from "../runs/RunReport.ts"
import {
  encodeHeader,
  encodeRow,
  encodeSummary,
  type PlanHeader,
  type PlannedRow,
  type PlanStorage,
  planStorageMemory,
  type PlanSummary,
  rowsBegin,
  rowsBetweenOthers,
  rowsEnd,
  version
} from "./PlanFile.ts"
import { type Plan, planOf } from "./PlanApplication.ts"

/** Maximum number of changes, and of contacts that keep their status, that a summary shows. */
export const maximumShownRows = 20

/** Number of contacts that a summary shows as they would be stored. */
export const shownContacts = 3

/** Maximum number of fields that a summary counts one by one. */
export const maximumCountedFields = 1000

/** How a plan is made. */
export interface PlanOptions<E = never> extends ReaderOptions, AddMode {
  /** Lists that the contacts are put on; new ones are created. */
  readonly listNames?: ReadonlyArray<string> | undefined
  /** The statuses that the plan lifts (default: false, which is none). */
  readonly resubscribe?: AddOptions["resubscribe"]
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

const planFields: KnownFields.Names<PlanOptions<unknown>> = {
  ...readerFields,
  ...modeFields,
  listNames: ListsText.listNamesIssue,
  resubscribe: resubscribeIssue,
  source: true,
  mapping: true,
  storage: true,
  onProgress: true,
  onRow: true
}
const makeFields = KnownFields.fieldsOf<PlanOptions<unknown>>("a plan", planFields)
const importFields = KnownFields.fieldsOf<PlanOptions<unknown> & SpoolOptions<unknown>>("a plan", {
  ...planFields,
  ...spoolFields
})

/** What a plan finds of a row. */
export interface RowPlan {
  /** The line on which the row begins, counted from 1. */
  readonly line: number
  /** What the row does to its contact. */
  readonly effect: "new" | "changed" | "alreadySo" | "leftOut" | "rejected"
  /** The status that the contact keeps in place of that of the row. */
  readonly keptStatus: KeptStatus["status"] | undefined
}

/** What a plan writes of a contact. */
export interface Sendable {
  readonly line: number
  readonly contact: ContactPayload
  /** The lists that the row names (default: none). */
  readonly lists?: ReadonlyArray<string> | undefined
}

/** The counts of the rows of a plan, which are complete at its end. */
export type PlanCounts = Pick<UploadSurvey, "read" | "rejected" | "duplicates" | "rejectedRows" | "causes"> &
  Partial<Pick<UploadSurvey, "duplicateRows" | "header" | "warnings">>

/** What is found of rows, which are counted from 1. */
export const foundOfRows = <A, E, R>(
  rows: Stream.Stream<ImportRow, E, R>,
  find: (row: ImportRow, number: number) => A | undefined
) =>
  Stream.suspend(() => {
    let number = 0
    return Stream.mapAccumArray(
      rows,
      () => undefined,
      (_, some) => [undefined, some.map((row) => find(row, ++number)).filter((found) => found !== undefined)]
    )
  })

/** The rows to send, each with its contact. */
const sendableRows = <E, R>(rows: Stream.Stream<ImportRow, E, R>, sendable: Bitset) =>
  foundOfRows(rows, (row, number): Sendable | undefined => {
    const contact = sendable.has(number) ? contactOf(row) : undefined
    return contact !== undefined && Result.isSuccess(contact)
      ? { line: row.line, contact: contact.success, lists: row.lists }
      : undefined
  })

/** What a row does to its contact, by what is stored. */
export interface RowLook {
  /** What it does, as far as can be read; `alreadySo` with a change is for lists that cannot be read. */
  readonly effect: Exclude<RowPlan["effect"], "rejected">
  /** Why the store would refuse the change, by what is stored. */
  readonly refusal?: InvalidInput
  /** What to write; nothing is written without. */
  readonly change: ContactChange | undefined
  /** The fields of the contact that change. */
  readonly fields: FieldChanges
  /** What the row makes of the contact, unless it is left out. */
  readonly after: Found | undefined
  /** The status that the contact keeps in place of that of the row. */
  readonly kept: KeptStatus["status"] | undefined
}

const noFields: FieldChanges = {}

const noLook = { change: undefined, fields: noFields, after: undefined, kept: undefined }

/** Makes the function that looks what a row does to its contact. */
export const makeRowLook = ({
  listNames = [],
  removeFromLists = [],
  resubscribe = false,
  ...mode
}: AddMode & Pick<PlanOptions, "listNames" | "resubscribe"> & Pick<ContactWrite, "removeFromLists">) => {
  const fit = fitOf(mode)
  return (contact: ContactPayload, found: Found, own: ReadonlyArray<string> = []): RowLook => {
    const addToLists = onLists(listNames, own)
    const changesLists = addToLists.length + removeFromLists.length > 0
    const { email } = contact
    const seen = found.contact
    const asked = writeOfContact(contact, { listNames: addToLists, removeFromLists, resubscribe })
    const fitted = fit === undefined ? asked : fit(asked, found, beginsWithoutStatus(contact))
    if (fitted === undefined) {
      return { ...noLook, effect: "leftOut" }
    }
    const after = madeOf(found, fitted)
    const kept = contact.status === undefined || after.contact?.status === contact.status ? undefined : seen?.status
    // A status that is there already would be given again, which is an event: a file only says what was.
    const isStatusGiven = kept === undefined && fitted.write?.status !== seen?.status
    const write = isStatusGiven ? fitted.write : { ...fitted.write, status: undefined }
    const change: ContactChange = { email: fitted.email, seen, write }
    const given = { change, after, kept }
    if (seen === null) return { ...given, effect: "new", fields: noFields }
    const state = (of: Found): ContactState => stateOfFound(email, of) ?? {}
    const fields = ContactStates.changesOf(state(found), state(after))
    if (after.contact !== null && !ContactSize.mayBecome(seen, after.contact)) {
      return { ...given, effect: "changed", fields, refusal: mergedRefusal(contact) }
    }
    if (exceedsLists(found.lists?.length ?? 0, after.lists?.length ?? 0)) {
      return { ...given, effect: "changed", fields, refusal: listsRefusal("addToLists") }
    }
    if (Object.keys(fields).length > 0) return { ...given, effect: "changed", fields }
    // Where lists cannot be read, nobody knows who is on them.
    const isSure = !changesLists || found.lists !== undefined
    return { ...given, effect: "alreadySo", change: isSure ? undefined : change, fields }
  }
}

/** A row of a plan, with what is stored for its contact. */
type Part = ReadonlyArray<readonly [row: Sendable, found: Found]>

/** The custom fields whose texts are of a kind (default: those whose columns are, by the mapping). */
interface StoredTexts {
  readonly storedTexts?: StoredTextReaders | undefined
}

/** Collects the rows of a plan and its summary. */
export const makePlanner = (
  {
    mapping,
    ...writing
  }: Pick<PlanHeader, "listNames" | "mapping" | "resubscribe"> & Pick<ContactWrite, "removeFromLists">,
  survey: PlanCounts,
  { onRow = () => undefined, storedTexts, ...mode }: AddMode & Pick<PlanOptions, "onRow"> & StoredTexts
): Planner<Part[number]> => {
  const look = makeRowLook({ ...mode, ...writing })
  const header = survey.header?.cells ?? []
  const columns = survey.header === undefined ? [] : ContactColumns.columnFields(header, mapping)
  const readers = storedTexts ?? ContactColumns.storedTextsOf(header, mapping)
  const causes = makeRejectionCauses()
  let refused = 0
  const refusedRows: Array<NamedRejection> = []
  const counts = { new: 0, changed: 0, alreadySo: 0, leftOut: 0, statusesKept: 0, onlyLists: 0 }
  const unreached = makeUnreached(mode)
  const recipients = makeRecipientCounter()
  let newActive = 0
  const fieldCounts = new Map<string, number>()
  const formCounts = new Map<string, number>()
  const sample: Array<PlanSummary["sample"][number]> = []
  const firstContacts: Array<NonNullable<PlanSummary["firstContacts"]>[number]> = []
  const keptStatuses: Array<PlanSummary["keptStatuses"][number]> = []

  /** The warnings, where it is known how many new contacts have no status. */
  const warned = (newActive: number): Pick<PlanSummary, "warnings"> => {
    const warnings = (survey.warnings ?? []).flatMap((warning) =>
      warning.code !== "Active" ? [warning] : newActive === 0 ? [] : [{ ...warning, count: newActive }]
    )
    const all = [...warnings, ...unreached.warnings()]
    return all.length === 0 ? {} : { warnings: all }
  }

  const plan = ([{ contact, line, lists }, found]: Part[number]): PlannedRow | undefined => {
    const { email } = contact
    const { after, change, effect, fields, kept, refusal } = look(contact, found, lists)
    if (refusal !== undefined) {
      const row = { line, email, reason: inputProblem(refusal), code: "Service" }
      causes.add(row)
      if (++refused <= maximumNamedRows) refusedRows.push(row)
      onRow({ line, effect: "rejected", keptStatus: undefined })
      return undefined
    }
    counts[effect]++
    if (effect !== "leftOut") unreached.look(contact, found)
    onRow({ line, effect, keptStatus: kept })
    if (kept !== undefined) {
      counts.statusesKept++
      if (keptStatuses.length < maximumShownRows) keptStatuses.push({ line, email, status: kept })
    }
    if (after !== undefined && firstContacts.length < shownContacts) {
      firstContacts.push({ line, email, contact: stateOfFound(email, after) ?? {} })
    }
    if (change === undefined) return undefined
    if (isNewRecipient(found.contact, after?.contact)) recipients.add(effect === "new")
    const row = { line, change, ...(kept === undefined ? {} : ({ keepsStatus: true } as const)) }
    if (effect === "new") {
      if (change.write?.status === undefined) newActive++
      return row
    }
    const names = Object.keys(fields)
    const forms = onlyForms(fields, readers)
    const onlyForm = forms.length === 0 ? {} : { onlyForm: forms }
    if (effect === "alreadySo") counts.onlyLists++
    else if (sample.length < maximumShownRows) sample.push({ line, email, changes: fields, ...onlyForm })
    for (const field of names) {
      if (fieldCounts.size < maximumCountedFields || fieldCounts.has(field)) {
        fieldCounts.set(field, (fieldCounts.get(field) ?? 0) + 1)
      }
    }
    for (const field of forms) if (fieldCounts.has(field)) formCounts.set(field, (formCounts.get(field) ?? 0) + 1)
    return { ...row, fields, ...onlyForm }
  }
  /** The rows that are no contacts, and those that the store would refuse. */
  const allRejected = (): Pick<PlanSummary, "rejectedRows" | "causes"> => {
    const all = [...survey.causes, ...causes.causes()].toSorted((one, other) => other.count - one.count)
    return {
      rejectedRows: [...survey.rejectedRows, ...refusedRows]
        .toSorted((one, other) => one.line - other.line)
        .slice(0, maximumNamedRows),
      ...(all.length === 0 ? {} : { causes: all })
    }
  }
  const summary = (): PlanSummary => ({
    read: survey.read,
    ...(counts.leftOut === 0 ? Struct.omit(counts, ["leftOut"]) : counts),
    rejected: survey.rejected + refused,
    duplicates: survey.duplicates,
    ...(survey.duplicateRows === undefined || survey.duplicateRows.length === 0
      ? {}
      : { duplicateRows: survey.duplicateRows }),
    fields: Object.fromEntries([...fieldCounts].toSorted(([, one], [, other]) => other - one)),
    ...(formCounts.size === 0 ? {} : { onlyForm: Object.fromEntries(formCounts) }),
    sample,
    ...(columns.length === 0 ? {} : { columns }),
    ...(firstContacts.length === 0 ? {} : { firstContacts }),
    keptStatuses,
    ...allRejected(),
    newRecipients: recipients.counts(),
    ...warned(newActive)
  })
  return { plan, summary }
}

/** Finds the rows of a plan one by one, and then what is said of all of them. */
export interface Planner<A> {
  /** The planned row, or `undefined` for one that changes nothing. */
  readonly plan: (row: A) => PlannedRow | undefined
  readonly summary: () => PlanSummary
}

/** Writes the plan of rows. */
export const writtenPlan = Effect.fnUntraced(function* <A, E, R, ES = never>(
  parts: Stream.Stream<ReadonlyArray<A>, E, R>,
  planner: Planner<A>,
  options: Omit<PlanOptions<ES>, keyof ReaderOptions | keyof AddMode | "onRow">
): Effect.fn.Return<Plan<ES>, E | ES | ServiceError, R | RunLog> {
  const { listNames = [], mapping, onProgress, resubscribe = false, source } = options
  const storage: PlanStorage<ES> = options.storage ?? planStorageMemory()
  const log = yield* RunLog
  const header: PlanHeader = {
    plan: "roster contacts",
    version,
    id: yield* randomId,
    ...recordedTarget(yield* log.target),
    made: DateTime.formatIso(yield* DateTime.now),
    ...(source === undefined ? {} : { source }),
    ...(mapping === undefined ? {} : { mapping }),
    listNames,
    resubscribe
  }
  let planned = 0
  let isFirst = true
  const linesOf = Effect.fnUntraced(function* (part: ReadonlyArray<A>) {
    let text = ""
    for (const some of Arrays.chunksOf(part, rowsBetweenOthers)) {
      for (const row of some) {
        const line = planner.plan(row)
        if (line === undefined) continue
        text += `${isFirst ? "" : ","}${encodeRow(line)}\n`
        isFirst = false
      }
      // A page draws and answers meanwhile.
      yield* Effect.yieldNow
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
): Effect.fn.Return<Plan<ES>, E | ES | ReadError, ContactsService | RunLog | Scope.Scope> {
  yield* KnownFields.checkFields(makeFields, options)
  const { listNames = [], mapping, resubscribe = false } = options
  const reader = yield* makeContactReader(survey.read - survey.rejected - survey.duplicates, options)
  const found = Effect.fnUntraced(function* (part: ReadonlyArray<Sendable>) {
    const { found } = yield* reader.read(part.map(({ contact }) => contact.email))
    if (found === undefined) return yield* mayNotRead
    return part.map((row, index) => [row, found[index] ?? nobody] as const)
  })
  const parts = sendableRows(survey.merged(rows, resubscribe), survey.sendable).pipe(
    Stream.grouped(maximumChanges),
    Stream.mapEffect(found)
  )
  const header = { listNames, resubscribe, ...(mapping === undefined ? {} : { mapping }) }
  return yield* writtenPlan(parts, makePlanner(header, survey, options), options)
})

/**
 * The warnings about surveyed rows. Of those without a status it counts the new contacts: what is stored is read for them alone.
 * A key that may not view contacts gets the warnings of the survey.
 *
 * ```ts
 * import { readContacts } from "@roster/domain"
 * import { importWarnings, surveyContacts } from "@roster/workflows"
 * import { Effect, Stream } from "effect"
 *
 * const rows = readContacts(Stream.make(new TextEncoder().encode("email\nada@example.com\n")))
 *
 * export const example = Effect.gen(function* () {
 *   const survey = yield* surveyContacts(rows, { mapping: {} })
 *   return yield* importWarnings(rows, survey, { defaultStatus: "Inactive" })
 * })
 * ```
 */
export const importWarnings = fnRedacted("importWarnings")(function* <E>(
  rows: Stream.Stream<ImportRow, E>,
  survey: UploadSurvey,
  options: Omit<PlanOptions, "storage"> = {}
) {
  yield* KnownFields.checkFields(makeFields, options)
  if (!survey.warnings.some(({ code }) => code === "Active")) return survey.warnings
  const storage: PlanStorage<never> = { write: Stream.runDrain, content: Stream.empty }
  return yield* makeImportPlan(rows, survey, { ...options, storage }).pipe(
    Effect.map(({ summary }) => summary.warnings ?? []),
    Effect.catchIf(
      (error): error is ServiceError => error instanceof ServiceError && error.reason._tag === "AccessDenied",
      () => Effect.succeed(survey.warnings)
    )
  )
})

/**
 * Reads contacts or the rows of a file once and what is stored, and says what they would change. Nothing is written until the
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
export const planImport = fnRedacted("planImport")(function* <E, ES = never, EK = SourceTooLarge>(
  source: RowSource<E>,
  options: PlanOptions<ES> & SpoolOptions<EK> = {}
): Effect.fn.Return<
  Plan<ES>,
  E | ES | EK | SourceTooLarge | ReadError | TooManyRows,
  ContactsService | RunLog | Scope.Scope
> {
  yield* KnownFields.checkFields(importFields, options)
  const { spool, ...ofPlan } = options
  const { rows, survey } = yield* readOnce(source, { spool })
  return yield* makeImportPlan(rows, survey, ofPlan)
})
