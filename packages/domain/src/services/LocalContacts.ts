/** What only this package itself offers beside `ContactsService`: exact changes of contacts, as an ambient reference. */
import { Context, type Effect } from "effect"
import type { Contact, ContactPayload, TooManyContacts } from "../contacts/Contact.ts"
import type { InvalidInput } from "../errors/InvalidInput.ts"
import type { ServiceError } from "../errors/ServiceError.ts"
import type { AddOptions } from "./ContactsService.ts"

/** A contact as a store holds it, with what the interface does not show. */
export interface StoredContact {
  /** Its place in the order of all contacts. */
  readonly id: number
  /** The contact as the interface shows it. */
  readonly contact: Contact
  /** The names of its lists, in alphabetical order. */
  readonly lists: ReadonlyArray<string>
}

/** What a store in this process can do with contacts beyond the interface, which has no lists and sets no dates. */
export interface LocalContacts {
  /** Reads the contacts of these addresses, in their order. */
  readonly read: (
    emails: ReadonlyArray<string>
  ) => Effect.Effect<ReadonlyArray<StoredContact | undefined>, ServiceError>
  /** Adds contacts as `ContactsService.add` does, and gives what the store then holds of each. */
  readonly add: (
    contacts: ReadonlyArray<ContactPayload>,
    options: Omit<AddOptions, "idempotencyKey">
  ) => Effect.Effect<ReadonlyArray<StoredContact>, TooManyContacts | InvalidInput | ServiceError>
  /** Makes the contacts of these addresses exactly what is given, and creates those that are missing. */
  readonly write: (contacts: ReadonlyArray<StoredContact>) => Effect.Effect<void, ServiceError>
  /** Runs an effect in one transaction, in which calls of the services take part. */
  readonly atomically: <A, E, R>(effect: Effect.Effect<A, E, R>) => Effect.Effect<A, E | ServiceError, R>
}

/** The store in this process that the services are on (default: none, as over the network). */
export const LocalContacts = Context.Reference<LocalContacts | undefined>("@roster/domain/LocalContacts", {
  defaultValue: () => undefined
})
