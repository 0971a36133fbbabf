/**
 * How a job shares the lock for writing with those who wait for an answer: a transaction is worth more the longer it is, and
 * ends as soon as somebody waits for it.
 */
import { Context, Effect } from "effect"
import type { LockContention } from "./sqlite/LockContention.ts"
import { setImmediate, setTimeout } from "node:timers/promises"

/**
 * On the thread that answers requests nobody can say that they wait, so that each transaction is as short as can be.
 */
export const WriteFairness = Context.Reference<{
  readonly hasWaiter: () => boolean
  /** Between two transactions: lets those write who wait. */
  readonly yieldToWriters: Effect.Effect<void>
}>("@roster/server/WriteFairness", { defaultValue: () => ({ hasWaiter: () => true, yieldToWriters: Effect.yieldNow }) })

/** Who waits longer than this is held up by something else. */
const longestTurn = 50

/** The turns on a thread of its own. */
export const fromSignals = ({ hasWaiter, release }: LockContention): typeof WriteFairness.Service => ({
  hasWaiter,
  yieldToWriters: Effect.promise(async (signal) => {
    const end = performance.now() + longestTurn
    release()
    // What the thread is told is heard between two transactions alone.
    await setImmediate()
    while (hasWaiter() && performance.now() < end && !signal.aborted) await setTimeout(1)
  })
})
