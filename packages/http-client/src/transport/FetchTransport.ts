/** A slower `HttpClient` for every runtime with `fetch`, under the same limits. Redirects are not followed. */
import { ResponseTooLarge } from "@roster/domain"
import { Effect, Layer, Stream } from "effect"
import { FetchHttpClient, HttpClient, type HttpClientResponse } from "effect/http"
import { BufferedResponse, concatBytes, defaultMaximumBytes } from "./BufferedResponse.ts"

/** Limits bodies that are read into memory, which fail with a `DecodeError` whose cause is `ResponseTooLarge`. */
export const limitResponse = <E, R>(
  client: HttpClient.HttpClient.With<E, R>,
  maximumBytes: number = defaultMaximumBytes
): HttpClient.HttpClient.With<E, R> =>
  HttpClient.transformResponse(
    client,
    Effect.map((response) => {
      // Cached, since a stream can be read only once.
      const bytes = Effect.runSync(Effect.cached(readBytes(response, maximumBytes)))
      const each = (use: (chunk: Uint8Array) => void) => Effect.map(bytes, use)
      return new BufferedResponse(response, { bytes, each, stream: response.stream, detectsTruncation: false })
    })
  )

const readBytes = ({ stream }: HttpClientResponse.HttpClientResponse, maximumBytes: number) =>
  Effect.suspend(() => {
    const chunks: Array<Uint8Array> = []
    let size = 0
    return stream.pipe(
      Stream.runForEach((chunk) => {
        chunks.push(chunk)
        size += chunk.length
        return size > maximumBytes ? Effect.fail(new ResponseTooLarge({ maximumBytes })) : Effect.void
      }),
      // `fetch` reports an empty body this way, as for status 204.
      Effect.catchIf(
        (error) => error._tag === "HttpClientError" && error.reason._tag === "EmptyBodyError",
        () => Effect.void
      ),
      Effect.map(() => concatBytes(chunks))
    )
  })

/** A client on the `fetch` of the platform. */
export const layer = (
  options: {
    /** Maximum size of a response that is read into memory, in bytes (default: 32 MiB). */
    readonly maximumResponseBytes?: number | undefined
  } = {}
): Layer.Layer<HttpClient.HttpClient> =>
  Layer.effect(
    HttpClient.HttpClient,
    Effect.map(HttpClient.HttpClient, (client) => limitResponse(client, options.maximumResponseBytes))
  ).pipe(Layer.provide(FetchHttpClient.layer))
