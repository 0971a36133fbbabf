import { ContactsService } from "@roster/domain"
import { planUpdate } from "@roster/workflows"
import { Effect } from "effect"

export const example = Effect.gen(function* () {
  const contacts = (yield* ContactsService).stream({ rule: "city = 'Koeln'" })
  const plan = yield* planUpdate(contacts, { customFields: { city: "Köln" } })
  if (plan.summary.changed > 100) return undefined
  return yield* plan.apply
})
