import { assert, describe, it } from "@effect/vitest"
import { type ContactPayload, ContactsService, InvalidInput, OutcomeUnknown, ServiceError } from "@roster/domain"
import { Effect, Layer, Stream } from "effect"
import { addAll, type AddProgress } from "../../src/upload/BulkAdd.ts"

/** A row of a table that is not ours. */
interface Customer {
  readonly id: number
  readonly mail: string
}

const customers = (count: number): ReadonlyArray<Customer> =>
  Array.from({ length: count }, (_, id) => ({ id, mail: id === 1777 ? "no mail" : `c${id}@example.com` }))
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

  it.effect("says after each request how many have which outcome", () =>
    Effect.gen(function* () {
      const steps: Array<AddProgress> = []
      const onProgress = (progress: AddProgress) => Effect.sync(() => void steps.push(progress))
      const items = Stream.fromIterable(customers(3500))
      const outcomes = yield* Stream.runCollect(addAll(items, { toContact, onProgress, concurrency: 1 }))
      const progress = (accepted: number, refused: number, unknown: number, notSent: number) => ({
        accepted,
        refused,
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
