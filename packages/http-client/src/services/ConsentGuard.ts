/**
 * Adds that resubscribe nobody: a service that honours the header decides for each contact; at any other the contacts are
 * read first, and the status is left out where it would resubscribe. (docs/decisions/upsert.md)
 */
import {
  beforeWriting,
  canonicalEmail,
  type Contact,
  type ContactNotFound,
  type ContactPayload,
  type InvalidInput,
  isMailedStatus,
  type KeptStatus,
  keptStatuses,
  type ServiceError,
  statusAfter
} from "@roster/domain"
import { Effect, Predicate } from "effect"
import type { Said } from "../calls/RosterHttpApi.ts"

/** Contacts that one call reads at one time: eight adds at once stay below the 20 connections of the public service. */
export const readsAtOnce = 2

/** The contacts of an add, as they may be sent. */
interface GuardedContacts {
  readonly contacts: ReadonlyArray<ContactPayload>
  /** Whether the service itself has to keep statuses, and its answer says which. */
  readonly isAsked: boolean
  /** The contacts whose status was left out. */
  readonly kept: ReadonlyArray<KeptStatus>
}

const guardedByService = (contacts: ReadonlyArray<ContactPayload>): GuardedContacts => ({
  contacts,
  isAsked: true,
  kept: []
})

/** Whether a contact gives a status. No schema has checked it yet. */
const hasStatus = (contact: ContactPayload): boolean =>
  Predicate.hasProperty(contact, "status") &&
  Predicate.isNotNullish(contact.status) &&
  Predicate.hasProperty(contact, "email") &&
  Predicate.isString(contact.email)

const mayResubscribe = (contact: ContactPayload): boolean => hasStatus(contact) && isMailedStatus(contact.status)

/** Makes the guard of a client. */
export const makeConsentGuard = (
  isHonoured: Said,
  get: (email: string) => Effect.Effect<Contact, ContactNotFound | InvalidInput | ServiceError>
) => {
  /** The status of a contact; `undefined` once the service says that it decides by itself. */
  const statusOf = (email: string): Effect.Effect<Contact["status"], ServiceError> =>
    Effect.suspend(() =>
      isHonoured.current ? Effect.undefined : Effect.map(beforeWriting(get(email)), ({ status }) => status)
    ).pipe(
      Effect.catchTags({
        ContactNotFound: () => Effect.undefined,
        // What is no address is refused by the add.
        InvalidInput: () => Effect.undefined,
        ServiceError: (error) => (isHonoured.current ? Effect.undefined : Effect.fail(error))
      })
    )

  const withoutResubscribing = Effect.fnUntraced(function* (contacts: ReadonlyArray<ContactPayload>) {
    const identities = new Set(contacts.filter(mayResubscribe).map(({ email }) => canonicalEmail(email)))
    const read = (identity: string) => Effect.map(statusOf(identity), (status) => [identity, status] as const)
    const statuses = new Map(yield* Effect.forEach(identities, read, { concurrency: readsAtOnce }))
    if (isHonoured.current) return guardedByService(contacts)
    const sent = contacts.map((contact) => {
      if (!hasStatus(contact)) return contact
      const { status, ...rest } = contact
      const identity = canonicalEmail(contact.email)
      const after = statusAfter({ status: statuses.get(identity) }, contact)
      if (after !== status) return rest
      // A later contact of the same address meets this status.
      statuses.set(identity, after)
      return contact
    })
    const stored = contacts.map((contact) => ({
      status: mayResubscribe(contact) ? statuses.get(canonicalEmail(contact.email)) : undefined
    }))
    return { contacts: sent, isAsked: false, kept: keptStatuses(contacts, stored) }
  })

  return (
    contacts: ReadonlyArray<ContactPayload>,
    resubscribe: boolean | undefined
  ): Effect.Effect<GuardedContacts, ServiceError> => {
    // The add refuses what is no list.
    const isNeeded = resubscribe === false && Array.isArray(contacts) && contacts.some(mayResubscribe)
    if (!isNeeded) return Effect.succeed({ contacts, isAsked: false, kept: [] })
    return isHonoured.current ? Effect.succeed(guardedByService(contacts)) : withoutResubscribing(contacts)
  }
}
