/**
 * Carries out the plan of an import. A row is written only to a contact that is as the plan saw it, and is done where the
 * contact already is what the row makes of it: an apply that was stopped is resumed by the same call, without a journal.
 */
import {
  type ContactPayload,
  ContactsService,
  fnRedacted,
  maximumContactsPerAdd,
  type ServiceError
} from "@roster/domain"
import { Effect, Schema, Stream } from "effect"
import { type AddOutcome, defaultAddConcurrency, makeBulkAdder, outcomesOf } from "../upload/BulkAdd.ts"
import type { ContactLookup } from "./ContactLookup.ts"
import { contentDigestOf, type ContactState, givenBy, merged } from "./ContactState.ts"
import { type PlanCounts, type PlannedRow, type PlanHeader, readPlan, type UnreadablePlan } from "./ImportPlan.ts"
import { type Added, makeAdd, type Recorder, recordedWrites } from "./RecordedContacts.ts"
import { maximumNamedContacts } from "./RunRecord.ts"

/** Contacts have changed since the plan was made. */
export class PlanOutdated extends Schema.TaggedError<PlanOutdated>()("PlanOutdated", {
  /** How many. */
  count: Schema.Int,
  /** The lines and addresses of the first of them. */
  sample: Schema.Array(Schema.Struct({ line: Schema.Int, email: Schema.String }))
}) {
  override get message(): string {
    const contacts = this.count === 1 ? "1 contact has" : `${this.count} contacts have`
    return `${contacts} changed since the plan was made.`
  }
}

/** A plan that was read to its end, and can be read again. */
export interface CheckedPlan<E> {
  readonly header: PlanHeader
  readonly counts: PlanCounts
  readonly rows: Stream.Stream<PlannedRow, E>
}

/** Reads the content of a plan to its end, which proves that it is complete. Its rows are read again when they are used. */
export const checkPlan = fnRedacted("checkPlan")(function* <E>(content: Stream.Stream<Uint8Array, E>) {
  let header: PlanHeader | undefined
  let counts: PlanCounts | undefined
  yield* Stream.runForEachArray(readPlan(content, { decodesRows: false }), (part) =>
    Effect.sync(() => {
      for (const line of part) {
        if (line._tag === "Header") header = line.header
        if (line._tag === "Counts") counts = line.counts
      }
    })
  )
  // A plan without them fails to be read.
  if (header === undefined || counts === undefined) return yield* Effect.die(new Error("a plan without a header"))
  const rows = Stream.mapAccumArray(
    readPlan(content),
    () => undefined,
    (_, part) => [undefined, part.flatMap((line) => (line._tag === "Row" ? [line.row] : []))]
  )
  const plan: CheckedPlan<E | UnreadablePlan> = { header, counts, rows }
  return plan
})

/** Whether a row has to be written, was written already, or is of a contact that changed since. */
type RowState = "Due" | "Done" | "Outdated"

const rowStateOf = ({ after, before }: PlannedRow, state: ContactState | undefined): RowState => {
  const now = contentDigestOf(state)
  // A row that only puts a contact on lists that cannot be read is never seen to be done.
  return now === before ? "Due" : now === after ? "Done" : "Outdated"
}

/** Checks that every contact is as the plan found it or as it makes it. Fails with `PlanOutdated`. */
export const verifyPlan = fnRedacted("verifyPlan")(function* <E>({ rows }: CheckedPlan<E>, lookup: ContactLookup) {
  let count = 0
  const sample: Array<{ readonly line: number; readonly email: string }> = []
  yield* Stream.runForEach(Stream.grouped(rows, maximumContactsPerAdd), (part) =>
    Effect.map(lookup.find(part.map(({ contact }) => contact.email)), (states) => {
      for (const [index, row] of part.entries()) {
        if (rowStateOf(row, states[index]) !== "Outdated") continue
        count++
        if (sample.length < maximumNamedContacts) sample.push({ line: row.line, email: row.contact.email })
      }
    })
  )
  if (count > 0) return yield* new PlanOutdated({ count, sample })
})

/** The outcome of an apply: rows = applied + alreadyApplied + outdated + refused + notSent + unknown. */
export interface ApplyReport {
  readonly rows: number
  readonly applied: number
  /** Rows whose contacts were already what they make of them, such as by an apply that was stopped. */
  readonly alreadyApplied: number
  /** Rows whose contacts changed since the plan was made. Nothing was written to them. */
  readonly outdated: number
  /** The first of them. */
  readonly outdatedRows: ReadonlyArray<{ readonly line: number; readonly email: string }>
  readonly refused: number
  /** The first rows that the service refused. */
  readonly refusedRows: ReadonlyArray<{ readonly line: number; readonly reason: string }>
  readonly notSent: number
  /** Rows that were sent and have no answer. */
  readonly unknown: number
  /** The error that stopped it, if any. */
  readonly stoppedBy: ServiceError | undefined
}

