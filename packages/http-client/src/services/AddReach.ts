/**
 * Adds that reach only new or existing contacts, or give new ones a status. A service that announces it decides within its
 * transaction; at any other the client reads the contacts first, so that who is added in between goes unnoticed.
 * (docs/decisions/upsert.md)
 */
import {
  type AddMode,
  canonicalEmail,
  type Contact,
  type ContactNotFound,
  ContactPayload,
  type InvalidInput,
  type ServiceError
} from "@roster/domain"
import { leavesOut, validated } from "@roster/domain/internal"
import { Effect, Schema } from "effect"
import { readBefore } from "./ConsentGuard.ts"

/** The contacts of an add that are sent. */
interface Reached {
  readonly contacts: ReadonlyArray<ContactPayload>
  /** What the service is to decide itself. */
  readonly mode: AddMode
  /** The place of one that is sent in the add. */
  readonly placeOf: (index: number) => number
  /** The answer to the whole add: with those that were left out, as they are. */
  readonly whole: (answered: ReadonlyArray<Contact>) => ReadonlyArray<Contact>
}

const readPayloads = validated(Schema.Array(ContactPayload))

/** Makes the function that finds what an add reaches; `isHonoured` says whether the service announces that it decides. */
export const makeAddReach = (
  isHonoured: Effect.Effect<boolean, ServiceError>,
  get: (email: string) => Effect.Effect<Contact, ContactNotFound | InvalidInput | ServiceError>
) => {
  return Effect.fnUntraced(function* (
    given: ReadonlyArray<ContactPayload>,
    { defaultStatus, only }: AddMode
  ): Effect.fn.Return<Reached, InvalidInput | ServiceError> {
    const mode = { only, defaultStatus }
    const asItIs = {
      contacts: given,
      placeOf: (index: number) => index,
      whole: (answered: ReadonlyArray<Contact>) => answered
    }
    if (only === undefined && defaultStatus === undefined) return { ...asItIs, mode: {} }
    if (yield* isHonoured) return { ...asItIs, mode }
    // One that would be left out is refused too.
    const payloads = yield* readPayloads(given)
    const stored = yield* readBefore(payloads, get)
    const begun = new Set<string>()
    const contacts: Array<ContactPayload> = []
    const places: Array<number> = []
    const left = new Map<number, Contact>()
    payloads.forEach((contact, place) => {
      const identity = canonicalEmail(contact.email)
      const now = stored.get(identity) ?? null
      if (leavesOut({ only }, now !== null)) {
        left.set(place, now ?? { email: contact.email })
        return
      }
      const isDefault = now === null && contact.status === undefined && !begun.has(identity)
      begun.add(identity)
      contacts.push(isDefault && defaultStatus !== undefined ? { ...contact, status: defaultStatus } : contact)
      places.push(place)
    })
    return {
      contacts,
      mode: {},
      placeOf: (index) => places[index] ?? index,
      whole: (answered) => {
        const sent = answered.values()
        return payloads.flatMap((_, place) => left.get(place) ?? sent.next().value ?? [])
      }
    }
  })
}
