/**
 * A query that is written once and asked again and again: putting its text together takes longer than many a look into the
 * database.
 */
import type { Effect } from "effect"
import type { SqlClient, SqlError, Statement } from "effect/sql"
import { dialect } from "./SqlDialect.ts"

/** Asks a query with other parameters, in the order in which they stand in it, and gives rows as their values. */
export const preparedQuery = (
  sql: SqlClient.SqlClient,
  query: Statement.Statement<unknown>
): ((
  parameters: ReadonlyArray<unknown>
) => Effect.Effect<ReadonlyArray<ReadonlyArray<unknown>>, SqlError.SqlError>) => {
  const [text] = query.compile()
  const { ask } = dialect(sql)
  return (parameters) => ask(text, parameters)
}
