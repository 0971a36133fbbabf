/** The client of PostgreSQL, loaded where one is used, so that stores in files do without it. */
import { noSecretText, secretText } from "@roster/domain/internal"
import { Effect, Layer } from "effect"
import type { SqlClient, SqlError } from "effect/sql"
import { type StoreUnavailable, unavailable } from "../sqlite/StoreError.ts"
import { describe } from "./PostgresError.ts"
import { nameOf, type PostgresOptions } from "./PostgresOptions.ts"

/** Why nothing was asked of a PostgreSQL, as a sentence. */
export const failure = (error: SqlError.SqlError): string => {
  const why = describe(error) ?? (error.reason._tag === "ConnectionError" ? "it cannot be reached" : error.message)
  return `${why.charAt(0).toUpperCase()}${why.slice(1)}.`
}

/** Provides the client. Its tables are as they are. */
export const layer = (
  options: PostgresOptions,
  kept?: number,
  session?: string
): Layer.Layer<SqlClient.SqlClient, StoreUnavailable> =>
  Layer.unwrap(
    Effect.gen(function* () {
      const name = nameOf(options)
      const { password, url } = options
      const isPasswordRead = password === undefined || secretText(password) !== undefined
      const unread = secretText(url) === undefined ? "address" : isPasswordRead ? undefined : "password"
      if (unread !== undefined) return yield* unavailable(name, `Its ${unread} cannot be used: ${noSecretText}.`)
      const { layer } = yield* Effect.promise(() => import("./PostgresClient.ts"))
      const client = Effect.mapError(Layer.build(layer(options, kept, session)), (error) =>
        unavailable(name, failure(error))
      )
      return Layer.effectContext(client)
    })
  )
