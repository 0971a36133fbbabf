/**
 * The database of a store, its tables brought up to date: all that what works on the embedded store alone needs.
 */
import { Effect, Layer } from "effect"
import type { SqlClient } from "effect/sql"
import { migrate } from "./Migrations.ts"
import * as SqliteClient from "./sqlite/SqliteClient.ts"
import { registerFunctions } from "./sqlite/SqliteFunctions.ts"
import { type StoreDamaged, StoreUnavailable } from "./sqlite/StoreError.ts"

/**
 * Why a store cannot be used.
 *
 * @category errors
 * @since 0.1.0
 */
export type StoreError = StoreDamaged | StoreUnavailable

/**
 * @category layers
 * @since 0.1.0
 */
export const layer = ({
  filename
}: {
  /** The database file, made where it is not there; `:memory:` keeps nothing. */
  readonly filename: string
}): Layer.Layer<SqlClient.SqlClient | SqliteClient.SqliteClient, StoreError> =>
  Layer.effectDiscard(
    migrate.pipe(
      Effect.mapError(
        (error) =>
          new StoreUnavailable({ filename, message: `Its tables cannot be brought up to date: ${error.message}` })
      )
    )
  ).pipe(Layer.provideMerge(SqliteClient.layer({ filename, prepare: registerFunctions })))
