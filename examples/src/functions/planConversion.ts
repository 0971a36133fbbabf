import { ContactsService } from "@roster/domain"
import { planConversion } from "@roster/workflows"
import { Effect } from "effect"

export const example = Effect.gen(function* () {
  const contacts = (yield* ContactsService).stream({ rule: "'Kunde seit' != ''" })
  const plan = yield* planConversion(contacts, { "Kunde seit": "date:DD.MM.YYYY" })
  if ((plan.summary.valuesLeft ?? 0) > 0) return undefined
  return yield* plan.apply
})
