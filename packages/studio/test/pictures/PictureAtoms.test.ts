/** What the pictures count, without a browser. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as PictureAtoms from "../../src/pictures/PictureAtoms.ts"
import { studioStore } from "../StudioStore.ts"

describe("the pictures", () => {
  it.effect("count statuses, days and the values of a field, of all contacts or those of a rule", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      const contacts = yield* store.contacts
      yield* contacts.add(
        Array.from({ length: 250 }, (_, index) => ({
          email: `c${index}@example.com`,
          status: index % 5 === 0 ? ("Unsubscribed" as const) : ("Active" as const),
          customFields: index % 2 === 0 ? { Stadt: "Köln" } : { Stadt: "Paris" }
        }))
      )
      const all = yield* store.run(PictureAtoms.count, { rule: "", field: "stadt" })
      assert.deepStrictEqual(all.statuses, [
        { name: "Active", count: 200 },
        { name: "Unsubscribed", count: 50 }
      ])
      assert.deepStrictEqual(
        all.days.map(({ count }) => count),
        [250]
      )
      assert.deepStrictEqual(all.values, [
        { name: "Köln", count: 125 },
        { name: "Paris", count: 125 }
      ])
      assert.strictEqual(store.registry.get(PictureAtoms.counted), 250)
      const some = yield* store.run(PictureAtoms.count, { rule: "stadt = 'Paris'", field: undefined })
      assert.deepStrictEqual([some.total, some.values], [125, []])
    })
  )

  it("put what is too much into one part, so that the parts add up", () => {
    const tally = PictureAtoms.makeTally("plan")
    for (let index = 0; index < 100; index++) {
      tally.add({ email: "a@example.com", customFields: { plan: index < 10 ? "gold" : `p${index}` } })
    }
    tally.add({ email: "a@example.com" })
    const { days, statuses, values } = tally.pictures("")
    assert.deepStrictEqual(values[0], { name: "gold", count: 10 })
    assert.strictEqual(values.length, PictureAtoms.mostParts + 1)
    for (const parts of [values, days, statuses]) {
      assert.strictEqual(
        parts.reduce((sum, { count }) => sum + count, 0),
        101
      )
    }
  })
})
