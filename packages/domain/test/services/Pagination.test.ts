import { assert, describe, it } from "@effect/vitest"
import { Cause, DateTime, Effect, Exit, Schema, Stream } from "effect"
import type { Contact } from "../../src/contacts/Contact.ts"
import { ServiceError } from "../../src/errors/ServiceError.ts"
import { countPages, streamPages } from "../../src/services/Pagination.ts"

const long = process.env["ROSTER_LONG_RUN"] !== undefined

const Int = (minimum: number, maximum: number) => Schema.Int.check(Schema.isBetween({ minimum, maximum }))

/** What others do to the list between two of our pages. */
const Change = Schema.Union([
  Schema.Struct({ _tag: Schema.tag("Delete"), permille: Int(0, 1000), count: Int(0, 2000) }),
  Schema.Struct({ _tag: Schema.tag("Delete"), permille: Int(0, 1000), count: Int(1, 30) }),
  Schema.Struct({ _tag: Schema.tag("Append"), permille: Int(0, 0), count: Int(0, 1500) }),
  Schema.Struct({ _tag: Schema.tag("AddAgain"), permille: Int(0, 1000) }),
  Schema.Struct({ _tag: Schema.tag("Nothing"), permille: Int(0, 0) })
])
/** Contacts that come to be listed among others, as where a list is in the order of addresses. */
const Insert = Schema.Struct({ _tag: Schema.tag("Insert"), permille: Int(0, 1000) })

const nothing = { _tag: "Nothing", permille: 0 } as const

/** The same contacts in an order that looks random. */
const shuffled = <A>(all: ReadonlyArray<A>, seed: number): ReadonlyArray<A> => {
  let state = seed
  const next = () => (state = (state * 48_271) % 2_147_483_647)
  return all
    .map((one) => [next(), one] as const)
    .sort(([x], [y]) => x - y)
    .map(([, one]) => one)
}

/** A list of contacts in the order of adding; a page has at most `most`. */
const listOf = (initial: number, most = 1000) => {
  const contacts = Array.from({ length: initial }, (_, i) => ({ email: `c${i}@example.com` }))
  const list = ({ limit, offset }: { readonly limit: number; readonly offset: number }) =>
    Effect.sync(() => contacts.slice(offset, offset + Math.min(limit, most)))
  return { list, initial: contacts.map((contact) => contact.email) }
}

const emailsOf = <E>(stream: Stream.Stream<{ readonly email: string }, E>) =>
  Effect.map(Stream.runCollect(stream), (contacts) => contacts.map((contact) => contact.email))

