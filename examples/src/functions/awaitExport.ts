import { ContactsService } from "@roster/domain"
import { awaitExport } from "@roster/workflows"
import { Effect } from "effect"

export const example = Effect.gen(function* () {
  const { id } = yield* (yield* ContactsService).export({ fileFormat: "Json" })
  yield* awaitExport(id, { limit: "5 minutes" })
})
