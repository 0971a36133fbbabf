/** The plan of one change to many contacts, or of their deletion. It is applied, kept and undone as that of an import. */
import {
  type Contact,
  ContactsService,
  ContactStatus,
  ContactUpdatePayload,
  type ContactWrite,
  type InvalidInput,
  maximumChanges,
  type ServiceError
} from "@roster/domain"
import { ContactStates, fnRedacted, validated, KnownFields, resubscribeIssue } from "@roster/domain/internal"
import { Effect, Schema, Stream, type Types } from "effect"
import { mayNotRead, readNow } from "../runs/ContactReader.ts"
import type { RunLog } from "../runs/RunLog.ts"
import { NotChangeable } from "./ChangeAsRun.ts"
import { makePlanner, type PlanCounts, type PlanOptions, shownContacts, writtenPlan } from "./ImportPlan.ts"
import type { Plan } from "./PlanApplication.ts"
import type { PlanSummary } from "./PlanFile.ts"

/** One change to many contacts. */
export interface UpdateOfMany extends Omit<ContactUpdatePayload, "status"> {
  /** The status that each contact gets, unless it keeps its own (docs/decisions/upsert.md). */
  readonly status?: ContactStatus | undefined
  /** Lists that each contact is put on; new ones are created. */
  readonly addToLists?: ContactWrite["addToLists"]
  /** Lists that each contact is taken off. */
  readonly removeFromLists?: ContactWrite["removeFromLists"]
}

const readChanges = validated(ContactUpdatePayload)
const readStatus = validated(Schema.Struct({ status: Schema.optional(ContactStatus) }))

/** The lists of contacts, which only a service shows that compares and changes in one step. */
const listsOf = Effect.fnUntraced(function* (contacts: ReadonlyArray<Contact>) {
  const service = yield* ContactsService
  const { found, isExact } = yield* readNow(
    service,
    contacts.map(({ email }) => email)
  ).pipe(Effect.catchTag("TooManyContacts", Effect.die))
  if (!isExact) return yield* new NotChangeable()
  return found === undefined ? yield* mayNotRead : found.map(({ lists }) => lists)
})

/** How a plan of contacts is made. */
type Options<ES> = Pick<PlanOptions<ES>, "storage" | "onProgress">

const deleteFields = KnownFields.fieldsOf<Options<unknown>>("a plan", { storage: true, onProgress: true })
const updateFields = KnownFields.fieldsOf<Options<unknown> & Pick<PlanOptions, "resubscribe">>("a plan", {
  ...deleteFields.fields,
  resubscribe: resubscribeIssue
})

const partsOf = <E, R>(contacts: Stream.Stream<Contact, E, R>) => Stream.grouped(contacts, maximumChanges)

/**
 * Plans to make the same change to each of some contacts, which were read. An empty text removes a field. A status is written
 * by the rule of imports: a stricter one stays, unless `resubscribe` lifts it, and the summary counts it. Lists are changed where
 * the service shows them. The rows of the plan are numbered in the order of the contacts.
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { planUpdate } from "@roster/workflows"
 * import { Effect } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   const contacts = (yield* ContactsService).stream({ rule: "city = 'Koeln'" })
 *   const plan = yield* planUpdate(contacts, { customFields: { city: "Köln" } })
 *   if (plan.summary.changed > 100) return undefined
 *   return yield* plan.apply
 * })
 * ```
 */
export const planUpdate = fnRedacted("planUpdate")(function* <E, R, ES = never>(
  contacts: Stream.Stream<Contact, E, R>,
  changes: UpdateOfMany,
  options: Options<ES> & Pick<PlanOptions, "resubscribe"> = {}
): Effect.fn.Return<Plan<ES>, E | ES | InvalidInput | NotChangeable | ServiceError, R | ContactsService | RunLog> {
  yield* KnownFields.checkFields(updateFields, options)
  const { resubscribe = false } = options
  const { addToLists: listNames = [], removeFromLists = [], status: asked, ...others } = changes
  const { status } = yield* readStatus({ status: asked })
  const given = yield* readChanges(others)
  const changesLists = listNames.length + removeFromLists.length > 0
  const counts: Types.Mutable<PlanCounts> = { read: 0, rejected: 0, duplicates: 0, rejectedRows: [], causes: [] }
  const parts = Stream.mapEffect(partsOf(contacts), (some) =>
    Effect.map(changesLists ? listsOf(some) : Effect.succeed([]), (lists) =>
      some.map((contact, index) => {
        counts.read++
        return [
          { line: counts.read, contact: { email: contact.email, ...given, status } },
          { contact, lists: lists[index] }
        ] as const
      })
    )
  )
  const planner = makePlanner({ listNames, removeFromLists, resubscribe }, counts, {})
  return yield* writtenPlan(parts, planner, { ...options, listNames })
})

/**
 * Plans to delete contacts, which were read: only those, and as they were read. What the plan deletes can be undone, with
 * its lists where the service shows them.
 *
 * ```ts
 * import { ContactsService } from "@roster/domain"
 * import { planDelete } from "@roster/workflows"
 * import { Effect } from "effect"
 *
 * export const example = Effect.gen(function* () {
 *   const plan = yield* planDelete((yield* ContactsService).stream({ rule: "status = Bounced" }))
 *   if (plan.summary.read > 100) return undefined
 *   return yield* plan.apply
 * })
 * ```
 */
export const planDelete = fnRedacted("planDelete")(function* <E, R, ES = never>(
  contacts: Stream.Stream<Contact, E, R>,
  options: Options<ES> = {}
): Effect.fn.Return<Plan<ES>, E | ES | InvalidInput | ServiceError, R | RunLog> {
  yield* KnownFields.checkFields(deleteFields, options)
  const statuses = new Map<string, number>()
  const firstContacts: Array<NonNullable<PlanSummary["firstContacts"]>[number]> = []
  let read = 0
  const planner = {
    plan: (contact: Contact) => {
      const line = ++read
      const { email, status = "" } = contact
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      if (firstContacts.length < shownContacts)
        firstContacts.push({ line, email, contact: ContactStates.stateOf(email, contact) })
      return { line, change: { email, seen: contact, delete: true } } as const
    },
    summary: (): PlanSummary => ({
      ...nothingPlanned,
      read,
      ...(read === 0 ? {} : { deleted: read, statuses: Object.fromEntries(statuses), firstContacts })
    })
  }
  return yield* writtenPlan(partsOf(contacts), planner, options)
})

/** The summary of a plan without rows. */
const nothingPlanned: PlanSummary = {
  read: 0,
  new: 0,
  changed: 0,
  alreadySo: 0,
  rejected: 0,
  duplicates: 0,
  statusesKept: 0,
  onlyLists: 0,
  fields: {},
  sample: [],
  keptStatuses: [],
  rejectedRows: []
}

/** Whether a number of contacts is more than half of all, found by listing the one at twice that offset. */
export const isMoreThanHalf = fnRedacted("isMoreThanHalf")(function* (count: number) {
  if (count === 0) return false
  const service = yield* ContactsService
  const beyond = yield* service.list({ limit: 1, offset: 2 * count - 1 })
  return beyond.length === 0
})
