import { ContactsService } from "@roster/domain"
import { checkNewFields, planUpdate } from "@roster/workflows"
import { Effect } from "effect"

const customFields = { city: "Bonn" }

export const example = Effect.gen(function* () {
  const made = yield* checkNewFields(Object.keys(customFields))
  yield* Effect.log(`New fields: ${made.join(", ")}`)
  return yield* planUpdate((yield* ContactsService).stream({ rule: "city = 'Koeln'" }), { customFields })
})
