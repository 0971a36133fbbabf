import { assert, describe, it } from "@effect/vitest"
import {
  ContactPayload,
  ContactsService,
  InvalidInput,
  OutcomeUnknown,
  Rejected,
  ServiceError,
  UnexpectedRedirect
} from "@roster/domain"
import { invalidInput } from "@roster/domain/internal"
import { Array as Arr, Effect, Layer, Record, Schema, Stream } from "effect"
import { Stopped } from "../../src/runs/Stopped.ts"
import { addAll, type AddProgress } from "../../src/upload/BulkAdd.ts"

/** A row of a table that is not ours. */
interface Customer {
  readonly id: number
  readonly mail: string
}

const customers = (count: number): ReadonlyArray<Customer> =>
  Array.from({ length: count }, (_, id) => ({ id, mail: id === 1777 ? "no mail" : `c${id}@example.com` }))
/** All outcomes, also where the service stopped it. */
const collected = <A, E, R>(outcomes: Stream.Stream<A, E | Stopped, R>) =>
  Stream.runCollect(
    Stream.catchIf(
      outcomes,
      (error): error is Stopped => error instanceof Stopped,
      () => Stream.empty
    )
  )
const toContact = ({ id, mail }: Customer) => ({ email: mail, customFields: { id: String(id) } })

/** Takes what has an @; a call that begins with this address loses its answer. */
const service = (failing?: string) =>
  Layer.mock(ContactsService)({
    addWithoutAnswer: Effect.fnUntraced(function* (given: Iterable<ContactPayload>) {
      const contacts = [...given]
      if (contacts[0]?.email === failing) {
        const reason = new OutcomeUnknown({ recovery: "look", detail: "cut" })
        return yield* new ServiceError({ operation: "contactsPost", reason })
      }
      const bad = contacts.findIndex(({ email }) => !email.includes("@"))
      if (bad >= 0) return yield* new InvalidInput({ field: `[${bad}].Email`, issue: "it has no @" })
      return { keptStatuses: [] }
    })
  })

describe("addAll over items of any kind", () => {
  it.effect("gives each outcome with its item, in order", () =>
    Effect.gen(function* () {
      const items = customers(2500)
      const outcomes = yield* Stream.runCollect(addAll(Stream.fromIterable(items), { toContact }))
      assert.deepStrictEqual(
        outcomes.map(({ item }) => item),
        items
      )
      const refused = outcomes.flatMap((outcome) =>
        outcome._tag === "Accepted"
          ? []
          : [[outcome._tag, outcome.item.id, outcome._tag === "Refused" && outcome.email]]
      )
      assert.deepStrictEqual<unknown>(refused, [["Refused", 1777, "no mail"]])
    }).pipe(Effect.provide(service()))
  )

  it.effect("sends as many at once as 8 MiB hold, whose outcomes keep their order", () =>
    Effect.gen(function* () {
      const sizes: Array<number> = []
      const counting = Layer.mock(ContactsService)({
        addWithoutAnswer: (given: Iterable<ContactPayload>) =>
          Effect.sync(() => {
            sizes.push(JSON.stringify([...given].map(({ customFields, email }) => ({ email, customFields }))).length)
            return { keptStatuses: [] }
          })
      })
      const large = (count: number, length: number) =>
        addAll(Stream.fromIterable(customers(count)), {
          toContact: ({ mail }) => ({ email: mail, customFields: { note: "x".repeat(length) } })
        })
      const outcomes = yield* Stream.runCollect(large(1500, 30_000)).pipe(Effect.provide(counting))
      assert.deepStrictEqual(
        outcomes.map(({ _tag, item }) => [_tag, item.mail]),
        customers(1500).map(({ mail }) => ["Accepted", mail])
      )
      assert.isAtMost(Math.max(...sizes), 8 * 1024 * 1024)
      assert.isAtMost(sizes.length, 12)
      sizes.length = 0
      yield* Stream.runDrain(large(1000, 7000)).pipe(Effect.provide(counting))
      assert.strictEqual(sizes.length, 1)
    })
  )

  it.effect("says after each request how many have which outcome", () =>
    Effect.gen(function* () {
      const steps: Array<AddProgress> = []
      const onProgress = (progress: AddProgress) => Effect.sync(() => void steps.push(progress))
      const items = Stream.fromIterable(customers(3500))
      const outcomes = yield* collected(addAll(items, { toContact, onProgress, concurrency: 1 }))
      const progress = (done: number, rejected: number, unknown: number, notSent: number) => ({
        done,
        rejected,
        unknown,
        notSent
      })
      const [first, second, third, last] = steps
      assert.deepStrictEqual(first, progress(1000, 0, 0, 0))
      assert.deepStrictEqual(second, progress(1999, 1, 0, 0))
      assert.deepStrictEqual(third, progress(1999, 1, 1000, 0))
      assert.deepStrictEqual(last, progress(1999, 1, 1000, 500))
      assert.strictEqual(steps.length, 4)
      assert.deepStrictEqual(
        [outcomes.length, outcomes.at(-1)?._tag, outcomes.at(-1)?.item.id],
        [3500, "NotSent", 3499]
      )
    }).pipe(Effect.provide(service("c2000@example.com")))
  )

  it.effect("gives contacts back as its items, where they are contacts", () =>
    Effect.gen(function* () {
      const contacts = customers(3).map(toContact)
      const outcomes = yield* Stream.runCollect(addAll(Stream.fromIterable(contacts), { toContact: (item) => item }))
      assert.deepStrictEqual<unknown>(
        outcomes,
        contacts.map((item) => ({ _tag: "Accepted", item }))
      )
    }).pipe(Effect.provide(service()))
  )
})

