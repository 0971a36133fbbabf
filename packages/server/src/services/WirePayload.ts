/**
 * Payloads of callers in this process, which no contract has decoded. They are encoded for the wire and decoded again, as a
 * server would receive them from a client, so that both refuse the same input in the same words.
 */
import { type InvalidInput, invalidInput } from "@roster/domain"
import { Context, Effect, Schema } from "effect"

/**
 * Whether payloads come from the wire, where the contract decoded them (default: no). Doing so again would cost more than
 * half as much as adding the contacts.
 */
export const FromWire = Context.Reference<boolean>("@roster/server/FromWire", { defaultValue: () => false })

/** Makes the function that validates a payload as a server would. */
export const delivered = <A, I>(schema: Schema.Codec<A, I>): ((payload: A) => Effect.Effect<A, InvalidInput>) => {
  const write = Schema.encodeUnknownEffect(schema)
  const read = Schema.decodeUnknownEffect(schema)
  return (payload) =>
    Effect.flatMapEager(FromWire, (fromWire) =>
      fromWire
        ? Effect.succeed(payload)
        : Effect.mapErrorEager(Effect.flatMapEager(write(payload), read), (error) => invalidInput(error))
    )
}
