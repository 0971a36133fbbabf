import { ContactsService } from "@roster/domain"
import { Effect, Layer } from "effect"

/** A layer of one's own: it notes who is changed before it passes the change on. Programs have no way around it. */
export const audited = (note: (emails: ReadonlyArray<string>) => Effect.Effect<void>) =>
  Layer.effect(
    ContactsService,
    Effect.map(ContactsService, (contacts) =>
      ContactsService.of({
        ...contacts,
        change: (changes, options) =>
          options?.dryRun === true
            ? contacts.change(changes, options)
            : Effect.andThen(note(changes.map(({ email }) => email)), contacts.change(changes, options))
      })
    )
  )
