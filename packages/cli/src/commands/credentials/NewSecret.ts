/** Prints a new credential. Its secret is shown only this once. */
import { Effect, type Schema } from "effect"
import { Output } from "../../terminal/Output.ts"
import * as Results from "../../terminal/Results.ts"

export const newSecret = Effect.fnUntraced(function* <A>(schema: Schema.Codec<A, unknown>, created: A) {
  const output = yield* Output
  yield* Results.record(schema, created)
  if (output.format === "table") yield* output.note("The Token above is shown only once. Save it now.")
})
