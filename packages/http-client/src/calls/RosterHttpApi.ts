/** The client that the contract gives, with the key in its header, and what its calls share. */
import { idempotencyHonoured, idempotencyKeyHeader } from "@roster/api"
import { fnRedacted } from "@roster/domain"
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
import { clientPolicy, RetryBudget, type RetrySettings } from "./RetryPolicy.ts"

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
          budget: new RetryBudget(),
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
      // One by one: `Context.merge` copies the whole context on every call.
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
