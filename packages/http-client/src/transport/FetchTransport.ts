/** A slower `HttpClient` for every runtime with `fetch`, under the same limits. Redirects are not followed. */
import { KnownFields } from "@roster/domain/internal"
import { Context, Effect, Layer, Stream } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, HttpClientRequest } from "effect/http"
import {
  BufferedResponse,
  defaultMaximumBytes,
  encodingOf,
  isDecodable,
  streamedBody,
  UnsupportedEncoding
} from "./BufferedResponse.ts"

/**
 * Limits bodies that are read into memory, which fail with a `DecodeError` whose cause is `ResponseTooLarge`, and refuses
 * encodings that not every `fetch` decodes.
 */
export const limitResponse = <E, R>(
  client: HttpClient.HttpClient.With<E, R>,
  maximumBytes: number = defaultMaximumBytes
): HttpClient.HttpClient.With<E, R> =>
  HttpClient.transformResponse(
    client,
    Effect.map((response) => {
      // `fetch` reports an empty body as an error, as for status 204.
      const stream = Stream.catchIf(response.stream, isEmptyBody, () => Stream.empty)
      const encoding = encodingOf(response.headers)
      const unsupported = () => Stream.fail(new UnsupportedEncoding(encoding))
      const readable = isDecodable(encoding) ? stream : Stream.catch(Stream.flatMap(stream, unsupported), unsupported)
      return new BufferedResponse(response, { ...streamedBody(readable, maximumBytes), detectsTruncation: false })
    })
  )

const isEmptyBody = (error: unknown): boolean =>
  HttpClientError.isHttpClientError(error) && error.reason._tag === "EmptyBodyError"

/** Asks for what every `fetch` decodes: some, as that of Bun, would ask for encodings of their own. */
const askForGzip = (request: HttpClientRequest.HttpClientRequest) =>
  request.headers["accept-encoding"] === undefined
    ? HttpClientRequest.setHeader(request, "accept-encoding", "gzip")
    : request

/** Sends with the settings of the call, else with those of the layer, which fetch by itself would not read. */
const withRequestInit = (client: HttpClient.HttpClient, given: RequestInit): HttpClient.HttpClient =>
  HttpClient.transform(client, (sent) =>
    Effect.contextWith((call: Context.Context<never>) =>
      Effect.provideService(sent, FetchHttpClient.RequestInit, {
        ...given,
        ...Context.getOrUndefined(call, FetchHttpClient.RequestInit)
      })
    )
  )

/** The settings of the transport. */
export interface FetchOptions {
  /** Maximum size of a response that is read into memory, in bytes (default: 32 MiB). */
  readonly maximumResponseBytes?: number | undefined
}

const optionFields = KnownFields.fieldsOf<FetchOptions>("a transport", { maximumResponseBytes: true })

/**
 * A client on the `fetch` of the platform, with the `FetchHttpClient.RequestInit` that its layer or a call is given. Throws
 * `InvalidInput` for an unknown option.
 *
 * ```ts
 * import { FetchTransport, RosterClient } from "@roster/http-client"
 * import { Effect, Redacted } from "effect"
 *
 * const transport = FetchTransport.layer({ maximumResponseBytes: 16 * 1024 * 1024 })
 * const baseUrl = "https://roster.example.com/v4"
 *
 * export const example = RosterClient.make({ baseUrl, apiKey: Redacted.make("key") }).pipe(Effect.provide(transport))
 * ```
 */
export const layer = (options: FetchOptions = {}): Layer.Layer<HttpClient.HttpClient> => {
  KnownFields.requireFields(optionFields, options)
  return Layer.effect(
    HttpClient.HttpClient,
    Effect.gen(function* () {
      const built = yield* Effect.context()
      const client = HttpClient.mapRequest(yield* HttpClient.HttpClient, askForGzip)
      const requestInit = Context.getOrUndefined(built, FetchHttpClient.RequestInit)
      return limitResponse(
        requestInit === undefined ? client : withRequestInit(client, requestInit),
        options.maximumResponseBytes
      )
    })
  ).pipe(Layer.provide(FetchHttpClient.layer))
}
