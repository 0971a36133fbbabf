/** Unit tests with a fault plan: what the sync does when the service does not answer. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, FaultPlan } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { DateTime, Effect, Fiber, Layer, Stream } from "effect"
import { KeyValueStore } from "effect/persistence"
import { TestClock } from "effect/testing"
import { CrmTable, type Customer, nightly, sync } from "../src/NightlySync.ts"

const ann: Customer = { id: 1, mail: "ann@example.com", name: "Ann", plan: "gold" }
const ben: Customer = { id: 2, mail: "ben at example.com", name: undefined, plan: "free" }

/** A table that notes since when it was asked, in hours. */
const table = (customers: ReadonlyArray<Customer>) => {
  const asked: Array<number> = []
  const layer = Layer.succeed(CrmTable, {
    changedSince: (time) => {
      asked.push(DateTime.toEpochMillis(time) / 3_600_000)
      return Stream.fromIterable(customers)
    }
  })
  return { asked, layer: Layer.merge(layer, KeyValueStore.layerMemory) }
}

const faulty = (plan: FaultPlan.FaultPlan) => layerMemory().pipe(FaultPlan.layer(plan))

describe("the nightly sync", () => {
  it.effect("copies the customers, and names those that are refused", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* sync, { done: 1, rejected: [2], open: [] })
      const contacts = yield* ContactsService
      assert.strictEqual((yield* contacts.get("ann@example.com")).customFields?.["plan"], "gold")
    }).pipe(Effect.provide(Layer.merge(layerMemory(), table([ann, ben]).layer)))
  )

  it.effect("tries again in the same night, and asks the next one for what changed since", () => {
    const { asked, layer } = table([ann])
    const plan = FaultPlan.make({ "contacts.add": { 1: FaultPlan.unavailable(), 2: FaultPlan.cutAfter } })
    return Effect.gen(function* () {
      const program = yield* Effect.forkChild(nightly)
      yield* TestClock.adjust("28 hours")
      // Three tries at 3:00, 3:10 and 3:20, and the one of the next night.
      assert.deepStrictEqual(asked, [0, 0, 0, 3 + 20 / 60])
      assert.strictEqual((yield* ContactsService.use((contacts) => contacts.list())).length, 1)
      yield* Fiber.interrupt(program)
    }).pipe(Effect.provide(Layer.merge(faulty(plan), layer)))
  })

  it.effect("leaves a night without answers to the next one", () => {
    const { asked, layer } = table([ann])
    return Effect.gen(function* () {
      const program = yield* Effect.forkChild(nightly)
      yield* TestClock.adjust("28 hours")
      assert.deepStrictEqual(
        asked,
        Array.from({ length: 12 }, () => 0)
      )
      yield* Fiber.interrupt(program)
    }).pipe(
      Effect.provide(Layer.merge(faulty(FaultPlan.make({ "contacts.add": { every: FaultPlan.cutBefore } })), layer))
    )
  })
})
