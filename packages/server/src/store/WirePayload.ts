import { type InvalidInput, invalidInput } from "@roster/domain"
import { Effect, Schema } from "effect"

/**
 * Makes the function that validates a payload of a service. It is encoded for the wire and decoded again, as a server would receive it
 * from a client, so that callers in this process and over HTTP are refused the same input in the same words.
 */
export const delivered = <A, I>(schema: Schema.Codec<A, I>): ((payload: A) => Effect.Effect<A, InvalidInput>) => {
  const write = Schema.encodeUnknownEffect(schema)
  const read = Schema.decodeUnknownEffect(schema)
  return (payload) => Effect.mapErrorEager(Effect.flatMapEager(write(payload), read), (error) => invalidInput(error))
}
