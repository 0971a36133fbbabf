/**
 * All contacts, a page at a time in constant memory. Contacts are listed in the order in which they were added, so new
 * ones come at the end; a deleted one moves those behind it forward, which is noticed, since each page begins with the
 * last contact of the page before. A full page is most likely not the last one, so the next is asked for while its contacts
 * are used. Every contact that is there all the time is delivered once, unless a whole page of
 * contacts is deleted, at once or bit by bit, at the very place where the reading is; whoever comes or goes meanwhile may be there or not.
 */
import { Effect, Fiber, Option, Stream } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import { maximumContactsPerPage } from "./ContactsService.ts"
import { canonicalEmail } from "../values/EmailAddress.ts"

const pageSize = maximumContactsPerPage

interface Place {
  /** Where the next page begins: at the last contact that was delivered. */
  readonly offset: number
  /** Those that were delivered last, a page of them. */
  readonly delivered: ReadonlyArray<Keyed>
}

/** What tells contacts apart: of one that was deleted and added again, which stands at the end now, the date is another. */
interface Keyed {
  readonly email: string
  readonly added: number | undefined
}

const keyed = ({ dateAdded, email }: Contact): Keyed => ({ email, added: dateAdded?.epochMilliseconds })
const keyOf = ({ added, email }: Keyed): string => `${canonicalEmail(email)} ${added ?? ""}`

/** How many of a page have been delivered, and what stands before those. */
const overlapOf = (page: ReadonlyArray<Contact>, delivered: ReadonlyArray<Keyed>): number => {
  const [first, last] = [page[0], delivered.at(-1)]
  if (first === undefined || last === undefined) return 0
  // Nothing has moved: what is behind the last one is new.
  if (keyOf(keyed(first)) === keyOf(last)) return 1
  const seen = new Set(delivered.map(keyOf))
  return page.findLastIndex((contact) => seen.has(keyOf(keyed(contact)))) + 1
}

export const streamPages = <E>(
  list: (page: { readonly limit: number; readonly offset: number }) => Effect.Effect<ReadonlyArray<Contact>, E>,
  offset = 0
): Stream.Stream<Contact, E> =>
  Stream.unwrap(
    Effect.gen(function* () {
      /** Asks for the next page, and where it is put: what ends long after it began, such as a fiber, outlives its page. */
      let asking: Fiber.Fiber<void, E> | undefined
      let ahead: ReadonlyArray<Contact> = []
      yield* Effect.addFinalizer(() => (asking === undefined ? Effect.void : Fiber.interrupt(asking)))
      const ask = Effect.fnUntraced(function* ({ offset }: Place) {
        const page = Effect.map(list({ limit: pageSize, offset }), (page) => {
          ahead = page
        })
        asking = yield* Effect.forkDetach(page, { startImmediately: true })
      })
      const take = Effect.fnUntraced(function* ({ offset }: Place) {
        if (asking === undefined) return yield* list({ limit: pageSize, offset })
        yield* Fiber.join(asking)
        const page = ahead
        asking = undefined
        ahead = []
        return page
      })
      const step = Effect.fnUntraced(function* (place: Place) {
        const { delivered, offset } = place
        const page = yield* take(place)
        const to = (fresh: ReadonlyArray<Contact>, next?: Place) => [fresh, Option.fromUndefinedOr(next)] as const
        const overlap = overlapOf(page, delivered)
        // Nothing of the page before is here: it has moved forward. Further back stands what is left of it.
        if (overlap === 0 && delivered.length > 0 && offset > 0) {
          return to([], { offset: Math.max(0, offset - pageSize + 1), delivered })
        }
        const fresh = page.slice(overlap)
        // Not a short page is the end but one with nothing new: a service may give fewer than were asked for.
        if (fresh.length === 0) return to([])
        const next = {
          offset: offset + page.length - 1,
          delivered: [...delivered, ...fresh.map(keyed)].slice(-pageSize)
        }
        if (page.length === pageSize) yield* ask(next)
        return to(fresh, next)
      })
      return Stream.paginate<Place, Contact, E>({ offset, delivered: [] }, step)
    })
  )