/** A client of the service: what is no contact never leaves it, and the service blocks one address. */
const checking = (blocked?: string) => {
  const sent: Array<number> = []
  const encode = Schema.encodeUnknownEffect(Schema.Array(ContactPayload))
  const layer = Layer.mock(ContactsService)({
    addWithoutAnswer: Effect.fnUntraced(function* (given: Iterable<ContactPayload>) {
      const contacts = [...given]
      yield* Effect.mapError(encode(contacts), (error) => invalidInput(error))
      sent.push(contacts.length)
      const place = contacts.findIndex(({ email }) => email === blocked)
      if (place >= 0) return yield* new InvalidInput({ field: `[${place}].Email`, issue: "it is blocked" })
      const kept = contacts.findIndex(({ email }) => email === "c1500@example.com")
      return { keptStatuses: kept < 0 ? [] : [{ index: kept, status: "Unsubscribed" as const }] }
    })
  })
  return { sent, layer }
}

describe("contacts that a client refuses", () => {
  const bad = new Set([0, 7, 8, 999, 1499, 1501, 2300, 4999])
  const items = Array.from({ length: 5000 }, (_, id) => id)
  const toContact = (id: number) => ({ email: bad.has(id) ? "no address" : `c${id}@example.com` })
  const added = (layer: Layer.Layer<ContactsService>) =>
    Stream.runCollect(addAll(Stream.fromIterable(items), { toContact, concurrency: 1 })).pipe(Effect.provide(layer))

  it.effect("cost no request: a batch goes once, without them", () =>
    Effect.gen(function* () {
      const { layer, sent } = checking()
      const outcomes = yield* added(layer)
      assert.deepStrictEqual(sent, [996, 998, 999, 1000, 999])
      const refused = outcomes.flatMap((outcome) =>
        outcome._tag === "Refused" ? [[outcome.item, outcome.index, outcome.error.field]] : []
      )
      assert.deepStrictEqual<unknown>(
        refused,
        Array.from(bad, (place) => [place, place, "email"])
      )
      assert.deepStrictEqual(tally(outcomes), { Refused: 8, Accepted: 4992 })
      // What the service says of a contact stays with it, though others before it were left out.
      const kept = outcomes.flatMap((outcome) =>
        outcome._tag === "Accepted" && outcome.keptStatus !== undefined ? [[outcome.item, outcome.keptStatus]] : []
      )
      assert.deepStrictEqual<unknown>(kept, [[1500, "Unsubscribed"]])
    })
  )

  it.effect("leave a refusal of the service at its own place", () =>
    Effect.gen(function* () {
      const outcomes = yield* added(checking("c1900@example.com").layer)
      const refused = outcomes.flatMap((outcome) =>
        outcome._tag === "Refused" && outcome.error.issue === "it is blocked"
          ? [[outcome.item, outcome.index, outcome.email]]
          : []
      )
      assert.deepStrictEqual<unknown>(refused, [[1900, 1900, "c1900@example.com"]])
      assert.deepStrictEqual(tally(outcomes), { Refused: 9, Accepted: 4991 })
    })
  )

  it.effect("are refused without a call where a batch has no others", () =>
    Effect.gen(function* () {
      const { layer, sent } = checking()
      const nobody = Stream.map(Stream.range(1, 1500), () => ({ email: "no address" }))
      const outcomes = yield* Stream.runCollect(addAll(nobody, { toContact: (item) => item })).pipe(
        Effect.provide(layer)
      )
      assert.deepStrictEqual([tally(outcomes), sent], [{ Refused: 1500 }, []])
    })
  )
})

