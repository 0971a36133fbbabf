import { Clock, Duration, Effect } from "effect"
import { clientNetwork } from "../network/IpRanges.ts"

/** Wrong keys in a row without a delay: a client with an outdated key deserves no penalty. */
const undelayed = 5

const firstDelay = Duration.toMillis("250 millis")
const longestDelay = Duration.toMillis("4 seconds")

/** The count of a client starts again after this long without a wrong key. */
const forgottenAfter = Duration.toMillis("1 minute")

const maximumClients = 10_000

/** Maximum number of delayed responses; open connections are the scarcer resource. */
const maximumWaiting = 100

/**
 * Makes the function that delays responses to wrong keys, longer each time; valid keys are never delayed. The counts
 * are bounded and in memory, since no key can be found by guessing. (docs/decisions/access.md)
 */
export const makeFailedAuthThrottle = Effect.sync(() => {
  // In the order of their last wrong key, oldest first.
  const clients = new Map<string, { readonly count: number; readonly last: number }>()
  let waiting = 0

  const countOf = (client: string, now: number): number => {
    const known = clients.get(client)
    const count = known === undefined || now - known.last >= forgottenAfter ? 1 : known.count + 1
    clients.delete(client)
    clients.set(client, { count, last: now })
    const [oldest] = clients.keys()
    if (clients.size > maximumClients && oldest !== undefined) clients.delete(oldest)
    return count
  }

  const wait = (millis: number) =>
    Effect.suspend(() => {
      waiting += 1
      return Effect.ensuring(
        Effect.sleep(millis),
        Effect.sync(() => (waiting -= 1))
      )
    })

  return Effect.fnUntraced(function* (peer: string) {
    const count = countOf(clientNetwork(peer), yield* Clock.currentTimeMillis)
    if (count > undelayed && waiting < maximumWaiting) {
      yield* wait(Math.min(longestDelay, firstDelay * 2 ** (count - undelayed - 1)))
    }
  })
})
