import { ListsService } from "@roster/domain"
import { deleteListAsRun, undoRun } from "@roster/workflows"
import { Effect } from "effect"

export const example = Effect.gen(function* () {
  yield* ListsService.use((lists) => lists.create({ listName: "newsletter", emails: ["ada@example.com"] }))
  const { contacts, run } = yield* deleteListAsRun("newsletter")
  return contacts === 0 ? undefined : yield* undoRun(run)
})
