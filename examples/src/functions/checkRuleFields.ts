import { ContactsService } from "@roster/domain"
import { checkRuleFields, planDelete } from "@roster/workflows"
import { Effect } from "effect"

const rule = "city = 'Bonn'"

export const example = Effect.gen(function* () {
  yield* checkRuleFields(rule)
  return yield* planDelete((yield* ContactsService).stream({ rule }))
})
