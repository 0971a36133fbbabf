/** Streams of all contacts, page by page, that stay complete while others add and delete. */
import { Effect, Fiber, Option, Stream } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import { maximumContactsPerPage } from "./ContactsPage.ts"
import { canonicalEmail } from "../contacts/EmailAddress.ts"

const pageSize = maximumContactsPerPage

interface Place {
  /** The offset of the next page, which is that of the last contact delivered. */
  readonly offset: number
  /** The last page of contacts that were delivered. */
  readonly delivered: ReadonlyArray<Keyed>
}

/** Identifies a contact; one that was deleted and added again has another date. */
interface Keyed {
  readonly email: string
  readonly added: number | undefined
}

const keyed = ({ dateAdded, email }: Contact): Keyed => ({ email, added: dateAdded?.epochMilliseconds })
const keyOf = ({ added, email }: Keyed): string => `${canonicalEmail(email)} ${added ?? ""}`

/** The number of contacts of a page up to the last one that was delivered. */
const overlapOf = (page: ReadonlyArray<Contact>, delivered: ReadonlyArray<Keyed>): number => {
  const [first, last] = [page[0], delivered.at(-1)]
  if (first === undefined || last === undefined) return 0
  // Nothing has moved: everything after the first one is new.
  if (keyOf(keyed(first)) === keyOf(last)) return 1
  const seen = new Set(delivered.map(keyOf))
  return page.findLastIndex((contact) => seen.has(keyOf(keyed(contact)))) + 1
}

/**
 * Streams all contacts from an offset in constant memory, given a function that lists a page. A deletion moves later
 * contacts forward, so each page begins with the last contact of the page before. The next page is requested while a
 * full page is used.
 *
 * Every contact that exists throughout is delivered once, unless a whole page is deleted at the very place of reading.
 */
export const streamPages = <E>(
  list: (page: { readonly limit: number; readonly offset: number }) => Effect.Effect<ReadonlyArray<Contact>, E>,
  offset = 0
): Stream.Stream<Contact, E> =>
  Stream.unwrap(
    Effect.gen(function* () {
      /** The request of the next page, and its result, which the fiber would keep alive for too long. */
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
        // The previous page has moved forward: step back to find its rest.
        if (overlap === 0 && delivered.length > 0 && offset > 0) {
          return to([], { offset: Math.max(0, offset - pageSize + 1), delivered })
        }
        const fresh = page.slice(overlap)
        // Stop at a page without new contacts; services may return short pages.
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
