import { ContactsService } from "@roster/domain"
import { Effect } from "effect"

export const welcome = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const [added] = yield* contacts.add([{ email: "ada@example.com", firstName: "Ada" }], {
    listNames: ["newsletter"]
  })
  return added?.status
}).pipe(Effect.catchReason("ServiceError", "RateLimited", () => Effect.succeed("try again later" as const)))
