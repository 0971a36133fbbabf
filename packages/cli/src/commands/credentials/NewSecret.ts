/**
 * Showing a new credential, which is the only time that its secret is seen.
 */
import { Effect, type Schema } from "effect"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"

export const newSecret = Effect.fnUntraced(function* <A>(schema: Schema.Codec<A, unknown>, created: A) {
  const output = yield* Output
  yield* Results.record(schema, created)
  if (output.format === "table") yield* output.note("The Token above is shown only once. Save it now.")
})
