/**
 * Streams of all contacts, page by page, that stay complete while others add and delete, whatever the size of a page, and
 * their number.
 */
import { Effect, Fiber, Option, Stream } from "effect"
import type { Contact } from "../contacts/Contact.ts"
import { canonicalEmail } from "../contacts/EmailAddress.ts"
import { InvalidResponse, ServiceError, Unavailable } from "../errors/ServiceError.ts"
import { maximumContactsPerPage } from "./ContactsPage.ts"

const pageSize = maximumContactsPerPage

/** The stream remembers this number of contacts, by which it finds its place again. */
const remembered = 10 * pageSize

/** Identifies a contact; one that was deleted and added again has another date. */
interface Keyed {
  readonly email: string
  readonly added: number | undefined
}

const keyed = ({ dateAdded, email }: Contact): Keyed => ({ email, added: dateAdded?.epochMilliseconds })
const keyOf = ({ added, email }: Keyed): string => `${canonicalEmail(email)} ${added ?? ""}`

/** The contacts that were delivered last. */
class Delivered {
  /** Whether every existing contact up to the last one here was delivered, and is still remembered. */
  isComplete: boolean
  readonly #pages: Array<ReadonlyArray<Keyed>> = []
  #held = 0
  #count = 0
  /** The number of each contact by its key. Made when a contact has moved, since most lists stay as they are. */
  #numbers: Map<string, number> | undefined

