/** A cheap request that shows whether a service takes a key. */
import { ContactsService } from "@roster/domain"
import { Effect } from "effect"

/** What becomes of a key. One that may not read contacts is valid, too. */
export const checkKey = ContactsService.use((contacts) => contacts.list({ limit: 1 })).pipe(
  Effect.as("accepted"),
  Effect.catchReason("ServiceError", "AccessDenied", () => Effect.succeed("accepted, but it may not read contacts")),
  Effect.catchTags({ InvalidInput: Effect.die, InvalidRule: Effect.die })
)
