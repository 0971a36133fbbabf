/**
 * The `HttpClient` for every runtime that has `fetch`: slower than `UndiciHttpClient`, under the same limits. Redirects are
 * not followed.
 */
import { Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient } from "effect/http"
import { defaultMaximumBytes, limitResponse } from "./BodyLimit.ts"

export const layer = (
  options: {
    /** How much of a response is read into memory, in bytes: 32 MiB where it is not given. */
    readonly maximumResponseBytes?: number | undefined
  } = {}
): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) =>
      limitResponse(client, options.maximumResponseBytes ?? defaultMaximumBytes)
    )
  ).pipe(Layer.provide(FetchHttpClient.layer))
