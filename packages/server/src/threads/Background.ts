/** Waits in the background of a store: a program that has nothing else to do can end, although nobody closed its store. */
import { Clock, Context, Duration, Effect } from "effect"
import { clearTimeout, setTimeout } from "node:timers"

/** The most that a timer takes, in milliseconds. No wait of the background is longer. */
const longestWait = 2 ** 31 - 1

/** The clock of the machine, whose timers keep no process alive. */
const idleClock: Clock.Clock = Object.assign(
  // An object with the methods of the default clock.
  Object.create(Context.get(Context.empty(), Clock.Clock)) as Clock.Clock,
  {
    sleep: (duration: Duration.Duration) =>
      Effect.callback<void>((resume) => {
        const timer = setTimeout(() => resume(Effect.void), Math.min(Duration.toMillis(duration), longestWait)).unref()
        return Effect.sync(() => clearTimeout(timer))
      })
  }
)

/** Lets the waits of an effect keep no process alive. A clock that a program or a test provides stays as it is. */
export const idly = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Context.getOrUndefined(context, Clock.Clock) === undefined
      ? Effect.provideService(effect, Clock.Clock, idleClock)
      : effect
  )
