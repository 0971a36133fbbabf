/**
 * Adds that lower no status: a service that knows the ladder decides for each contact; at any other the contacts are read
 * first, and the status is left out where it would lower theirs. There Unsubscribed and Abuse are sent without reading.
 * (docs/decisions/upsert.md)
 */
import {
  beforeWriting,
  canonicalEmail,
  type Contact,
  type ContactChange,
  type ContactNotFound,
  type ContactPayload,
  type InvalidInput,
  type KeptStatus,
  keptStatuses,
  type Resubscribe,
  type ServiceError
} from "@roster/domain"
import { isEveryLifted, mayBeKept, statusAfter } from "@roster/domain/internal"
import { Effect, Predicate } from "effect"
import type { Said } from "../calls/RosterHttpApi.ts"

/** Contacts that one call reads at one time: eight adds at once stay below the 20 connections of the public service. */
const readsAtOnce = 2

/** Reads contacts before a write of them: each by its canonical address, and `null` for one that is not there. */
export const readBefore = Effect.fnUntraced(function* <E>(
  contacts: Iterable<{ readonly email: string }>,
  get: (email: string) => Effect.Effect<Contact, ContactNotFound | E>
) {
  const read = ([identity, email]: readonly [string, string]) =>
    beforeWriting(get(email)).pipe(
      Effect.catchTag("ContactNotFound", () => Effect.succeed(null)),
      Effect.map((contact) => [identity, contact] as const)
    )
  const emails = new Map(Array.from(contacts, ({ email }) => [canonicalEmail(email), email] as const))
  return new Map(yield* Effect.forEach(emails, read, { concurrency: readsAtOnce }))
})

/** The contacts of an add, as they may be sent. */
interface GuardedContacts {
  readonly contacts: ReadonlyArray<ContactPayload>
  /** What a service that knows the ladder is to lift; it keeps statuses itself, and its answer says which. */
  readonly resubscribe: Resubscribe | undefined
  /** The contacts whose status was left out. */
  readonly kept: ReadonlyArray<KeptStatus>
}

/** Whether a contact gives a status. No schema has checked it yet. */
const hasStatus = (contact: ContactPayload): boolean =>
  Predicate.hasProperty(contact, "status") &&
  Predicate.isNotNullish(contact.status) &&
  Predicate.hasProperty(contact, "email") &&
  Predicate.isString(contact.email)

/** Makes the guard of a client. */
export const makeConsentGuard = (
  isHonoured: Said,
  get: (email: string) => Effect.Effect<Contact, ContactNotFound | InvalidInput | ServiceError>
) => {
  type Read = readonly [identity: string, contact: Pick<Contact, "status"> | null]
  /** A contact with its status, or `null`; `null` once the service says that it decides by itself. */
  const read = (identity: string): Effect.Effect<Read, ServiceError> =>
    Effect.suspend(() => (isHonoured.current ? Effect.succeed(null) : beforeWriting(get(identity)))).pipe(
      Effect.catchTags({
        ContactNotFound: () => Effect.succeed(null),
        // What is no address is refused by the add.
        InvalidInput: () => Effect.succeed(null),
        ServiceError: (error) => (isHonoured.current ? Effect.succeed(null) : Effect.fail(error))
      }),
      Effect.map((contact) => [identity, contact])
    )

  const guarded = Effect.fnUntraced(function* (
    contacts: ReadonlyArray<ContactPayload>,
    resubscribe: Resubscribe
  ): Effect.fn.Return<GuardedContacts, ServiceError> {
    const isDoubtful = (contact: ContactPayload) => hasStatus(contact) && mayBeKept(contact.status, resubscribe)
    const identities = new Set(contacts.filter(isDoubtful).map(({ email }) => canonicalEmail(email)))
    const stored = new Map(
      isHonoured.current ? [] : yield* Effect.forEach(identities, read, { concurrency: readsAtOnce })
    )
    // Before its first answer a service of ours may be one.
    if (isHonoured.current !== false) return { contacts, resubscribe, kept: [] }
    const after = contacts.map((contact) => {
      const identity = canonicalEmail(hasStatus(contact) ? contact.email : "")
      const before = stored.get(identity)
      if (before === undefined) return { status: undefined, contact }
      const { status: given, ...rest } = contact
      const status = statusAfter(before, { status: given, resubscribe })
      // A later contact of the same address meets this status.
      stored.set(identity, status === undefined ? {} : { status })
      return { status, contact: status === given ? contact : rest }
    })
    return {
      contacts: after.map(({ contact }) => contact),
      resubscribe: undefined,
      kept: keptStatuses(contacts, after)
    }
  })

  return (
    contacts: ReadonlyArray<ContactPayload>,
    resubscribe: Resubscribe | undefined
  ): Effect.Effect<GuardedContacts, ServiceError> =>
    // The add refuses what is no list.
    resubscribe !== undefined && Array.isArray(contacts) && contacts.some(hasStatus)
      ? guarded(contacts, resubscribe)
      : Effect.succeed({ contacts, resubscribe: undefined, kept: [] })
}

/** The contacts of an add that kept their status, by the answer of a service that knows the ladder. */
export const keptByService = keptStatuses

/** Whether the import of a service that does not know the ladder may be asked for: it decides by itself what it lifts. */
export const isLeftToService = (resubscribe: Resubscribe | undefined): boolean =>
  resubscribe === undefined || resubscribe === true || isEveryLifted(resubscribe)

/**
 * For a service that does not know the ladder of statuses: the status is decided here, which holds where the contact still is
 * as it was seen.
 */
export const decided = (change: ContactChange): ContactChange => {
  const { seen, write } = change
  if (write?.status === undefined) return change
  const { status, ...rest } = write
  const isKept = statusAfter(seen, write) !== status
  return { ...change, write: isKept ? rest : { ...write, resubscribe: true } }
}
