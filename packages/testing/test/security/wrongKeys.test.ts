/**
 * Wrong keys wait for their answer, right ones never do. A clock that only the test moves tells how long.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Context, Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { RosterServer } from "@roster/server"

/** A service in this process, on the clock of the test, and a way to ask it over its socket. */
const served = Effect.gen(function* () {
  let administratorKey = ""
  const services = yield* Layer.build(
    RosterServer.layer({
      port: 0,
      store: { filename: ":memory:" },
      onAdministratorKey: (key) =>
        Effect.sync(() => {
          administratorKey = Redacted.value(key)
        })
    })
  )
  const { address } = Context.get(services, RosterServer.RosterServer)
  const ask = (key: string | undefined, path = "/contacts") =>
    Effect.promise((signal) =>
      fetch(`${address}${path}`, { signal, headers: key === undefined ? {} : { "X-Service-ApiKey": key } }).then(
        async (response) => ({ status: response.status, text: await response.text() })
      )
    )
  return { administratorKey, ask }
})

/** Lets real sockets do their part without time going by on the clock of the test. */
const turn = Effect.promise(() => new Promise<void>((done) => setImmediate(done)))

/** How much time has to go by until something ends, in steps of 50 ms. */
const timeUntil = Effect.fnUntraced(function* <A, E>(effect: Effect.Effect<A, E>) {
  const fiber = yield* Effect.forkChild(effect)
  let millis = 0
  while (fiber.pollUnsafe() === undefined) {
    // The answer may be on its way: time goes by only when nothing else does.
    for (let i = 0; i < 20 && fiber.pollUnsafe() === undefined; i++) yield* turn
    if (fiber.pollUnsafe() !== undefined) break
    yield* TestClock.adjust("50 millis")
    millis += 50
  }
  return [yield* Fiber.join(fiber), millis] as const
})

describe("wrong keys", () => {
  it.effect("S01 are answered later and later, missing ones too, and right ones from the same address at once", () =>
    Effect.gen(function* () {
      const { administratorKey, ask } = yield* served
      const waited: Array<number> = []
      for (const key of ["a", undefined, "", "b", "c", "d", undefined, "e", "e", "e", "e", "e"]) {
        // Wherever they ask: a path that there is not is no way around it.
        const [{ status }, millis] = yield* timeUntil(ask(key, waited.length % 2 === 0 ? "/contacts" : "/nope"))
        assert.strictEqual(status, 401)
        waited.push(millis)
        const [right, none] = yield* timeUntil(ask(administratorKey))
        assert.strictEqual(right.status, 200)
        assert.isBelow(none, 250)
      }
      const expected = [0, 0, 0, 0, 0, 250, 500, 1000, 2000, 4000, 4000, 4000]
      for (const [i, least] of expected.entries()) assert.isAtLeast(waited[i] ?? 0, least, `wrong key ${i + 1}`)
      // Time also goes by while the machine is busy with something else, but not that much.
      for (const [i, least] of expected.entries()) assert.isAtMost(waited[i] ?? 0, least + 3000, `wrong key ${i + 1}`)
      // A minute without a wrong key, and all is forgotten.
      yield* TestClock.adjust("1 minute")
      assert.isBelow((yield* timeUntil(ask("f")))[1], 250)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.effect(
    "S01 a hundred wait at most: who comes then is answered at once, and right keys are answered meanwhile",
    () =>
      Effect.gen(function* () {
        const { administratorKey, ask } = yield* served
        const fibers = yield* Effect.forEach(Array.from({ length: 150 }), () => Effect.forkChild(ask("wrong")))
        const answered = () => fibers.filter((fiber) => fiber.pollUnsafe() !== undefined).length
        // Five are free, a hundred wait, the others are not held.
        while (answered() < 50) yield* turn
        assert.strictEqual((yield* ask(administratorKey)).status, 200)
        assert.strictEqual(answered(), 50)
        while (answered() < 150) {
          yield* TestClock.adjust("4 seconds")
          yield* turn
        }
        for (const fiber of fibers) assert.strictEqual((yield* Fiber.join(fiber)).status, 401)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
