/** The plan of one change to many contacts. It is applied, kept and undone as that of an import. */
import {
  type Contact,
  ContactUpdatePayload,
  fnRedacted,
  type InvalidInput,
  maximumChanges,
  validated
} from "@roster/domain"
import { type Effect, Stream, type Types } from "effect"
import type { RunLog } from "../runs/RunLog.ts"
import { type PlanCounts, type PlanOptions, writtenPlan } from "./ImportPlan.ts"
import type { ImportPlan } from "./PlanApplication.ts"

const readChanges = validated(ContactUpdatePayload)

/**
 * Plans to make the same change to each of some contacts, which were read. An empty text removes a field. The rows of the
 * plan are numbered in the order of the contacts.
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
  changes: ContactUpdatePayload,
  options: Pick<PlanOptions<ES>, "storage" | "onProgress"> = {}
): Effect.fn.Return<ImportPlan<ES>, E | ES | InvalidInput, R | RunLog> {
  const given = yield* readChanges(changes)
  const counts: Types.Mutable<PlanCounts> = { read: 0, invalid: 0, duplicates: 0, firstInvalid: [], causes: [] }
  const parts = Stream.map(Stream.grouped(contacts, maximumChanges), (some) =>
    some.map((contact) => {
      counts.read++
      return [
        { line: counts.read, contact: { email: contact.email, ...given } },
        { contact, lists: undefined }
      ] as const
    })
  )
  return yield* writtenPlan(parts, counts, options)
})
