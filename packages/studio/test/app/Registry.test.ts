/** That the page answers while a program of it works for long. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { Atom, AtomRegistry } from "effect/reactivity"
import { makeRegistry } from "../../src/app/Registry.ts"

let steps = 0

/** A program that asks for something, and then works for a while. */
const long = Atom.make(
  Effect.andThen(
    Effect.promise(() => Promise.resolve()),
    Effect.forEach(Array.from({ length: 100_000 }), () => Effect.sync(() => void steps++), { discard: true })
  )
)

describe("the registry of the page", () => {
  it.live("lets other tasks run while a program works", () =>
    Effect.gen(function* () {
      const registry = yield* Effect.acquireRelease(Effect.sync(makeRegistry), (made) =>
        Effect.sync(() => made.dispose())
      )
      let tasks = 0
      let next = setImmediate(function count() {
        tasks++
        next = setImmediate(count)
      })
      yield* AtomRegistry.getResult(registry, long)
      clearImmediate(next)
      // A browser has many; Node takes the messages of a port together.
      assert.isAtLeast(tasks, 1)
      assert.strictEqual(steps, 100_000)
    })
  )
})
