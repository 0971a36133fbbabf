/**
 * Turns of what takes some milliseconds of the thread that answers requests: of each account one after the other, so that
 * many that arrive together keep nobody else waiting. (docs/limits.md)
 */
import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { registerGauge } from "../metrics/ObservableMetric.ts"
import { dialect } from "../store/SqlDialect.ts"
import * as FairQueue from "../threads/FairQueue.ts"

/** On SQLite the next turn begins while one waits for the lock, for which others would wait too. */
const onFile = { longestTurn: 100 }

/** On PostgreSQL each turn may hold a connection while it waits for the locks of another. */
const onServer = { atOnce: 2, longestTurn: 1000 }

/** The queues of a store. Pages do not wait for the lock of writes. */
export class Turns extends Context.Service<
  Turns,
  { readonly page: FairQueue.FairQueue; readonly write: FairQueue.FairQueue }
>()("@roster/server/Turns") {}

/** Runs work when it is its account's turn. */
export const inTurn =
  (queue: FairQueue.FairQueue) =>
  <A, E, R>(work: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.flatMap(Caller, ({ account }) => queue.run(account, () => work))

/** Provides the turns of the requests to a store. */
export const layer = Layer.effect(
  Turns,
  Effect.gen(function* () {
    const options = dialect(yield* SqlClient.SqlClient).writersWait ? onFile : onServer
    const turns = Turns.of({ page: FairQueue.make(options), write: FairQueue.make(options) })
    const held = () => turns.page.held() + turns.write.held()
    yield* registerGauge("roster_held_turns", "Large requests and pages that run or wait for their turn", held)
    return turns
  })
)
