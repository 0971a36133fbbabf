/**
 * Transactions that are undone as a whole. Within another one a transaction is a savepoint, which keeps each page as it was
 * again for every statement: an add of a thousand contacts takes three times as long with it.
 */
import { Context, Effect } from "effect"
import type { SqlClient, SqlError } from "effect/sql"

const AtomicTransaction = Context.Reference<boolean>("@roster/server/AtomicTransaction", { defaultValue: () => false })

/** Runs an effect in a transaction, whose parts are not undone alone: whatever fails in it has to fail it all. */
export const inWholeTransaction = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  sql.withTransaction(Effect.provideService(effect, AtomicTransaction, true))

/** Runs an effect in a transaction of its own, or as a part of the one that is undone with it. */
export const inTransaction = <A, E, R>(
  sql: SqlClient.SqlClient,
  effect: Effect.Effect<A, E, R>
): Effect.Effect<A, E | SqlError.SqlError, R> =>
  Effect.flatMap(AtomicTransaction, (isPart): Effect.Effect<A, E | SqlError.SqlError, R> =>
    isPart ? effect : sql.withTransaction(effect)
  )
