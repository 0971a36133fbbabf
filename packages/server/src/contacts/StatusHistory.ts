/** Who gives a status or a consent, told to the triggers of a store, which note each. (docs/decisions/history.md) */
import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { Caller } from "../credentials/Caller.ts"
import { byEngine } from "../store/SqlDialect.ts"

/** Runs an update of contacts, in a transaction, as that of the caller and the run of the call. */
export const namingWriter = Effect.fnUntraced(function* <A, E, R>(
  update: Effect.Effect<A, E, R>,
  run: string | undefined
) {
  const sql = yield* SqlClient.SqlClient
  const { key } = yield* Caller
  const keyName = key?.name ?? null
  return yield* byEngine<Effect.Effect<A, E | SqlError.SqlError, R>>(sql, {
    sqlite: () => {
      const name = (key: string | null, run: string | null) =>
        sql`UPDATE change_writer SET key_name = ${key}, run = ${run}`
      return Effect.andThen(name(keyName, run ?? null), Effect.tap(update, name(null, null)))
    },
    // Both end with the transaction.
    postgres: () =>
      Effect.andThen(
        sql`SELECT set_config('roster.key_name', ${keyName ?? ""}, true), set_config('roster.run', ${run ?? ""}, true)`,
        update
      )
  })
})
