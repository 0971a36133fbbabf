/** Delays the answers to wrong keys. Valid keys are never delayed. */
import { Duration, Effect, Semaphore } from "effect"
import { SqlClient } from "effect/sql"
import { keepLatest } from "../credentials/KeyLookup.ts"
import { registerGauge } from "../metrics/ObservableMetric.ts"
import { clientNetwork } from "../network/IpRanges.ts"
import { countFailedAuth, forgottenAfterSeconds } from "../store/postgres/FailedAuthCounts.ts"
import { byEngine } from "../store/SqlDialect.ts"
import { processMillis, storeClock } from "../store/StoreClock.ts"
import { makeQuota } from "../threads/Quota.ts"

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
      .withPermits(1)(Effect.flatMap(storeClock(sql).inSql, (now) => countFailedAuth(sql, network, now)))
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
  const counts = new Map<string, { readonly count: number; readonly last: number }>()
  const countTogether = byEngine(sql, { sqlite: () => undefined, postgres: () => sharedCount(sql) })
  const delayed = makeQuota({ own: maximumDelayedResponses, all: maximumDelayedResponses })

  yield* registerGauge(
    "roster_throttled_networks",
    "Networks whose wrong keys this process answers with a delay",
    () => {
      // oxlint-disable-next-line eslint/no-restricted-properties -- a span in memory
      const now = Date.now()
      return [...counts.values()].filter(({ count, last }) => count > undelayed && now - last < forgottenAfter).length
    }
  )
  yield* registerGauge("roster_delayed_responses", "Responses to wrong keys that are being delayed", delayed.held)

  /** Counts a wrong key here. So many networks at once are not counted together, which bounds the table of the counts. */
  const countHere = (network: string, now: number) => {
    const before = counts.get(network)
    const count = before !== undefined && now - before.last < forgottenAfter ? before.count + 1 : 1
    counts.delete(network)
    counts.set(network, { count, last: now })
    const forgotten = keepLatest(counts, maximumClients)
    return { count, isCrowded: forgotten !== undefined && now - forgotten.last < forgottenAfter }
  }

  return Effect.fnUntraced(
    function* (peer: string) {
      const network = clientNetwork(peer)
      const here = countHere(network, yield* processMillis)
      yield* delayed.hold(network)
      const together = here.isCrowded || countTogether === undefined ? 0 : yield* countTogether(network)
      const count = Math.max(here.count, together)
      if (count > undelayed) yield* Effect.sleep(Math.min(longestDelay, firstDelay * 2 ** (count - undelayed - 1)))
    },
    Effect.scoped,
    // As many as may are delayed already, and this one is not.
    (delay) => Effect.ignore(delay)
  )
})
