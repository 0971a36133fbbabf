/**
 * Who asks with wrong keys waits for the answer, longer each time; who asks with a right one never does, wherever from. It
 * is kept in memory, within bounds: a process that starts again has forgotten it, which costs nothing, since no key can be
 * found by guessing. (docs/decisions/access.md)
 */
import { Clock, Duration, Effect } from "effect"
import { clientNetwork } from "../network/IpRanges.ts"

/** How many wrong keys in a row are answered at once: a client with an old key in its settings needs no punishment. */
const free = 5

const firstDelay = Duration.toMillis("250 millis")
const longestDelay = Duration.toMillis("4 seconds")

/** A party that asked with no wrong key for this long starts anew. */
const forgottenAfter = Duration.toMillis("1 minute")

const maximumParties = 10_000

/** Beyond these, answers go out at once: connections that are held open are worth more than the time of who guesses. */
const maximumWaiting = 100

export interface FailedAuthThrottle {
  /** Waits as long as this party has to, after a wrong key of its. */
  readonly delay: (peer: string) => Effect.Effect<void>
}

export const makeFailedAuthThrottle = Effect.sync((): FailedAuthThrottle => {
  // In the order of their last wrong key, the oldest first.
  const parties = new Map<string, { readonly count: number; readonly last: number }>()
  let waiting = 0

  const countOf = (party: string, now: number): number => {
    const known = parties.get(party)
    const count = known === undefined || now - known.last >= forgottenAfter ? 1 : known.count + 1
    parties.delete(party)
    parties.set(party, { count, last: now })
    const [oldest] = parties.keys()
    if (parties.size > maximumParties && oldest !== undefined) parties.delete(oldest)
    return count
  }

  const wait = (millis: number) =>
    Effect.acquireUseRelease(
      Effect.sync(() => {
        waiting += 1
      }),
      () => Effect.sleep(millis),
      () =>
        Effect.sync(() => {
          waiting -= 1
        })
    )

  const delay = Effect.fnUntraced(function* (peer: string) {
    const count = countOf(clientNetwork(peer), yield* Clock.currentTimeMillis)
    if (count > free && waiting < maximumWaiting) {
      yield* wait(Math.min(longestDelay, firstDelay * 2 ** (count - free - 1)))
    }
  })

  return { delay }
})
