/** Waits for the lock of a SQLite database without blocking the thread. */
import { Effect, Random } from "effect"
import { setTimeout } from "node:timers/promises"
import { isBusy } from "./SqliteError.ts"
import type { LockContention } from "./LockContention.ts"

/** SQLite's own busy timeout in milliseconds. It blocks the thread, so it is short, and `whileBusy` waits longer. */
export const blockingWait = 2

/**
 * Tells waiters that try in turn when to give up. A request counts its wait from its own beginning, and from when the lock was
 * first seen taken if that was later.
 */
export class Waiting {
  #since = 0
  #seen = Number.NEGATIVE_INFINITY

  /** Whether a wait has timed out, asked after an attempt that found the lock held. */
  isOver(asked: number, timeout: number): boolean {
    const now = performance.now()
    // Without an attempt for a while, the lock may have been free.
    if (now - this.#seen > 1000) this.#since = now
    this.#seen = now
    return now >= Math.max(asked, this.#since) + timeout
  }

  ended(): void {
    this.#seen = Number.NEGATIVE_INFINITY
  }
}

/**
 * Retries until the lock is free or the timeout is over, without blocking the thread, which may hold the lock itself.
 * Only for what has done nothing when it fails: opening, BEGIN, and a statement outside a transaction.
 */
export const whileBusy = <A, E>(options: {
  readonly try: () => A
  readonly catch: (cause: unknown) => E
  /** In milliseconds. */
  readonly timeout: number
  /** The start of the wait by `performance.now` (default: now). */
  readonly asked?: number | undefined
  /** Shared by waiters that try in turn. */
  readonly waiting?: Waiting | undefined
  /** Tells the thread of this process that holds the lock of this waiter, and learns when it is free. */
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

// On the system clock, as the holder of the lock; with jitter, so that two waiters do not collide again.
const pause = (contention: LockContention | undefined) =>
  Effect.flatMap(Random.nextBetween(2, 20), (millis) =>
    Effect.promise((signal) => contention?.released(millis) ?? setTimeout(millis, undefined, { signal }))
  )
