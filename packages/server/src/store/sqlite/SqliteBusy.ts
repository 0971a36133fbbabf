/**
 * Waiting for a lock that another connection holds, without blocking the thread.
 */
import { Effect } from "effect"
import { setTimeout } from "node:timers/promises"
import { isBusy } from "./SqliteError.ts"
import type { LockContention } from "./LockContention.ts"

/**
 * SQLite's own wait for a lock, in milliseconds. It blocks the thread, so it is short; `whileBusy` goes on from there.
 */
export const blockingWait = 2

/**
 * Since when the lock is held by somebody else, as those see it who wait for it one after another. Each began to wait when
 * it asked, and not when its turn came: where many wait for one lock they give up together.
 */
export class Waiting {
  #since = 0
  #seen = Number.NEGATIVE_INFINITY

  /** Whether a wait is over that began at a time, of an attempt that has just found the lock held. */
  isOver(asked: number, timeout: number): boolean {
    const now = performance.now()
    // Nobody looked for a while: it may have been free.
    if (now - this.#seen > 1000) this.#since = now
    this.#seen = now
    return now >= Math.max(asked, this.#since) + timeout
  }

  ended(): void {
    this.#seen = Number.NEGATIVE_INFINITY
  }
}

/**
 * Tries again until the lock is free or the time is up. SQLite's own wait blocks the thread: no request is answered
 * meanwhile, and a transaction of this very thread that holds the lock could never end.
 *
 * **Gotchas**
 *
 * Only for what has done nothing when it fails: opening, beginning, and a statement outside a transaction.
 */
export const whileBusy = <A, E>(options: {
  readonly try: () => A
  readonly catch: (cause: unknown) => E
  /** In milliseconds. */
  readonly timeout: number
  /** When it was asked for, by `performance.now`: now where it is not given. */
  readonly asked?: number | undefined
  /** Shared by those who wait for one lock in turn. */
  readonly waiting?: Waiting | undefined
  /** Where another thread of this process may hold the lock: it is told that somebody waits, and says when it is free. */
  readonly contention?: LockContention | undefined
}): Effect.Effect<A, E> =>
  Effect.suspend(() => {
    const { asked = performance.now(), contention, timeout, waiting } = options
    const isOver = () => waiting?.isOver(asked, timeout) ?? performance.now() >= asked + timeout
    const attempt: Effect.Effect<A, E> = Effect.suspend(() => {
      try {
        const value = options.try()
        waiting?.ended()
        return Effect.succeed(value)
      } catch (cause) {
        return isBusy(cause) && !isOver()
          ? Effect.andThen(pause(contention), attempt)
          : Effect.fail(options.catch(cause))
      }
    })
    return contention === undefined
      ? attempt
      : Effect.acquireUseRelease(
          Effect.sync(contention.await),
          () => attempt,
          (ended) => Effect.sync(ended)
        )
  })

// Who holds the lock lives by the clock of the machine, so the Clock service has no say here. The spread keeps two that
// wait from meeting again.
const pause = (contention: LockContention | undefined) => {
  const millis = 2 + Math.random() * 18
  return Effect.promise((signal) => contention?.released(millis) ?? setTimeout(millis, undefined, { signal }))
}
