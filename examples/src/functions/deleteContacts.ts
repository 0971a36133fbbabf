import { ContactsService } from "@roster/domain"
import { deleteContacts } from "@roster/workflows"
import { Console, Effect } from "effect"

export const example = Effect.gen(function* () {
  const gone = (yield* ContactsService).stream({ rule: "status = Bounced" })
  return yield* deleteContacts(gone, { onProgress: (deleted) => Console.error(`${deleted} deleted`) })
})
