import { previewUndo, RunLog } from "@roster/workflows"
import { Console, Effect } from "effect"

export const example = Effect.gen(function* () {
  const [newest] = yield* (yield* RunLog).list
  if (newest === undefined) return undefined
  return yield* previewUndo(newest.header.id, {
    onContacts: (contacts) => Console.error(contacts.map(({ step }) => step).join(" "))
  })
})
