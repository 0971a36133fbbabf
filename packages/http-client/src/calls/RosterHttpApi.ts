/**
 * The client that the contract gives, with the key in its header, and what its calls share.
 */
import { idempotencyHonoured, idempotencyKeyHeader } from "@roster/api"
import { Context, Effect, Layer, MutableRef, Option, Redacted } from "effect"
import {
  FetchHttpClient,
  Headers,
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  type HttpClientResponse,
  HttpTraceContext
} from "effect/http"
import { checkOptions, type ClientOptions } from "./ClientOptions.ts"
import { type EndpointCalls, endpointCalls } from "./EndpointCalls.ts"
import type { MethodSpan } from "./Method.ts"
import { makeRetryBudget, type RetryBudget } from "./RetryBudget.ts"
import { clientPolicy, type RetrySettings } from "./RetryPolicy.ts"

/** The contract as calls, and what the services need besides. */
export class RosterHttpApi extends Context.Service<
  RosterHttpApi,
  {
    readonly api: EndpointCalls
    /** For what the contract cannot send: a file as a stream. The address is relative to the base address. */
    readonly withKey: HttpClient.HttpClient
    /** For addresses of other hosts: never with the key. */
    readonly withoutKey: HttpClient.HttpClient
    readonly budget: RetryBudget
    /** The retry policy of a call that is made in a context. */
    readonly policyOf: (call: Context.Context<never>) => RetrySettings
    /** Whether the service has said that it honours Idempotency-Key. */
    readonly isKeyHonoured: MutableRef.MutableRef<boolean>
    readonly secrets: ReadonlyArray<Redacted.Redacted<string>>
    readonly propagateTrace: boolean
    /** What the spans of all methods have in common: whom they call, and whether they tell whom a call is about. */
    readonly span: MethodSpan
  }
>()("@roster/http-client/RosterHttpApi") {
  static readonly layer = (options: ClientOptions) =>
    Layer.effect(
      RosterHttpApi,
      Effect.gen(function* () {
        const { baseUrl, header, headerValue, key } = yield* checkOptions(options)
        const url = new URL(baseUrl)
        const isKeyHonoured = MutableRef.make(false)
        const hear = (response: HttpClientResponse.HttpClientResponse) => {
          if (response.headers[idempotencyHonoured.name] === idempotencyHonoured.value) isKeyHonoured.current = true
          return response
        }
        const transport = yield* HttpClient.HttpClient
        const withoutKey = transport.pipe(HttpClient.transform(inOurContext(header)))
        // The last step before the transport, whose errors never leave this package.
        const own = Headers.fromInput(headerValue === undefined ? {} : { [header]: Redacted.value(headerValue) })
        const addKeys = (request: HttpClientRequest.HttpClientRequest, key: string | undefined) => {
          const { body, hash, headers, method, url, urlParams } = request
          const all = key === undefined ? own : Headers.set(own, idempotencyKeyHeader, key)
          return HttpClientRequest.makeWith(
            method,
            url,
            urlParams,
            hash,
            headers === Headers.empty ? all : Headers.merge(headers, all),
            body
          )
        }
        const addTrace = (request: HttpClientRequest.HttpClientRequest) =>
          Effect.map(Effect.option(Effect.currentSpan), (span) => {
            const traceparent = Option.isNone(span) ? undefined : HttpTraceContext.toHeaders(span.value)["traceparent"]
            return traceparent === undefined
              ? request
              : HttpClientRequest.setHeader(request, "traceparent", traceparent)
          })
        const propagateTrace = options.propagateTrace === true
        const execute = (request: HttpClientRequest.HttpClientRequest) =>
          Effect.withFiber((fiber) => {
            const sent = withoutKey.execute(addKeys(request, Context.get(fiber.context, IdempotencyKey)))
            return Effect.map(sent, hear)
          })
        const send = propagateTrace
          ? (request: HttpClientRequest.HttpClientRequest) => Effect.flatMap(addTrace(request), execute)
          : execute
        const api = endpointCalls(baseUrl, send)
        const withKey = HttpClient.makeWith<
          HttpClientError.HttpClientError,
          never,
          HttpClientError.HttpClientError,
          never
        >(
          Effect.flatMap((request) => send(HttpClientRequest.prependUrl(request, baseUrl))),
          Effect.succeed
        )
        return RosterHttpApi.of({
          api,
          withKey,
          withoutKey,
          budget: yield* makeRetryBudget,
          policyOf: yield* clientPolicy(options.retry),
          propagateTrace,
          isKeyHonoured,
          secrets: key === undefined ? [] : [key],
          span: {
            kind: "client",
            attributes: { "server.address": url.hostname, "server.port": portOf(url) },
            traceSubjects: options.traceSubjects === true
          }
        })
      })
    )
}

const portOf = ({ port, protocol }: URL): number => (port !== "" ? Number(port) : protocol === "https:" ? 443 : 80)

/** The key of the call under way, the same on all its attempts. */
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
    Effect.updateContext(effect, (context: Context.Context<R>) =>
      context.pipe(
        Context.add(FetchHttpClient.RequestInit, manual),
        Context.add(HttpClient.TracerDisabledWhen, always),
        Context.add(HttpClient.TracerPropagationEnabled, false),
        Context.add(Headers.CurrentRedactedNames, [
          ...Context.get(context, Headers.CurrentRedactedNames),
          header.toLowerCase()
        ])
      )
    )

const manual: RequestInit = { redirect: "manual" }
const always = () => true
