import { assert, describe, it } from "@effect/vitest"
import { Duration, Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import { withTimeout } from "../../src/calls/TimeLimit.ts"

const limited = (limit: Duration.Duration) => {
  let end = () => {}
  const effect = Effect.callback<never, string>((resume) => {
    end = () => resume(Effect.fail("ended"))
  })
  return withTimeout(
    effect,
    limit,
    () => end(),
    () => "late"
  )
}

describe("withTimeout", () => {
  // It takes some seconds to have them all under way.
  it.effect.skipIf(process.env["ROSTER_LONG_RUN"] === undefined)(
    "bounds more effects at once than a function takes arguments",
    () =>
      Effect.gen(function* () {
        const short = yield* Effect.forEach([1, 2], (seconds) =>
          Effect.forkChild(Effect.flip(limited(Duration.seconds(seconds))))
        )
        const patient = limited(Duration.hours(1))
        for (let i = 0; i < 130_000; i++) yield* Effect.forkChild(patient)
        yield* TestClock.adjust("1 second")
        yield* TestClock.adjust("1 second")
        assert.deepStrictEqual(yield* Fiber.joinAll(short), ["late", "late"])
      })
  )
})
