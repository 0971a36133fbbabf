/**
 * What the connections of one process on one store tell each other, on whatever threads they are: that a sync failed, after
 * which none of them may write (docs/decisions/durability.md), and that one waits for the lock that another holds.
 */

import { setTimeout } from "node:timers/promises"

export interface LockContention {
  /** What another thread gets to see the same. */
  readonly shared: SharedArrayBuffer
  readonly reportSyncFailure: () => void
  readonly hasSyncFailed: () => boolean
  /** Says that somebody waits for the lock, and what to call when they do no more. */
  readonly await: () => () => void
  readonly hasWaiter: () => boolean
  /** Says to who waits that the lock is free. */
  readonly release: () => void
  /** Done when the lock is said to be free, or after so many milliseconds. */
  readonly released: (atMost: number) => Promise<unknown>
}

const [syncFailure, waiting, releases, fields] = [0, 1, 2, 3]

export const make = (shared: SharedArrayBuffer = new SharedArrayBuffer(fields * 4)): LockContention => {
  const state = new Int32Array(shared)
  return {
    shared,
    reportSyncFailure: () => void Atomics.store(state, syncFailure, 1),
    hasSyncFailed: () => Atomics.load(state, syncFailure) === 1,
    await: () => {
      Atomics.add(state, waiting, 1)
      return () => void Atomics.sub(state, waiting, 1)
    },
    hasWaiter: () => Atomics.load(state, waiting) > 0,
    release: () => {
      Atomics.add(state, releases, 1)
      Atomics.notify(state, releases)
    },
    // Alone, neither a promise of Atomics nor its timeout would keep the process from ending.
    released: (atMost) =>
      Promise.race([
        Atomics.waitAsync(state, releases, Atomics.load(state, releases), atMost).value,
        setTimeout(atMost)
      ])
  }
}
