/**
 * Waiting for a lock that another connection holds, without blocking the thread.
 */
import { Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import { isBusy } from "./SqliteError.ts"
import type { StoreSignals } from "./StoreSignals.ts"

/**
 * SQLite's own wait for a lock, in milliseconds. It blocks the thread, so it is short; `whileBusy` goes on from there.
 *
 * @category constants
 * @since 0.1.0
 */
export const blockingWait = 2

/**
 * Tries again until the lock is free or the time is up. SQLite's own wait blocks the thread: no request is answered
 * meanwhile, and a transaction of this very thread that holds the lock could never end.
 *
 * **Gotchas**
 *
 * Only for what has done nothing when it fails: opening, beginning, and a statement outside a transaction.
 *
 * @category combinators
 * @since 0.1.0
 */
export const whileBusy = <A, E>(options: {
  readonly try: () => A
  readonly catch: (cause: unknown) => E
  /** In milliseconds. */
  readonly timeout: number
  /** Where another thread of this process may hold the lock: it is told that somebody waits, and says when it is free. */
  readonly signals?: StoreSignals | undefined
}): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const { signals } = options
    const deadline = performance.now() + options.timeout
    const attempt: Effect.Effect<A, E> = Effect.suspend(() => {
      try {
        return Effect.succeed(options.try())
      } catch (cause) {
        return isBusy(cause) && performance.now() < deadline
          ? Effect.andThen(pause(signals), attempt)
          : Effect.fail(options.catch(cause))
      }
    })
    return signals === undefined
      ? attempt
      : Effect.acquireUseRelease(
          Effect.sync(signals.await),
          () => attempt,
          (ended) => Effect.sync(ended)
        )
  })

// Who holds the lock lives by the clock of the machine, so the Clock service has no say here. The spread keeps two that
// wait from meeting again.
const pause = (signals: StoreSignals | undefined) => {
  const millis = 2 + Math.random() * 18
  return Effect.promise((signal) => signals?.released(millis) ?? setTimeout(millis, undefined, { signal }))
}