/** How a plan is applied. */
export interface ApplyOptions {
  readonly lookup: ContactLookup
  /** Records what the rows change. */
  readonly recorder: Recorder
  readonly onProgress?: ((done: number) => Effect.Effect<void>) | undefined
}

/** Applies the rows of a plan whose contacts are as it saw them, and reports the others. */
export const applyPlan = fnRedacted("applyPlan")(function* <E>(
  { counts: planCounts, rows, header }: CheckedPlan<E>,
  { lookup, onProgress, recorder }: ApplyOptions
) {
  const service = yield* ContactsService
  const recorded = yield* recordedWrites({ lookup, recorder })
  const add = yield* makeAdd(service)
  const { resubscribe } = header
  const listNames = header.listNames.length === 0 ? undefined : header.listNames
  const counts = { applied: 0, alreadyApplied: 0, outdated: 0, refused: 0, notSent: 0, unknown: 0 }
  const outdatedRows: Array<{ readonly line: number; readonly email: string }> = []
  const refusedRows: Array<{ readonly line: number; readonly reason: string }> = []
  /** The rows that are being written, and how those of them that were looked at stood. */
  const inFlight = new Map<string, { readonly row: PlannedRow; rowState: RowState }>()

  /** Writes the due ones of some contacts. */
  const write = (contacts: ReadonlyArray<ContactPayload>) => {
    const rows = contacts.flatMap(({ email }) => inFlight.get(email) ?? [])
    return recorded(
      "contactsPost",
      contacts.map(({ email }) => email),
      (before) => {
        for (const [index, known] of rows.entries()) known.rowState = rowStateOf(known.row, before[index])
        const isDue = (index: number) => rows[index]?.rowState === "Due"
        const due = contacts.filter((_, index) => isDue(index))
        const unchanged: Added = { summary: { keptStatuses: [] }, states: [] }
        return {
          expected: () =>
            before.map((state, index) => {
              const known = rows[index]
              return known?.rowState === "Due"
                ? merged(state, givenBy(known.row.contact), { resubscribe }).after
                : state
            }),
          write: due.length === 0 ? Effect.succeed(unchanged) : add(due, { listNames, resubscribe }),
          madeBy: ({ states }: Added) => {
            if (states === undefined) return undefined
            let at = 0
            return before.map((state, index) => (isDue(index) ? states[at++] : state))
          }
        }
      }
    )
  }
  const adder = yield* Effect.provideService(
    makeBulkAdder({ listNames, resubscribe }),
    ContactsService,
    ContactsService.of({
      ...service,
      addWithoutAnswer: (contacts) => Effect.as(write(Array.from(contacts)), { keptStatuses: [] })
    })
  )
  const count = ({ contact: { email }, line }: PlannedRow, outcome: AddOutcome, rowState: RowState): void => {
    if (outcome._tag === "NotSent") counts.notSent++
    else if (outcome._tag === "Unknown") counts.unknown++
    else if (outcome._tag === "Refused") {
      counts.refused++
      if (refusedRows.length < maximumNamedContacts) refusedRows.push({ line, reason: outcome.error.message })
    } else if (rowState === "Due") counts.applied++
    else if (rowState === "Done") counts.alreadyApplied++
    else {
      counts.outdated++
      if (outdatedRows.length < maximumNamedContacts) outdatedRows.push({ line, email })
    }
  }
  const applyPart = Effect.fnUntraced(function* (part: ReadonlyArray<PlannedRow>) {
    for (const row of part) inFlight.set(row.contact.email, { row, rowState: "Due" })
    const outcomes = outcomesOf(yield* adder.send(part.map(({ contact }) => contact)))
    for (const [index, row] of part.entries()) {
      const { email } = row.contact
      const outcome = outcomes[index]
      if (outcome !== undefined) count(row, outcome, inFlight.get(email)?.rowState ?? "Due")
      inFlight.delete(email)
    }
  })

  let done = 0
  const applyAndTell = Effect.fnUntraced(function* (part: ReadonlyArray<PlannedRow>) {
    yield* applyPart(part)
    done += part.length
    if (onProgress !== undefined) yield* onProgress(done)
  })
  yield* rows.pipe(
    Stream.grouped(maximumContactsPerAdd),
    Stream.mapEffect(applyAndTell, { concurrency: defaultAddConcurrency, unordered: true }),
    Stream.runDrain
  )
  const report: ApplyReport = {
    rows: planCounts.new + planCounts.changed,
    ...counts,
    outdatedRows,
    refusedRows,
    stoppedBy: yield* adder.stoppedBy
  }
  return report
})