describe("streamPages", () => {
  it.effect.each([0, 1, 20, 999, 1000, 1001, 1999, 2000, 2001])("gives all of %i contacts once, in order", (count) =>
    Effect.gen(function* () {
      const { initial, list } = listOf(count)
      assert.deepStrictEqual(yield* emailsOf(streamPages(list)), initial)
    })
  )

  it.effect("continues after a short page", () =>
    Effect.gen(function* () {
      const { initial, list } = listOf(150, 20)
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
      const { list } = listOf(1500)
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
      const { list } = listOf(2500)
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

  /** Reads a list that changes by each request, and gives what came, or why it ended. */
  const readWhile = Effect.fnUntraced(function* (options: {
    readonly count: number
    readonly cap: (request: number) => number
    readonly changes: ReadonlyArray<typeof Change.Type | typeof Insert.Type>
    readonly isDated: boolean
    readonly newestFirst?: boolean
  }) {
    const { cap, changes, count, isDated, newestFirst = false } = options
    let number = 0
    const made = (email = `c${number}@example.com`): Contact => ({
      email,
      ...(isDated ? { dateAdded: DateTime.makeUnsafe(number++) } : (number++, {}))
    })
    let contacts: ReadonlyArray<Contact> = Array.from({ length: count }, () => made())
    let throughout = new Set(contacts)
    let requests = 0
    const seen: Array<Contact> = []
    const list = ({ limit, offset }: { readonly limit: number; readonly offset: number }) =>
      Effect.sync(() => {
        const listed = newestFirst ? contacts.toReversed() : contacts
        const page = listed.slice(offset, offset + Math.min(limit, cap(requests)))
        const change = changes[requests++]
        const at = change === undefined ? 0 : Math.floor((contacts.length * change.permille) / 1000)
        if (change?._tag === "Delete") {
          contacts = contacts.toSpliced(at, change.count)
          const left = new Set(contacts)
          throughout = new Set([...throughout].filter((contact) => left.has(contact)))
        } else if (change?._tag === "Append")
          contacts = [...contacts, ...Array.from({ length: change.count }, () => made())]
        else if (change?._tag === "AddAgain") {
          const again = contacts[at]
          if (again !== undefined) {
            contacts = [...contacts.toSpliced(at, 1), made(again.email)]
            throughout.delete(again)
          }
        } else if (change?._tag === "Insert") contacts = contacts.toSpliced(at, 0, made())
        return page
      })
    const exit = yield* streamPages(list).pipe(
      Stream.runForEach((contact) => Effect.sync(() => seen.push(contact))),
      Effect.timeout("1 minute"),
      Effect.exit
    )
    const delivered = new Set(seen)
    return {
      exit,
      requests,
      missed: [...throughout].filter((contact) => !delivered.has(contact)).map(({ email }) => email),
      twice: seen.length - delivered.size
    }
  })

  const caps = [1, 2, 3, 20, 100, 250, 1000]

  it.effect.each(caps)("gives all of 1658 contacts once where a page holds %i", (most) =>
    Effect.gen(function* () {
      for (const isDated of [true, false]) {
        const { exit, missed, requests, twice } = yield* readWhile({
          count: 1658,
          cap: () => most,
          changes: [],
          isDated
        })
        assert.deepStrictEqual([exit, missed, twice], [Exit.void, [], 0])
        assert.isAtMost(requests, most === 1 ? 2 * 1658 + 2 : Math.ceil(1657 / (most - 1)) + 1)
      }
    })
  )

  it.effect.prop(
    "gives every contact that is there all the time once and ends, at any size of a page, whoever comes and goes",
    [Int(0, 4000), Schema.Literals(caps), Schema.Array(Change), Schema.Boolean],
    ([count, most, changes, varies]) =>
      Effect.gen(function* () {
        const { exit, missed, twice } = yield* readWhile({
          count: most === 1 ? Math.min(count, 300) : count,
          // Some services fill a page by bytes.
          cap: (request) => (varies && most > 2 ? Math.max(2, Math.ceil(most / (1 + (request % 3)))) : most),
          changes: changes.flatMap((change) => [change, ...Array.from({ length: 3 }, () => nothing)]),
          isDated: true
        })
        assert.deepStrictEqual([exit, missed, twice], [Exit.void, [], 0])
      }),
    { arbitrary: { runs: long ? 1000 : 60 } }
  )

  it.effect.prop(
    "gives every contact that is there all the time once, or fails, in any lasting order, dated or not",
    [
      Int(0, 2500),
      Schema.Literals(caps.slice(1)),
      Schema.Array(Schema.Union([Change, Insert])),
      Schema.Boolean,
      Schema.Boolean
    ],
    ([count, most, changes, newestFirst, isDated]) =>
      Effect.gen(function* () {
        const { exit, missed, twice } = yield* readWhile({ count, cap: () => most, changes, newestFirst, isDated })
        if (Exit.isSuccess(exit)) assert.deepStrictEqual([missed, twice], [[], 0])
        else assert.instanceOf(Cause.squash(exit.cause), ServiceError)
      }),
    { arbitrary: { runs: long ? 1000 : 60 } }
  )

  it.effect("delivers nobody again where the last contact is found further ahead", () =>
    Effect.gen(function* () {
      const { exit, twice } = yield* readWhile({
        count: 3,
        cap: () => 250,
        changes: [
          { _tag: "Delete", permille: 667, count: 1 },
          { _tag: "AddAgain", permille: 0 }
        ],
        isDated: false,
        newestFirst: true
      })
      assert.deepStrictEqual([Exit.isFailure(exit), twice], [true, 0])
    })
  )

  it.effect.each([
    ["in another order each time", [20, 100, 250, 1000], shuffled],
    ["from the beginning at any offset", caps, (all: ReadonlyArray<Contact>) => all]
  ] as const)("fails, and says so, where a service lists %s", ([, sizes, ordered]) =>
    Effect.gen(function* () {
      const all = Array.from({ length: 1658 }, (_, i): Contact => ({ email: `c${i}@example.com` }))
      for (const most of sizes) {
        let requests = 0
        const error = yield* streamPages(({ limit, offset }) =>
          Effect.sync(() => {
            const from = ordered === shuffled ? offset : 0
            return ordered(all, ++requests).slice(from, from + Math.min(limit, most))
          })
        ).pipe(Stream.runDrain, Effect.flip)
        assert.include(error.message, "its pages are not parts of one list")
        assert.isAtMost(requests, 5000)
      }
    })
  )

  it.effect("goes on where everything that came is deleted by those who read it", () =>
    Effect.gen(function* () {
      for (const [most, group] of [
        [1000, 1],
        [1000, 1000],
        [1000, 3000],
        [250, 700],
        [20, 50]
      ] as const) {
        let left = Array.from({ length: group === 1 ? 2500 : 25_000 }, (_, i): Contact => ({
          email: `c${i}@example.com`
        }))
        const list = (page: { readonly limit: number; readonly offset: number }) =>
          Effect.sync(() => left.slice(page.offset, page.offset + Math.min(page.limit, most)))
        yield* streamPages(list).pipe(
          Stream.grouped(group),
          Stream.runForEach((some) =>
            Effect.sync(() => {
              const gone = new Set<Contact>(some)
              left = left.filter((contact) => !gone.has(contact))
            })
          )
        )
        assert.deepStrictEqual(left, [], `${most} by ${group}`)
      }
    })
  )

  it.effect("fails, and says so, where more contacts are deleted at the place of reading than it remembers", () =>
    Effect.gen(function* () {
      let contacts = Array.from({ length: 20_000 }, (_, i): Contact => ({ email: `c${i}@example.com` }))
      const error = yield* streamPages(({ limit, offset }) =>
        Effect.sync(() => {
          if (offset > 14_000) contacts = [...contacts.slice(0, 10), ...contacts.slice(-10)]
          return contacts.slice(offset, offset + limit)
        })
      ).pipe(Stream.runDrain, Effect.flip)
      assert.include(error.message, "read the list anew")
    })
  )
})

describe("countPages", () => {
  it.effect.each([0, 1, 2, 999, 1000, 1001, 1999, 2000, 2001, 5003])("counts %i, whatever a page holds", (count) =>
    Effect.gen(function* () {
      for (const most of [1, 7, 1000]) {
        let pages = 0
        const { list } = listOf(count, most)
        assert.strictEqual(
          yield* countPages((page) => Effect.tap(list(page), () => Effect.sync(() => void pages++))),
          count
        )
        assert.isAtMost(pages, 30)
      }
    })
  )

  it.effect("fails where the offset is ignored", () =>
    Effect.gen(function* () {
      const { list } = listOf(3)
      const error = yield* Effect.flip(countPages((page) => list({ ...page, offset: 0 })))
      assert.include(error.message, "the offset is ignored")
    })
  )
})
