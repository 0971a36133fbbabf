/** Rows as values of a schema, and how many a page has. */
import { Effect, Schema } from "effect"

/** The records of a page whose caller gives no limit. */
export const defaultPage = 20

/**
 * Makes the function that reads the rows of a statement. One that does not fit is a bug, since only this code writes
 * them.
 */
export const readRows = <S extends Schema.ConstraintDecoder<unknown>>(schema: S) => {
  const decode = Schema.decodeUnknownEffect(Schema.Array(schema))
  return <E, R>(statement: Effect.Effect<ReadonlyArray<unknown>, E, R>) =>
    Effect.flatMap(statement, (rows) => Effect.orDie(decode(rows)))
}
