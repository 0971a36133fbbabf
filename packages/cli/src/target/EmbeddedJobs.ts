/**
 * The jobs of a store of this machine. Looking at them works on none: that is left to `roster serve`, or to a command that
 * waits for its own.
 */
import { Effect, Layer } from "effect"
import { Argument } from "effect/cli"
import * as EmbeddedStore from "./EmbeddedStore.ts"

export const layer = Layer.unwrap(Effect.map(EmbeddedStore.server, ({ Jobs }) => Jobs.layer)).pipe(
  Layer.provideMerge(EmbeddedStore.layer)
)

export const id = Argument.String("id").pipe(Argument.withDescription("Id of the job, as shown by: roster jobs list"))
