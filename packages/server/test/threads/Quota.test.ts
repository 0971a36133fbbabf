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
          assert.isUndefined(takeMore(2))
          assert.strictEqual(takeMore(1), "own")
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

  it.effect("where all is held, ends what waits longest of those that hold more", () =>
    Effect.gen(function* () {
      const told: Array<string> = []
      const watched = { granted: () => void told.push("granted"), refused: () => void told.push("refused") }
      const { full, held, hold, take } = makeQuota({ own: 4, all: 8, watched })
      const ended: Array<string> = []
      const holding = (key: string, weight: number, since: number | undefined, name: string) =>
        hold(key, weight, { waitsSince: () => since, endForOthers: () => void ended.push(name) })
      yield* holding("a", 1, undefined, "at work")
      yield* holding("a", 1, 20, "a later")
      yield* holding("a", 2, 10, "a first")
      yield* holding("b", 3, 5, "b")
      yield* holding("c", 1, 1, "c")
      assert.deepStrictEqual(ended, [])
      // No key that holds as much as this one would then.
      assert.strictEqual(full("d", 4), "all")
      assert.strictEqual(full("c", 3), "all")
      assert.deepStrictEqual(ended, [])
      assert.isUndefined(take("d", 1))
      assert.deepStrictEqual(ended, ["b"])
      assert.strictEqual(held(), 6)
      assert.isUndefined(take("d", 2))
      assert.isUndefined(take("e", 1))
      assert.deepStrictEqual(ended, ["b", "a first"])
      assert.isUndefined(take("e", 1))
      assert.strictEqual(take("e", 1), "all")
      assert.strictEqual(held(), 8)
      assert.deepStrictEqual(told.slice(-2), ["granted", "refused"])
    })
  )
})
