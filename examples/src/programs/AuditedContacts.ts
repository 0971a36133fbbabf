import { ContactsService } from "@roster/domain"
import { Effect, Layer } from "effect"

/** A layer of one's own: it notes each call that writes before it passes the call on, as it was given. */
export const audited = (note: (method: string) => Effect.Effect<void>) =>
  Layer.effect(
    ContactsService,
    Effect.map(ContactsService, (contacts) => {
      const noted = <A, E>(method: string, call: Effect.Effect<A, E>) => Effect.andThen(note(method), call)
      return ContactsService.of({
        ...contacts,
        add: (...given) => noted("add", contacts.add(...given)),
        addWithoutAnswer: (...given) => noted("add", contacts.addWithoutAnswer(...given)),
        update: (...given) => noted("update", contacts.update(...given)),
        delete: (...given) => noted("delete", contacts.delete(...given)),
        deleteMany: (...given) => noted("deleteMany", contacts.deleteMany(...given)),
        import: (...given) => noted("import", contacts.import(...given)),
        change: (changes, options) =>
          options?.dryRun === true
            ? contacts.change(changes, options)
            : noted("change", contacts.change(changes, options))
      })
    })
  )
