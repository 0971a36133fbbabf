/**
 * The client that the contract gives, with the key in its header, and what its calls share.
 */
import { ApiKeyAuth, idempotencyHonoured, idempotencyKeyHeader, RosterApi } from "@roster/api"
import { Context, Effect, Layer, Option, Redacted, Ref } from "effect"
import {
  FetchHttpClient,
  Headers,
  HttpClient,
  HttpClientRequest,
  type HttpClientResponse,
  HttpTraceContext
} from "effect/http"
import { HttpApiClient, HttpApiMiddleware } from "effect/http-api"
import { checkOptions, type ClientOptions } from "./ClientOptions.ts"
import { makeRetryBudget, type RetryBudget } from "./RetryBudget.ts"

/**
 * The contract as calls, and what the services need besides.
 *
 * @internal
 */
export class RosterHttpApi extends Context.Service<
  RosterHttpApi,
  {
    readonly api: HttpApiClient.ForApi<typeof RosterApi>
    /** For what the contract cannot send: a file as a stream. The address is relative to the base address. */
    readonly withKey: HttpClient.HttpClient
    /** For addresses of other hosts: never with the key. */
    readonly withoutKey: HttpClient.HttpClient
    readonly budget: RetryBudget
    /** Whether the service has said that it honours Idempotency-Key. */
    readonly isKeyHonoured: Ref.Ref<boolean>
    readonly secrets: ReadonlyArray<Redacted.Redacted<string>>
    readonly traceSubjects: boolean
  }
>()("@roster/http-client/RosterHttpApi") {
  static readonly layer = (options: ClientOptions) =>
    Layer.effect(
      RosterHttpApi,
      Effect.gen(function* () {
        const { baseUrl, header, headerValue, key } = yield* checkOptions(options)
        const isKeyHonoured = yield* Ref.make(false)
        const hear = (response: HttpClientResponse.HttpClientResponse) =>
          Ref.update(
            isKeyHonoured,
            (known) => known || response.headers[idempotencyHonoured.name] === idempotencyHonoured.value
          )
        const withoutKey = (yield* HttpClient.HttpClient).pipe(HttpClient.transform(inOurContext(header)))
        const client = withoutKey.pipe(
          HttpClient.mapRequest(HttpClientRequest.prependUrl(baseUrl)),
          HttpClient.tap(hear)
        )
        // The last step before the transport, whose errors never leave this package.
        const addHeaders = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
          const key = yield* IdempotencyKey
          const span = options.propagateTrace === true ? yield* Effect.option(Effect.currentSpan) : Option.none()
          return HttpClientRequest.setHeaders(request, {
            ...(key === undefined ? {} : { [idempotencyKeyHeader]: key }),
            ...(Option.isNone(span)
              ? {}
              : { traceparent: HttpTraceContext.toHeaders(span.value)["traceparent"] ?? "" }),
            ...(headerValue === undefined ? {} : { [header]: Redacted.value(headerValue) })
          })
        })
        const auth = HttpApiMiddleware.layerClient(ApiKeyAuth, ({ next, request }) =>
          Effect.flatMap(addHeaders(request), next)
        )
        const api = yield* HttpApiClient.makeWith(RosterApi, { httpClient: client }).pipe(Effect.provide(auth))
        const withKey = client.pipe(HttpClient.mapRequestEffect(addHeaders))
        return RosterHttpApi.of({
          api,
          withKey,
          withoutKey,
          budget: yield* makeRetryBudget,
          isKeyHonoured,
          secrets: key === undefined ? [] : [key],
          traceSubjects: options.traceSubjects === true
        })
      })
    )
}

/**
 * The key of the call under way, the same on all its attempts.
 *
 * @internal
 */
export const IdempotencyKey = Context.Reference<string | undefined>("@roster/http-client/IdempotencyKey", {
  defaultValue: () => undefined
})

/**
 * No redirect is followed, since the key would go with it; the client's own span is off, since it would hold the e-mail
 * of the address; no trace headers go to a service that is not ours; and whoever prints the headers sees no key.
 */
const inOurContext =
  (header: string) =>
  <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    effect.pipe(
      Effect.provideService(FetchHttpClient.RequestInit, { redirect: "manual" }),
      Effect.provideService(HttpClient.TracerDisabledWhen, () => true),
      Effect.provideService(HttpClient.TracerPropagationEnabled, false),
      Effect.updateService(Headers.CurrentRedactedNames, (names) => [...names, header.toLowerCase()])
    )
