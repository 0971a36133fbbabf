import { type InvalidInput, invalidInput } from "@roster/domain"
import { Effect, Schema } from "effect"

/** Validates a payload by encoding and decoding it, so that callers in-process and over HTTP get the same refusals. */
export const delivered = <A, I>(schema: Schema.Codec<A, I>): ((payload: A) => Effect.Effect<A, InvalidInput>) => {
  const write = Schema.encodeUnknownEffect(schema)
  const read = Schema.decodeUnknownEffect(schema)
  return (payload) => Effect.mapErrorEager(Effect.flatMapEager(write(payload), read), (error) => invalidInput(error))
}
