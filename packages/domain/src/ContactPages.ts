/**
 * All contacts, a page at a time in constant memory. Contacts are listed in the order in which they were added, so new
 * ones come at the end; a deleted one moves those behind it forward, which is noticed, since each page begins with the
 * last contact of the page before. Every contact that is there all the time is delivered once, unless a whole page of
 * contacts is deleted, at once or bit by bit, at the very place where the reading is; whoever comes or goes meanwhile may be there or not.
 */
import { Effect, Option, Stream } from "effect"
import type { Contact } from "./Contact.ts"
import { maximumContactsPerPage } from "./ContactsService.ts"
import { emailIdentity } from "./EmailAddress.ts"

const pageSize = maximumContactsPerPage

interface Place {
  /** Where the next page begins: at the last contact that was delivered. */
  readonly offset: number
  /** The addresses that were delivered last, a page of them. */
  readonly delivered: ReadonlyArray<string>
}

/** How many of a page have been delivered, and what stands before those. */
const overlapOf = (page: ReadonlyArray<Contact>, delivered: ReadonlyArray<string>): number => {
  const [first, last] = [page[0]?.email, delivered.at(-1)]
  if (first === undefined || last === undefined) return 0
  // Nothing has moved: what is behind the last one is new.
  if (emailIdentity(first) === emailIdentity(last)) return 1
  const seen = new Set(delivered.map(emailIdentity))
  return page.findLastIndex(({ email }) => seen.has(emailIdentity(email))) + 1
}

/**
 * @category streams
 * @since 0.1.0
 */
export const streamPages = <E>(
  list: (page: { readonly limit: number; readonly offset: number }) => Effect.Effect<ReadonlyArray<Contact>, E>,
  offset = 0
): Stream.Stream<Contact, E> =>
  Stream.paginate<Place, Contact, E>({ offset, delivered: [] }, ({ delivered, offset }) =>
    Effect.map(list({ limit: pageSize, offset }), (page) => {
      const overlap = overlapOf(page, delivered)
      // Nothing of the page before is here: it has moved forward. Further back stands what is left of it.
      if (overlap === 0 && delivered.length > 0 && offset > 0) {
        return [[], Option.some({ offset: Math.max(0, offset - pageSize + 1), delivered })]
      }
      const fresh = page.slice(overlap)
      // Not a short page is the end but one with nothing new: a service may give fewer than were asked for.
      if (fresh.length === 0) return [[], Option.none()]
      const latest = [...delivered, ...fresh.map(({ email }) => email)].slice(-pageSize)
      return [fresh, Option.some({ offset: offset + page.length - 1, delivered: latest })]
    })
  )
