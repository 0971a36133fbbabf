import { Clock, Duration, Effect, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { registerGauge } from "../metrics/ObservableMetric.ts"
import { clientNetwork } from "../network/IpRanges.ts"
import { countFailedAuth, forgottenAfterSeconds } from "../store/postgres/FailedAuthCounts.ts"
import { byEngine } from "../store/SqlDialect.ts"

/** Wrong keys in a row without a delay: a client with an outdated key deserves no penalty. */
const undelayed = 5

const firstDelay = Duration.toMillis("250 millis")
const longestDelay = Duration.toMillis("4 seconds")

/** The count of a client starts again after this long without a wrong key. */
const forgottenAfter = forgottenAfterSeconds * 1000

const maximumClients = 10_000

/** Maximum number of delayed responses; open connections are the scarcer resource. */
const maximumDelayedResponses = 100

/** After this long a process goes by its own count. */
const countedWithin = "1 second"

/**
 * Counts a wrong key on a PostgreSQL, together with its other processes. One statement at a time, so that a guesser takes
 * one connection of the process at most.
 */
const sharedCount = (sql: SqlClient.SqlClient) => {
  const turns = Semaphore.makeUnsafe(1)
  return (network: string) =>
    turns
      .withPermits(1)(countFailedAuth(sql, network))
      .pipe(
        Effect.timeout(countedWithin),
        Effect.orElseSucceed(() => 0)
      )
}

/**
 * Makes the function that delays responses to wrong keys, longer each time; valid keys are never delayed. The counts
 * are bounded and in memory, since no key can be found by guessing. Processes of a PostgreSQL count together.
 * (docs/decisions/access.md)
 */
export const makeFailedAuthThrottle = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  // In the order of their last wrong key, oldest first.
  const clients = new Map<string, { readonly count: number; readonly last: number }>()
  const countTogether = byEngine(sql, { sqlite: () => undefined, postgres: () => sharedCount(sql) })
  let waiting = 0

  yield* registerGauge(
    "roster_throttled_networks",
    "Networks whose wrong keys this process answers with a delay",
    () => {
      const since = Date.now() - forgottenAfter
      return [...clients.values()].filter(({ count, last }) => count > undelayed && last > since).length
    }
  )
  yield* registerGauge("roster_delayed_responses", "Responses to wrong keys that are being delayed", () => waiting)

  const forget = (now: number) => {
    for (const [client, { last }] of clients) {
      if (now - last < forgottenAfter) return
      clients.delete(client)
    }
  }

  const countOf = (client: string, now: number): number => {
    forget(now)
    const count = (clients.get(client)?.count ?? 0) + 1
    clients.delete(client)
    clients.set(client, { count, last: now })
    return count
  }

  /** Makes room for the next client. So many at once are not counted together, which bounds the table of the counts. */
  const isCrowded = (): boolean => {
    const [oldest] = clients.keys()
    if (clients.size <= maximumClients || oldest === undefined) return false
    return clients.delete(oldest)
  }

  const whileWaiting = <A>(effect: Effect.Effect<A>) =>
    Effect.suspend(() => {
      waiting += 1
      return Effect.ensuring(
        effect,
        Effect.sync(() => (waiting -= 1))
      )
    })

  return Effect.fnUntraced(function* (peer: string) {
    const network = clientNetwork(peer)
    const own = countOf(network, yield* Clock.currentTimeMillis)
    const isAlone = isCrowded() || countTogether === undefined
    if (waiting >= maximumDelayedResponses) return
    const count = isAlone ? own : Math.max(own, yield* whileWaiting(countTogether(network)))
    if (count > undelayed) {
      yield* whileWaiting(Effect.sleep(Math.min(longestDelay, firstDelay * 2 ** (count - undelayed - 1))))
    }
  })
})
