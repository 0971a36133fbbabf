/**
 * The real clock, shifted ahead: for what happens after a day, in layers whose sockets and background work need real
 * time. (On a `TestClock`, which stands still, a server never answers.)
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"

/** The real clock, shifted ahead by the test. */
export class ShiftedClock extends Context.Service<
  ShiftedClock,
  {
    /** Moves the wall-clock time ahead; sleeps and measured durations are unaffected. */
    readonly advance: (by: Duration.Input) => Effect.Effect<void>
  }
>()("@roster/testing/ShiftedClock") {
  /** Provides the clock to the layers built with it and to the tests. */
  static readonly layer = Layer.effectContext(
    Effect.map(Clock.Clock, (real) => {
      let ahead = Duration.zero
      const millis = () => real.currentTimeMillisUnsafe() + Duration.toMillis(ahead)
      const nanos = () => real.currentTimeNanosUnsafe() + BigInt(Duration.toMillis(ahead)) * 1_000_000n
      const clock: Clock.Clock = {
        currentTimeMillisUnsafe: millis,
        currentTimeMillis: Effect.sync(millis),
        currentTimeNanosUnsafe: nanos,
        currentTimeNanos: Effect.sync(nanos),
        monotonicTimeNanosUnsafe: () => real.monotonicTimeNanosUnsafe(),
        monotonicTimeNanos: real.monotonicTimeNanos,
        sleep: (duration) => real.sleep(duration)
      }
      const advance = (by: Duration.Input) =>
        Effect.sync(() => {
          ahead = Duration.sum(ahead, Duration.fromInputUnsafe(by))
        })
      return Context.make(ShiftedClock, { advance }).pipe(Context.add(Clock.Clock, clock))
    })
  )
}
