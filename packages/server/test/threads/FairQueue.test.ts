import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Fiber } from "effect"
import * as FairQueue from "../../src/threads/FairQueue.ts"

/** Tasks that each end when they are told to, and what has begun so far. */
const makeTasks = (queue: Pick<FairQueue.FairQueue, "run">) => {
  const begun: Array<string> = []
  const ends = new Map<string, Deferred.Deferred<void>>()
  const start = (account: string, name: string) => {
    const end = Deferred.makeUnsafe<void>()
    ends.set(name, end)
    const work = Effect.andThen(
      Effect.sync(() => void begun.push(name)),
      Deferred.await(end)
    )
    return Effect.forkChild(
      queue.run(account, () => work),
      { startImmediately: true }
    )
  }
  const end = (name: string) =>
    Effect.sync(() => {
      const deferred = ends.get(name)
      if (deferred !== undefined) Deferred.doneUnsafe(deferred, Effect.void)
    })
  /** Waits until so many have begun. */
  const until = (count: number) =>
    Effect.promise(async () => {
      while (begun.length < count) await new Promise((resolve) => setImmediate(resolve))
    })
  return { begun, start, end, until }
}

describe("a fair queue", () => {
  it.live("runs as many tasks at once as it may, of each account in turn", () =>
    Effect.gen(function* () {
      const { begun, end, start, until } = makeTasks(FairQueue.make({ atOnce: 2 }))
      for (const name of ["a1", "a2", "a3", "a4"]) yield* start("a", name)
      yield* start("b", "b1")
      yield* until(2)
      assert.deepStrictEqual(begun, ["a1", "a2"])
      yield* end("a1")
      yield* until(3)
      yield* end("a2")
      yield* until(4)
      assert.deepStrictEqual(begun, ["a1", "a2", "a3", "b1"])
      yield* end("b1")
      yield* until(5)
      assert.deepStrictEqual(begun, ["a1", "a2", "a3", "b1", "a4"])
      yield* end("a3")
      yield* end("a4")
    })
  )

  it.live("forgets a task that is interrupted, whether it waits or runs", () =>
    Effect.gen(function* () {
      const queue = FairQueue.make()
      const { begun, end, start, until } = makeTasks(queue)
      const running = yield* start("a", "a1")
      const waiting = yield* start("a", "a2")
      yield* start("b", "b1")
      yield* Fiber.interrupt(waiting)
      yield* Fiber.interrupt(running)
      yield* until(2)
      assert.deepStrictEqual(begun, ["a1", "b1"])
      assert.strictEqual(queue.held(), 1)
      yield* end("b1")
    })
  )
})

describe("places", () => {
  it.live("are taken by the accounts in turn, and given back when their scope ends", () =>
    Effect.gen(function* () {
      const places = FairQueue.makePlaces(2)
      const { begun, end, start, until } = makeTasks({
        run: (account, work) => Effect.scoped(Effect.andThen(places.take(account), work(Effect.void)))
      })
      for (const name of ["a1", "a2", "a3", "a4"]) yield* start("a", name)
      const waiting = yield* start("b", "b1")
      yield* start("b", "b2")
      yield* until(2)
      yield* Fiber.interrupt(waiting)
      yield* end("a1")
      yield* until(3)
      yield* end("a2")
      yield* until(4)
      assert.deepStrictEqual(begun, ["a1", "a2", "a3", "b2"])
      for (const name of ["a3", "b2"]) yield* end(name)
      yield* until(5)
      yield* end("a4")
    })
  )

  it.live("are held by one account up to its bound, and the others go to those behind it", () =>
    Effect.gen(function* () {
      const places = FairQueue.makePlaces(3, 2)
      const { begun, end, start, until } = makeTasks({
        run: (account, work) => Effect.scoped(Effect.andThen(places.take(account), work(Effect.void)))
      })
      for (const name of ["a1", "a2", "a3"]) yield* start("a", name)
      yield* start("b", "b1")
      yield* until(3)
      assert.deepStrictEqual(begun, ["a1", "a2", "b1"])
      yield* end("b1")
      yield* start("c", "c1")
      yield* until(4)
      assert.strictEqual(begun[3], "c1")
      yield* end("a1")
      yield* until(5)
      assert.strictEqual(begun[4], "a3")
      for (const name of ["a2", "a3", "c1"]) yield* end(name)
    })
  )
})
