/** What keeps a server from serving. */
import { KnownFields } from "@roster/domain/internal"
import { Effect, Schema } from "effect"
import type { HttpServerError } from "effect/http"

/** The service cannot listen on its address. */
export class ServeError extends Schema.TaggedError<ServeError>()("ServeError", { message: Schema.String }) {}

export const cannotListen = (host: string, port: number) =>
  Effect.mapError(
    ({ cause }: HttpServerError.ServeError) =>
      new ServeError({
        message: `Nothing can listen on ${host}:${port}: ${cause instanceof Error ? cause.message : String(cause)}`
      })
  )

/** Refuses options of an unknown name. */
export const checkServeOptions = (known: KnownFields.Known, given: unknown): Effect.Effect<void, ServeError> => {
  const refused = KnownFields.refusal(known, given)
  return refused === undefined ? Effect.void : Effect.fail(new ServeError({ message: `${refused.message}.` }))
}
