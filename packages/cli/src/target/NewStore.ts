/**
 * The services of a store that does not exist yet. The first call makes it, so that a command that is refused before leaves
 * none, or fails where the command makes none. Loaded only for such a store.
 */
import { RosterClient } from "@roster/http-client"
import type { PolicyOptions } from "@roster/server"
import * as EmbeddedHttpClient from "@roster/server/EmbeddedHttpClient"
import { Context, Effect, identity, Layer, References } from "effect"
import { HttpClient } from "effect/http"
import { StoreNotMade } from "./StoreNotMade.ts"

interface NewStore {
  /** The file, which is announced, or the refusal to make it. */
  readonly file: Effect.Effect<string, StoreNotMade["error"]>
  readonly store: PolicyOptions
  readonly transformClient?: ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
}

export const layer = ({ file, store, transformClient = identity }: NewStore) => {
  const embedded = Layer.unwrap(Effect.map(file, (filename) => EmbeddedHttpClient.layer({ ...store, filename }))).pipe(
    // Failures reach the user as errors; the log is for operators.
    Layer.provide(Layer.succeed(References.MinimumLogLevel, "None"))
  )
  const later = Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const scope = yield* Effect.scope
      const opened = yield* Effect.cached(
        Layer.buildWithScope(embedded, scope).pipe(
          Effect.mapBoth({
            onSuccess: Context.get(HttpClient.HttpClient),
            onFailure: (error) => new StoreNotMade({ error })
          }),
          Effect.orDie,
          Effect.uninterruptible
        )
      )
      return transformClient(HttpClient.make((request) => Effect.flatMap(opened, (client) => client.execute(request))))
    })
  )
  // As `Connection.layerLocal`: the store itself waits for locks.
  return RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl, retry: { attempts: 1 } }).pipe(Layer.provide(later))
}
