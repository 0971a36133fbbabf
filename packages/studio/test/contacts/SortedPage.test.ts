/** The orders of the contacts, page by page, while others write, and at a service that has none. */
import { assert, describe, it } from "@effect/vitest"
import { type ContactOrder, ContactsService, EmailAddress, InvalidInput, maximumSortedOffset } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Effect, Layer } from "effect"
import * as ContactAtoms from "../../src/contacts/ContactAtoms.ts"
import { readPage } from "../../src/contacts/SortedPage.ts"
import { lastFirst, pageSize } from "../../src/kit/Pager.tsx"
import { studioOn, studioStore } from "../StudioStore.ts"

const size = 25
const count = 110

const emailOf = (at: number) => EmailAddress.make(`c${String((at * 7) % count).padStart(3, "0")}@example.com`)

const arranged = Effect.gen(function* () {
  const store = yield* studioStore
  const contacts = yield* store.contacts
  yield* contacts.add(Array.from({ length: count }, (_, at) => ({ email: emailOf(at) })))
  for (const atom of [ContactAtoms.first, ContactAtoms.page]) yield* store.mount(atom)
  store.registry.set(pageSize, size)
  /** The addresses of the page at a place. */
  const pageAt = (first: number) =>
    Effect.suspend(() => {
      store.registry.set(ContactAtoms.first, first)
      return store.until(ContactAtoms.page, (read) =>
        read._tag === "Success" && !read.waiting && read.value.first === first
          ? read.value.contacts.map(({ email }) => email)
          : undefined
      )
    })
  return { ...store, contacts, pageAt }
})

const added = Array.from({ length: count }, (_, at) => String(emailOf(at)))
const inOrder: Readonly<Record<ContactOrder, ReadonlyArray<string>>> = {
  added,
  "-added": added.toReversed(),
  email: added.toSorted(),
  "-email": added.toSorted().toReversed()
}

describe("contacts in an order", () => {
  it.effect.each(["added", "-added", "email", "-email"] as const)("%s are read to the end and back", (sort) =>
    Effect.gen(function* () {
      const { pageAt, registry, result } = yield* arranged
      yield* result(ContactAtoms.count)
      registry.set(ContactAtoms.sort, sort)
      const expected = (first: number) => inOrder[sort].slice(first, first + size)
      for (const first of [0, 25, 50, 25, 0, lastFirst(count, size), 75, 50]) {
        assert.deepStrictEqual(yield* pageAt(first), expected(first))
      }
    })
  )

  it.effect(
    "go on behind who was shown last, whoever comes and goes before that, and begin again in another order",
    () =>
      Effect.gen(function* () {
        const { contacts, pageAt, registry, result } = yield* arranged
        yield* result(ContactAtoms.count)
        registry.set(ContactAtoms.sort, "-added")
        const expected = inOrder["-added"]
        assert.deepStrictEqual(yield* pageAt(0), expected.slice(0, 25))
        yield* contacts.add([{ email: EmailAddress.make("newer@example.com") }])
        yield* contacts.delete(expected[3] ?? "")
        assert.deepStrictEqual(yield* pageAt(25), expected.slice(25, 50))
        // Who stood at the edge is gone: the one before leads on.
        yield* contacts.delete(expected[49] ?? "")
        assert.deepStrictEqual(yield* pageAt(50), expected.slice(50, 75))
        registry.set(ContactAtoms.sort, "email")
        assert.strictEqual(registry.get(ContactAtoms.first), 0)
      })
  )

  it.effect("say why there is none at a service that has the order of adding alone", () =>
    Effect.gen(function* () {
      const issue = "this service lists contacts in the order in which they were added alone"
      const unsorted = Layer.effect(
        ContactsService,
        Effect.map(ContactsService, (service) =>
          ContactsService.of({
            ...service,
            list: (page) =>
              page?.sort === undefined ? service.list(page) : Effect.fail(new InvalidInput({ field: "sort", issue }))
          })
        )
      )
      const store = yield* studioOn(Layer.provideMerge(unsorted, Layer.fresh(layerMemory())))
      yield* store.mount(ContactAtoms.page)
      assert.strictEqual(yield* store.until(ContactAtoms.whyUnsorted, (reason) => reason), issue)
      const sorted = yield* studioStore
      yield* sorted.mount(ContactAtoms.whyUnsorted)
      yield* sorted.result(ContactAtoms.page)
      assert.isUndefined(sorted.registry.get(ContactAtoms.whyUnsorted))
    })
  )
})

describe("a page far from both ends", () => {
  const total = 1_000_000
  const emails = ["m@example.com", "n@example.com"]
  const asked = (first: number, from: number) => {
    const pages: Array<unknown> = []
    const list: ContactsService["Service"]["list"] = (page) =>
      Effect.sync(() => {
        pages.push(page)
        return [{ email: "l@example.com" }]
      })
    const getMany: ContactsService["Service"]["getMany"] = () => Effect.die("nobody is gone")
    return Effect.as(
      Effect.suspend(() =>
        readPage({ getMany, list }, { first, limit: 2, sort: "email", total }, {}, { first: from, emails })
      ),
      pages
    )
  }

  it.effect("is read by key from the one beside it, again from its first, and from the nearer end by place", () =>
    Effect.gen(function* () {
      const { length } = emails
      const middle = total / 2
      assert.deepStrictEqual(yield* asked(middle + length, middle), [{ limit: 2, sort: "email", after: emails[1] }])
      assert.deepStrictEqual(yield* asked(middle - length, middle), [{ limit: 2, sort: "-email", after: emails[0] }])
      assert.deepStrictEqual(yield* asked(middle, middle), [
        { limit: 1, sort: "-email", after: emails[0] },
        { limit: 2, sort: "email", after: "l@example.com" }
      ])
      assert.deepStrictEqual(yield* asked(middle, 0), [])
      assert.deepStrictEqual(yield* asked(maximumSortedOffset, 0), [
        { limit: 2, sort: "email", offset: maximumSortedOffset }
      ])
      assert.deepStrictEqual(yield* asked(total - 1, 0), [{ limit: 1, sort: "-email", offset: 0 }])
    })
  )
})
