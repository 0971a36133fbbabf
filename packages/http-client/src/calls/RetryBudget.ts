/**
 * How much a client may repeat in all, so that an outage is not made worse by its callers: a bucket of tokens that retries
 * take from and successes give back to.
 */
import { Effect } from "effect"

/** A full bucket. */
const capacity = 500

const costs = { transient: 14, throttled: 5 } as const

export interface RetryBudget {
  /** Takes what a retry costs and answers with it, or with 0 where the bucket does not hold that much. */
  readonly take: (kind: keyof typeof costs) => Effect.Effect<number>
  /** Gives back what the last retry of a call took, or a little where there was none. */
  readonly giveBack: (taken: number) => void
  readonly left: Effect.Effect<number>
}

export const makeRetryBudget: Effect.Effect<RetryBudget> = Effect.sync(() => {
  let left = capacity
  return {
    take: (kind) =>
      Effect.sync(() => {
        const cost = left < costs[kind] ? 0 : costs[kind]
        left -= cost
        return cost
      }),
    giveBack: (taken) => {
      left = Math.min(capacity, left + Math.max(taken, 1))
    },
    left: Effect.sync(() => left)
  }
})
