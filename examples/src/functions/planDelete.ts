import { ContactsService } from "@roster/domain"
import { planDelete } from "@roster/workflows"
import { Effect } from "effect"

export const example = Effect.gen(function* () {
  const plan = yield* planDelete((yield* ContactsService).stream({ rule: "status = Bounced" }))
  if (plan.summary.read > 100) return undefined
  return yield* plan.apply
})
