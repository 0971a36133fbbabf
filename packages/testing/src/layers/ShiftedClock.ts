/**
 * A clock that runs as the real one does, some time ahead: for what happens after a day, in layers whose sockets and
 * background work need real time. (`TestClock` stands still, and a server on it never answers.)
 */
import { Clock, Context, Duration, Effect, Layer } from "effect"

export class ShiftedClock extends Context.Service<
  ShiftedClock,
  {
    /** Moves the time of day ahead. Sleeps and measured durations stay as they are. */
    readonly advance: (by: Duration.Input) => Effect.Effect<void>
  }
>()("@roster/testing/ShiftedClock") {
  /** Provides the clock to what is built with it and to the tests themselves. */
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
