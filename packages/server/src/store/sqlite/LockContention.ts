/**
 * Shared state of the connections of one process: whether a sync failed, after which none may write, and whether a
 * writer waits, for which a job ends its transaction. (docs/decisions/durability.md)
 */
import { Context, Effect } from "effect"
import { setImmediate, setTimeout } from "node:timers/promises"

const [syncFailure, waiting, releases, fields] = [0, 1, 2, 3]

export const make = (shared: SharedArrayBuffer = new SharedArrayBuffer(fields * 4)) => {
  const state = new Int32Array(shared)
  return {
    /** The state, for another thread to build the same from. */
    shared,
    reportSyncFailure: () => void Atomics.store(state, syncFailure, 1),
    hasSyncFailed: () => Atomics.load(state, syncFailure) === 1,
    /** Registers a waiter for the lock, and returns the function that removes it. */
    await: () => {
      Atomics.add(state, waiting, 1)
      return () => void Atomics.sub(state, waiting, 1)
    },
    hasWaiter: () => Atomics.load(state, waiting) > 0,
    /** Tells the waiters that the lock is free. */
    release: () => {
      Atomics.add(state, releases, 1)
      Atomics.notify(state, releases)
    },
    /** Resolves on release or after so many milliseconds. The timer keeps the process alive, which Atomics does not. */
    released: (atMost: number): Promise<unknown> =>
      Promise.race([
        Atomics.waitAsync(state, releases, Atomics.load(state, releases), atMost).value,
        setTimeout(atMost)
      ])
  }
}

export type LockContention = ReturnType<typeof make>

/**
 * How a job shares the write lock with requests (default: as if one always waited, for a job on their thread).
 * A reference, since each engine gives its own to the jobs.
 */
export const WriteFairness = Context.Reference<{
  readonly hasWaiter: () => boolean
  /** Lets waiting writers go first, between two transactions. */
  readonly yieldToWriters: Effect.Effect<void>
}>("@roster/server/WriteFairness", { defaultValue: () => ({ hasWaiter: () => true, yieldToWriters: Effect.yieldNow }) })

/** In milliseconds. A writer that waits longer than this is held up by something else. */
const longestYield = 50

/** The fairness of a job on its own thread. */
export const fairnessOf = ({ hasWaiter, release }: LockContention): typeof WriteFairness.Service => ({
  hasWaiter,
  yieldToWriters: Effect.promise(async (signal) => {
    const end = performance.now() + longestYield
    release()
    // The messages to this thread are read only between two transactions.
    await setImmediate()
    while (hasWaiter() && performance.now() < end && !signal.aborted) await setTimeout(1)
  })
})
