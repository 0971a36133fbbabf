import { ContactsService, OutcomeUnknown, ServiceError } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Effect, type Layer, ManagedRuntime } from "effect"

/** Ends a write that its caller aborts with an error that says so. Outermost, as Effect skips the handlers around it. */
const orUnknown = (operation: string) => {
  const detail = "its caller aborted it"
  const recovery = "Make the same call with the same idempotencyKey within an hour: it is carried out once."
  const error = new ServiceError({ operation, reason: new OutcomeUnknown({ detail, recovery }) })
  return Effect.onInterrupt(() => Effect.fail(error))
}

/** Contacts as promises, which reject with the tagged errors. */
export const contactsOf = <E>(services: Layer.Layer<ContactsService, E>) => {
  const runtime = ManagedRuntime.make(services)
  return {
    add: (email: string, { idempotencyKey, signal }: { idempotencyKey?: string; signal?: AbortSignal } = {}) =>
      runtime.runPromise(
        ContactsService.use((contacts) => contacts.add([{ email }], { idempotencyKey })).pipe(
          orUnknown("contactsPost")
        ),
        { signal }
      ),
    find: (email: string) => runtime.runPromise(ContactsService.use((contacts) => contacts.get(email))),
    close: () => runtime.dispose()
  }
}

/** Those of a store file. */
export const openContacts = (filename: string) => contactsOf(SqlServices.layer({ filename }))
