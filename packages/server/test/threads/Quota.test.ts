import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { makeQuota } from "../../src/threads/Quota.ts"

describe("Quota", () => {
  it("gives a key its own share, and all of them no more than they may hold together", () => {
    const { held, take } = makeQuota({ own: 3, all: 5 })
    assert.isUndefined(take("a", 3))
    assert.strictEqual(take("a"), "own")
    assert.strictEqual(take("b", 4), "own")
    assert.strictEqual(take("b", 3), "all")
    assert.isUndefined(take("b", 2))
    assert.strictEqual(take("c"), "all")
    assert.strictEqual(held(), 5)
  })

  it("keeps a share for the main account, whatever the others hold", () => {
    const { held, take } = makeQuota({ own: 3, all: 5 })
    assert.isUndefined(take("a", 3))
    assert.isUndefined(take("", 3))
    assert.isUndefined(take("b", 2))
    assert.strictEqual(take("b"), "all")
    assert.strictEqual(take(""), "own")
    assert.strictEqual(held(), 8)
  })

  it.effect("holds until the scope ends, with what was taken meanwhile", () =>
    Effect.gen(function* () {
      const { held, hold, take } = makeQuota({ own: 3, all: 5 })
      yield* Effect.scoped(
        Effect.gen(function* () {
          const takeMore = yield* hold("a")
          yield* takeMore(2)
          assert.strictEqual(yield* Effect.flip(takeMore(1)), "own")
          assert.strictEqual(yield* Effect.flip(hold("b", 3)), "all")
          assert.strictEqual(held(), 3)
        })
      )
      assert.strictEqual(held(), 0)
      assert.isUndefined(take("a", 3))
    })
  )

  it.effect("gives each run of the same effect what it takes itself", () =>
    Effect.gen(function* () {
      const { held, hold } = makeQuota({ own: 3, all: 5 })
      const one = hold("a")
      yield* Effect.scoped(
        Effect.gen(function* () {
          yield* one
          yield* Effect.scoped(one)
          assert.strictEqual(held(), 1)
        })
      )
      assert.strictEqual(held(), 0)
    })
  )
})
