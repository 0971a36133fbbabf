/**
 * Payloads of callers in this process, who come through no contract. They are taken as a server takes them from a client:
 * written for the wire and read again, so that both refuse the same in the same words.
 */
import { type InvalidInput, invalidInput } from "@roster/domain"
import { Effect, Schema } from "effect"

/**
 * Makes what turns a payload into what a server would get of it.
 */
export const delivered = <A, I>(schema: Schema.Codec<A, I>): ((payload: A) => Effect.Effect<A, InvalidInput>) => {
  const write = Schema.encodeUnknownEffect(schema)
  const read = Schema.decodeUnknownEffect(schema)
  return (payload) => Effect.mapErrorEager(Effect.flatMapEager(write(payload), read), (error) => invalidInput(error))
}