/** A service of another make: it refuses each request that holds some address, in its own words. */
const foreign = (isBad: (email: string) => boolean, status = 400) => {
  const calls: Array<number> = []
  const layer = Layer.mock(ContactsService)({
    addWithoutAnswer: Effect.fnUntraced(function* (given: Iterable<ContactPayload>) {
      const contacts = [...given]
      calls.push(contacts.length)
      if (contacts.some(({ email }) => isBad(email))) {
        const reason = new Rejected({ status, detail: "Contact blocked by policy" })
        return yield* new ServiceError({ operation: "contactsPost", reason })
      }
      return { keptStatuses: [] }
    })
  })
  return { calls, layer }
}

const outcomesOf = (count: number, layer: Layer.Layer<ContactsService>, concurrency = 1) =>
  collected(
    addAll(Stream.fromIterable(customers(count)), {
      toContact: ({ id }) => ({ email: `c${id}@example.com` }),
      concurrency
    })
  ).pipe(Effect.provide(layer))

const tally = (outcomes: ReadonlyArray<{ readonly _tag: string }>) =>
  Record.map(
    Arr.groupBy(outcomes, ({ _tag }) => _tag),
    ({ length }) => length
  )

describe("a service that refuses in words of its own", () => {
  it.effect.each([400, 413, 422])("loses only the contacts that it means, by status %s", (status) =>
    Effect.gen(function* () {
      const { calls, layer } = foreign((email) => email === "c17@example.com" || email === "c999@example.com", status)
      const outcomes = yield* outcomesOf(2000, layer)
      assert.deepStrictEqual(tally(outcomes), { Accepted: 1998, Refused: 2 })
      const refused = outcomes.flatMap((outcome) =>
        outcome._tag === "Refused" ? [[outcome.item.id, outcome.index, outcome.email, outcome.error.issue]] : []
      )
      assert.deepStrictEqual<unknown>(refused, [
        [17, 17, "c17@example.com", "Contact blocked by policy"],
        [999, 999, "c999@example.com", "Contact blocked by policy"]
      ])
      // Twice log2(1000) for each, and the second batch.
      assert.isBelow(calls.length, 45)
    })
  )

  it.effect("is taken to mean the call once it has refused 25 in a row, and is asked no more", () =>
    Effect.gen(function* () {
      const all = foreign(() => true)
      const outcomes = yield* outcomesOf(3000, all.layer)
      assert.deepStrictEqual(tally(outcomes), { Refused: 25, NotSent: 2975 })
      assert.isBelow(all.calls.length, 80)
      // One fewer, and then others that it takes.
      const some = foreign((email) => Number(/\d+/.exec(email)) < 24)
      assert.deepStrictEqual(tally(yield* outcomesOf(1000, some.layer)), { Refused: 24, Accepted: 976 })
    })
  )

  it.effect.each([
    ["a redirect", new UnexpectedRedirect({ status: 302, targetOrigin: "" }), "Unknown"],
    ["a status that says nothing of the request", new Rejected({ status: 507, detail: "full" }), "Unknown"],
    ["a refusal of the call", new Rejected({ status: 404, detail: "no" }), "NotSent"]
  ] as const)("%s: what was sent has an outcome of its own", ([, reason, outcome]) =>
    Effect.gen(function* () {
      const layer = Layer.mock(ContactsService)({
        addWithoutAnswer: () => Effect.fail(new ServiceError({ operation: "contactsPost", reason }))
      })
      const outcomes = yield* outcomesOf(1500, layer)
      assert.strictEqual(outcomes[0]?._tag, outcome)
      assert.strictEqual(outcomes[1499]?._tag, "NotSent")
    })
  )
})
