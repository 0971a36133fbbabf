/**
 * The client that the contract gives, with the key in its header, and what its calls share.
 */
import { idempotencyHonoured, idempotencyKeyHeader } from "@roster/api"
import { fnRedacted } from "@roster/domain"
import { Context, Effect, Layer, MutableRef, Option, Redacted } from "effect"
import {
  FetchHttpClient,
  Headers,
  HttpClient,
  type HttpClientError,
  HttpClientRequest,
  HttpTraceContext
} from "effect/http"
import { checkOptions, type ClientOptions } from "./ClientOptions.ts"
import { type EndpointCalls, endpointCalls } from "./EndpointCalls.ts"
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
    /** Makes a public method, with a span of its name that tells whom it calls, and not whom it is about. */
    readonly fn: (name: string) => Effect.fn.Untraced
    /** Whether spans may tell whom a call is about all the same. */
    readonly traceSubjects: boolean
    /** Whether the ids of spans are sent, so that a span is needed even where no tracer sees it. */
    readonly propagateTrace: boolean
  }
>()("@roster/http-client/RosterHttpApi") {
  static readonly layer = (options: ClientOptions) =>
    Layer.effect(
      RosterHttpApi,
      Effect.gen(function* () {
        const { baseUrl, header, headerValue, key } = yield* checkOptions(options)
        const { hostname, port, protocol } = new URL(baseUrl)
        const defaultPort = protocol === "https:" ? 443 : 80
        const attributes = { "server.address": hostname, "server.port": port === "" ? defaultPort : Number(port) }
        const { propagateTrace = false, traceSubjects = false } = options
        const isKeyHonoured = MutableRef.make(false)
        const transport = yield* HttpClient.HttpClient
        const withoutKey = transport.pipe(HttpClient.transform(inOurContext(header)))
        const own = headerValue === undefined ? {} : { [header]: Redacted.value(headerValue) }
        const traceparent = Effect.map(Effect.option(Effect.currentSpan), (span) =>
          Option.isNone(span) ? undefined : HttpTraceContext.toHeaders(span.value)["traceparent"]
        )
        // The last step before the transport, whose errors never leave this package.
        const send = Effect.fnUntraced(function* (request: HttpClientRequest.HttpClientRequest) {
          const key = yield* IdempotencyKey
          const trace = propagateTrace ? yield* traceparent : undefined
          const headers = {
            ...own,
            ...(key === undefined ? {} : { [idempotencyKeyHeader]: key }),
            ...(trace === undefined ? {} : { traceparent: trace })
          }
          const response = yield* withoutKey.execute(HttpClientRequest.setHeaders(request, headers))
          if (response.headers[idempotencyHonoured.name] === idempotencyHonoured.value) isKeyHonoured.current = true
          return response
        })
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
          isKeyHonoured,
          secrets: key === undefined ? [] : [key],
          fn: (name) => fnRedacted(name, { kind: "client", attributes, traceSubjects }),
          traceSubjects,
          propagateTrace
        })
      })
    )
}

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
      Context.add(Context.merge(context, quiet), Headers.CurrentRedactedNames, [
        ...Context.get(context, Headers.CurrentRedactedNames),
        header.toLowerCase()
      ])
    )

const quiet = Context.make(FetchHttpClient.RequestInit, { redirect: "manual" }).pipe(
  Context.add(HttpClient.TracerDisabledWhen, () => true),
  Context.add(HttpClient.TracerPropagationEnabled, false)
)
