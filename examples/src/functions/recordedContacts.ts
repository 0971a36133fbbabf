import { recordedContacts, RunLog } from "@roster/workflows"
import { Effect } from "effect"

export const example = Effect.gen(function* () {
  const run = yield* (yield* RunLog).open({ command: "cleanup" })
  const contacts = yield* recordedContacts({ run })
  yield* contacts.add([{ email: "ada@example.com" }])
  yield* run.end
})