  constructor(isComplete: boolean) {
    this.isComplete = isComplete
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** Whether a contact is the last one that was delivered, and nothing was seen to move so far. */
  isNext(contact: Contact): boolean {
    const last = this.#pages.at(-1)?.at(-1)
    return this.#numbers === undefined && last !== undefined && keyOf(keyed(contact)) === keyOf(last)
  }

  /** The number of each contact of a page in the order of delivery; `undefined` for others. */
  numbersOf(page: ReadonlyArray<Contact>): ReadonlyArray<number | undefined> {
    if (this.#numbers === undefined) {
      this.#numbers = new Map()
      let number = this.#count - this.#held
      for (const contact of this.#pages.flat()) this.#numbers.set(keyOf(contact), number++)
    }
    const numbers = this.#numbers
    return page.map((contact) => numbers.get(keyOf(keyed(contact))))
  }

  add(fresh: ReadonlyArray<Contact>): void {
    const page = fresh.map(keyed)
    this.#pages.push(page)
    if (this.#numbers !== undefined)
      for (const [i, key] of page.entries()) this.#numbers.set(keyOf(key), this.#count + i)
    this.#count += page.length
    this.#held += page.length
    for (;;) {
      const [oldest] = this.#pages
      if (oldest === undefined || this.#held - oldest.length < remembered) return
      this.#forget(1)
      this.isComplete = false
    }
  }

  /** Forgets the contacts, all of which were deleted, so that `isComplete` stays true for those to come. */
  gone(): void {
    if (this.#held < remembered - pageSize) return
    this.#forget(this.#pages.length)
  }

  #forget(pages: number): void {
    for (const key of this.#pages.splice(0, pages).flat()) {
      this.#held--
      this.#numbers?.delete(keyOf(key))
    }
  }
}

/** Where reading goes on. */
interface Place {
  /** The offset of the last contact that was delivered, if nothing has moved. */
  readonly offset: number
  /** Whether the contact at the offset was just seen there, by a service that gives one at a time. */
  readonly seen?: Contact | undefined
  /** How far the place has been moved back and forward since a contact was delivered. */
  readonly back: number
  readonly forward: number
}

const failed = (reason: ServiceError["reason"]) => Effect.fail(new ServiceError({ operation: "contactsGet", reason }))

const lost = failed(
  new Unavailable({
    detail:
      "the contacts that were read last have all been deleted or moved meanwhile, so that the next ones cannot be " +
      "found; read the list anew"
  })
)

const disorder = failed(
  new InvalidResponse({
    status: 200,
    detail: "its pages are not parts of one list, since their order changes or the offset is ignored"
  })
)

/**
 * Streams all contacts from an offset in constant memory, given a function that lists a page. A deletion moves later
 * contacts forward, so each page begins with the last contact of the page before; one that does not is looked for further
 * back. A page may be of any size, and its size may change. The next page is requested while a full one is used.
 *
 * Every contact that exists throughout is delivered once, or the stream fails: if more contacts were delivered than it
 * remembers and the last 10,000 of them have all been deleted, or if the service has no lasting order.
 */
export const streamPages = <E>(
  list: (page: { readonly limit: number; readonly offset: number }) => Effect.Effect<ReadonlyArray<Contact>, E>,
  offset = 0
): Stream.Stream<Contact, E | ServiceError> =>
  Stream.unwrap(
    Effect.gen(function* () {
      /** The request of the next page, and its result: a fiber would keep the result alive for too long. */
      let asking: Fiber.Fiber<void, E> | undefined
      let ahead: ReadonlyArray<Contact> = []
      /** The size of the largest page so far: more may come in one. */
      let largest = 0
      const delivered = new Delivered(offset === 0)
      yield* Effect.addFinalizer(() => (asking === undefined ? Effect.void : Fiber.interrupt(asking)))
      const read = (offset: number) =>
        Effect.map(list({ limit: pageSize, offset }), (page) => {
          largest = Math.max(largest, page.length)
          return page
        })
      const ask = Effect.fnUntraced(function* (offset: number) {
        const page = Effect.map(read(offset), (page) => {
          ahead = page
        })
        asking = yield* Effect.forkDetach(page, { startImmediately: true })
      })
      const take = Effect.fnUntraced(function* (offset: number) {
        if (asking === undefined) return yield* read(offset)
        yield* Fiber.join(asking)
        const page = ahead
        asking = undefined
        ahead = []
        return page
      })

      type Step = readonly [ReadonlyArray<Contact>, Option.Option<Place>]
      const end: Step = [[], Option.none()]
      const move = (place: Place, by: number) => {
        const next = {
          offset: Math.max(0, place.offset + by),
          back: place.back + Math.max(0, -by),
          forward: place.forward + (by === 0 ? 1 : Math.max(0, by))
        }
        // Others cannot have added or deleted as much as that.
        const isLost = next.forward > next.back + pageSize || next.back > 3 * (place.offset + place.back + pageSize)
        return isLost ? disorder : Effect.succeed<Step>([[], Option.some(next)])
      }
      const deliver = (fresh: ReadonlyArray<Contact>, offset: number, seen?: Contact): Step => {
        delivered.add(fresh)
        return [fresh, Option.some({ offset, seen, back: 0, forward: 0 })]
      }

      /**
       * Reads behind a contact where a page holds one. What comes is the next one if the contact is at the same place
       * before and after that: it can only have moved forward.
       */
      const stepBehind = Effect.fnUntraced(function* (place: Place, before: Contact) {
        const next = yield* read(place.offset + 1)
        const [after] = yield* read(place.offset)
        if (after === undefined || keyOf(keyed(after)) !== keyOf(keyed(before))) return yield* move(place, 0)
        const last = next.at(-1)
        if (last === undefined) return end
        const numbers = delivered.numbersOf(next)
        const fresh = next.filter((_, i) => numbers[i] === undefined)
        return fresh.length === 0 ? yield* move(place, next.length) : deliver(fresh, place.offset + next.length, last)
      })

      const step = Effect.fnUntraced(function* (place: Place) {
        const { offset, seen } = place
        if (seen !== undefined && largest === 1) return yield* stepBehind(place, seen)
        const full = largest
        const page = yield* take(offset)
        const [first] = page
        const goBack = move(place, -Math.max(1, largest - 1))
        if (first === undefined) return delivered.isEmpty || offset === 0 ? end : yield* goBack
        let fresh: ReadonlyArray<Contact>
        if (delivered.isEmpty) fresh = page
        else if (place.back === 0 && delivered.isNext(first)) fresh = page.slice(1)
        else {
          const numbers = delivered.numbersOf(page)
          const known = numbers.filter((number) => number !== undefined)
          if (known.some((number, i) => number < (known[i - 1] ?? 0))) return yield* disorder
          const begin = numbers.findIndex((number) => number !== undefined)
          // A contact before a remembered one may be new or long delivered. The contacts before it tell which.
          if (offset > 0 && (begin === -1 || (begin > 0 && place.back === 0))) return yield* goBack
          const isWhole = offset === 0 && delivered.isComplete
          if (begin === -1) {
            if (!isWhole) return yield* lost
            delivered.gone()
          }
          fresh = page.filter((_, i) => numbers[i] === undefined && (isWhole || i > begin))
        }
        if (fresh.length === 0) {
          if (page.length > 1) return yield* move(place, page.length - 1)
          return largest > 1 ? end : yield* stepBehind(place, first)
        }
        const last = offset + page.length - 1
        if (page.length === pageSize || (page.length === full && full > 1)) yield* ask(last)
        return deliver(fresh, last)
      })
      return Stream.paginate<Place, Contact, E | ServiceError>({ offset, back: 0, forward: 0 }, step)
    })
  )

/** No service has as many contacts. */
const mostContacts = 2 ** 40

/**
 * Counts contacts, given a function that lists a page: by some 20 pages for each power of a thousand, since those are looked
 * for between which the list ends. While others add and delete, it is a number that was true on the way.
 */
export const countPages = Effect.fnUntraced(function* <E>(
  list: (page: { readonly limit: number; readonly offset: number }) => Effect.Effect<ReadonlyArray<Contact>, E>
) {
  const has = (count: number) => Effect.map(list({ limit: 1, offset: count - 1 }), (page) => page.length > 0)
  // There are at least `least` contacts, and fewer than `beyond`.
  let least = (yield* list({ limit: pageSize, offset: 0 })).length
  let beyond = least + 1
  while (least > 0 && (yield* has(beyond))) {
    if (beyond > mostContacts) return yield* disorder
    least = beyond
    beyond *= 2
  }
  while (beyond - least > 1) {
    const middle = Math.floor((least + beyond) / 2)
    if (yield* has(middle)) least = middle
    else beyond = middle
  }
  return least
})
