import { readContacts } from "@roster/domain"
import { planImport } from "@roster/workflows"
import { Effect, Stream } from "effect"

const rows = readContacts(Stream.make(new TextEncoder().encode("email\nada@example.com\n")))

export const example = Effect.gen(function* () {
  const plan = yield* planImport(rows, { listNames: ["newsletter"] })
  if (plan.summary.changed > 100) return undefined
  return yield* plan.apply
})
