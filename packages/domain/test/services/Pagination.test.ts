import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema, Stream } from "effect"
import type { Contact } from "../../src/contacts/Contact.ts"
import { streamPages } from "../../src/services/Pagination.ts"

const long = process.env["ROSTER_LONG_RUN"] !== undefined

const Int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** What others do to the list between two of our pages. A run of 1000 at one place would be a page, which is not promised. */
const Change = Schema.Union([
  Schema.Struct({ _tag: Schema.tag("Delete"), permille: Int(0, 1000), count: Int(0, 999) }),
  Schema.Struct({ _tag: Schema.tag("Append"), count: Int(0, 1500) }),
  Schema.Struct({ _tag: Schema.tag("Nothing") })
])

/** A list of contacts in the order of adding, which changes after each page as it is told; a page has at most `most`. */
const listOf = (initial: number, changes: ReadonlyArray<typeof Change.Type>, most = 1000) => {
  let contacts = Array.from({ length: initial }, (_, i) => ({ email: `c${i}@example.com` }))
  let added = initial
  let pages = 0
  const list = ({ limit, offset }: { readonly limit: number; readonly offset: number }) =>
    Effect.sync(() => {
      const page = contacts.slice(offset, offset + Math.min(limit, most))
      const change = changes[pages++]
      if (change?._tag === "Delete") {
        const at = Math.floor((contacts.length * change.permille) / 1000)
        contacts = contacts.toSpliced(at, change.count)
      } else if (change?._tag === "Append") {
        contacts = [...contacts, ...Array.from({ length: change.count }, () => ({ email: `c${added++}@example.com` }))]
      }
      return page
    })
  return {
    list,
    left: () => contacts.map((contact) => contact.email),
    initial: contacts.map((contact) => contact.email)
  }
}

const emailsOf = <E>(stream: Stream.Stream<{ readonly email: string }, E>) =>
  Effect.map(Stream.runCollect(stream), (contacts) => contacts.map((contact) => contact.email))

describe("streamPages", () => {
  it.effect.each([0, 1, 20, 999, 1000, 1001, 1999, 2000, 2001])("gives all of %i contacts once, in order", (count) =>
    Effect.gen(function* () {
      const { initial, list } = listOf(count, [])
      assert.deepStrictEqual(yield* emailsOf(streamPages(list)), initial)
    })
  )

  it.effect("continues after a short page", () =>
    Effect.gen(function* () {
      const { initial, list } = listOf(150, [], 20)
      assert.deepStrictEqual(yield* emailsOf(streamPages(list)), initial)
    })
  )

  it.effect("loses no contact if one is deleted and added again meanwhile", () =>
    Effect.gen(function* () {
      const added =
        (date: string) =>
        (_: unknown, i: number): Contact => ({
          email: `c${i}@example.com`,
          dateAdded: DateTime.makeUnsafe(date)
        })
      const before = Array.from({ length: 1500 }, added("2024-01-01"))
      const after = [...before.toSpliced(5, 1), added("2024-01-02")(undefined, 5)]
      let pages = 0
      const seen = yield* emailsOf(
        streamPages(({ limit, offset }) =>
          Effect.sync(() => (pages++ === 0 ? before : after).slice(offset, offset + limit))
        )
      )
      const stayed = before.toSpliced(5, 1).map(({ email }) => email)
      assert.deepStrictEqual(
        seen.filter((email) => email !== "c5@example.com"),
        stayed
      )
    })
  )

  it.effect("fails where a page does, behind what came before", () =>
    Effect.gen(function* () {
      const { list } = listOf(1500, [])
      const seen: Array<string> = []
      const error = yield* streamPages((page) => (page.offset === 0 ? list(page) : Effect.fail("away"))).pipe(
        Stream.runForEach((contact) => Effect.sync(() => seen.push(contact.email))),
        Effect.flip
      )
      assert.deepStrictEqual([error, seen.length], ["away", 1000])
    })
  )

  it.effect("requests the next page while a full one is used, and none that is not needed", () =>
    Effect.gen(function* () {
      const { list } = listOf(2500, [])
      const asked: Array<number> = []
      const interrupted: Array<number> = []
      const slow = (page: { readonly limit: number; readonly offset: number }) =>
        Effect.suspend(() => {
          asked.push(page.offset)
          return page.offset === 0 ? list(page) : Effect.never
        }).pipe(Effect.onInterrupt(() => Effect.sync(() => interrupted.push(page.offset))))
      const askedMeanwhile: Array<number> = []
      yield* streamPages(slow).pipe(
        Stream.take(1000),
        Stream.runForEachArray(() => Effect.sync(() => askedMeanwhile.push(...asked)))
      )
      assert.deepStrictEqual({ askedMeanwhile, interrupted }, { askedMeanwhile: [0, 999], interrupted: [999] })
    })
  )

  it.effect.prop(
    "gives every contact that is there all the time once and in order, whoever comes and goes",
    [Int(0, 4000), Schema.Array(Change)],
    ([count, changes]) =>
      Effect.gen(function* () {
        const { initial, left, list } = listOf(count, changes)
        const seen: Array<string> = []
        // The pages so far, which are asked for ahead of those who see them.
        const given: Array<string> = []
        // What is not promised: the whole of the last page is deleted, at once or bit by bit.
        let isLost = false
        const watched = (page: { readonly limit: number; readonly offset: number }) =>
          Effect.suspend(() => {
            const there = new Set(left())
            if (given.length > 0 && !given.slice(-1000).some((email) => there.has(email))) isLost = true
            return Effect.tap(list(page), (contacts) =>
              Effect.sync(() => {
                const last = new Set(given.slice(-1000))
                const known = contacts.findLastIndex(({ email }) => last.has(email)) + 1
                // A page that has moved away is not given, but asked for again further back.
                if (known === 0 && given.length > 0 && page.offset > 0) return
                given.push(...contacts.slice(known).map(({ email }) => email))
              })
            )
          })
        yield* streamPages(watched).pipe(Stream.runForEach((contact) => Effect.sync(() => seen.push(contact.email))))
        if (isLost) return
        const numbers = seen.map((email) => Number(email.slice(1, email.indexOf("@"))))
        assert.deepStrictEqual(
          numbers,
          [...new Set(numbers)].sort((x, y) => x - y)
        )
        const delivered = new Set(seen)
        const stayed = new Set(left())
        assert.deepStrictEqual(
          initial.filter((email) => stayed.has(email) && !delivered.has(email)),
          []
        )
      }),
    { arbitrary: { runs: long ? 400 : 100 } }
  )
})
