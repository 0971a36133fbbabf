/** The client of the contract, with the key in its header, and the state that its calls share. */
import {
  type Announcement,
  callHeader,
  idempotencyHonoured,
  idempotencyKeyHeader,
  resubscribeHeader,
  runHeader,
  storeHeader
} from "@roster/api"
import { NamedRun, type Resubscribe as Lifted } from "@roster/domain"
import { fnRedacted, resubscribeText, runIdOf } from "@roster/domain/internal"
import { Context, Effect, Function, identity, Layer, MutableRef, Option, Redacted } from "effect"
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
import type { Secrets } from "./ResponseDecoding.ts"
import { clientPolicy, RetryBudget, type RetryLimits } from "./RetryPolicy.ts"

/** Whether a service has said on an answer that it honours something: `undefined` before its first success. */
export interface Said {
  /** The word by which it says so. */
  readonly word: Announcement
  /** What its last success said. */
  current: boolean | undefined
}

/** Whether an answer has a word by which a service states that it honours something. */
export const says = ({ headers }: HttpClientResponse.HttpClientResponse, { name, value }: Announcement): boolean =>
  headers[name] === value

/** The operations as calls, and what the services share. */
export class RosterHttpApi extends Context.Service<
  RosterHttpApi,
  {
    /** The operations, to be run in `attemptContext`: elsewhere a redirect would take the key along. */
    readonly api: EndpointCalls
    /** Sends files as streams, which the contract cannot, with the key. Addresses are relative to the base address. */
    readonly withKey: HttpClient.HttpClient
    /** Runs an attempt: no redirect or printed header gets the key, no span an address, no other service a trace header. */
    readonly attemptContext: (call: Context.Context<never>) => Context.Context<never>
    /** For other hosts: never with the key. */
    readonly withoutKey: HttpClient.HttpClient
    readonly budget: RetryBudget
    /** The retry policy of a call that is made in a context. */
    readonly policyOf: (call: Context.Context<never>) => RetryLimits
    /** Whether the service honours Idempotency-Key. */
    readonly isKeyHonoured: Said
    /** What the service says by a word, the same for all calls. */
    readonly said: (word: Announcement) => Said
    /** The id of the contacts of the key; `undefined` before the service has said one, or that it has none. */
    readonly storeId: MutableRef.MutableRef<{ readonly id: string | undefined } | undefined>
    /** The header Date of the last answer. */
    readonly lastDate: MutableRef.MutableRef<string | undefined>
    readonly secrets: Secrets
    /** The base address. */
    readonly baseUrl: string
    /** Makes a public method with a span that names the service, but not the subject. */
    readonly fn: (name: string) => Effect.fn.Untraced
    /** Whether spans may name the subject of a call. */
    readonly traceSubjects: boolean
    /** Whether span ids are sent, which needs a span even without a tracer. */
    readonly propagateTrace: boolean
  }
>()("@roster/http-client/RosterHttpApi") {
  static readonly make = (options: ClientOptions) =>
    Effect.gen(function* () {
      const { baseUrl, header, headerValue, key } = yield* checkOptions(options)
      const { hostname, port, protocol } = new URL(baseUrl)
      const defaultPort = protocol === "https:" ? 443 : 80
      const attributes = { "server.address": hostname, "server.port": port === "" ? defaultPort : Number(port) }
      const { propagateTrace = false, traceSubjects = false } = options
      const heard: Array<Said> = []
      const said = (word: Announcement): Said => {
        const known = heard.find((one) => one.word === word)
        if (known !== undefined) return known
        const one: Said = { word, current: undefined }
        heard.push(one)
        return one
      }
      const storeId: RosterHttpApi["Service"]["storeId"] = MutableRef.make(undefined)
      const lastDate = MutableRef.make<string | undefined>(undefined)
      const noteCapabilities = (response: HttpClientResponse.HttpClientResponse) => {
        lastDate.current = response.headers["date"]
        for (const one of heard) {
          const isSaid = says(response, one.word)
          // A refusal may be that of a proxy.
          if (isSaid || response.status < 300) one.current = isSaid
        }
        const id = response.headers[storeHeader]
        if (id !== undefined || response.status < 300) storeId.current = { id }
        return response
      }
      const transport = yield* HttpClient.HttpClient
      const attemptContext = makeAttemptContext(header)
      const inAttemptContext = <A, E>(effect: Effect.Effect<A, E>) => Effect.updateContext(effect, attemptContext)
      /** Sends a prepared request, through the transform of the call, which sees it without key. */
      const through = (
        call: Context.Context<never>,
        request: HttpClientRequest.HttpClientRequest,
        prepare: (request: HttpClientRequest.HttpClientRequest) => HttpClientRequest.HttpClientRequest
      ) => {
        const transform = Context.get(call, ClientTransform)
        if (transform === undefined) return transport.execute(prepare(request))
        // The transform may have changed the context.
        const prepared = clientOf((request) => inAttemptContext(transport.execute(prepare(request))))
        return transform(prepared).execute(request)
      }
      const withoutKey = clientOf((request) =>
        inAttemptContext(Effect.contextWith((call: Context.Context<never>) => through(call, request, identity)))
      )
      // The last step before the transport, whose errors never leave this package.
      const keyHeader = Headers.fromInput(headerValue === undefined ? {} : { [header]: Redacted.value(headerValue) })
      const addKeys = (
        request: HttpClientRequest.HttpClientRequest,
        key: string | undefined,
        resubscribe: Lifted | undefined,
        run: string | undefined,
        name: string | undefined
      ) => {
        const { body, hash, headers, method, url, urlParams } = request
        const keyed = key === undefined ? keyHeader : Headers.set(keyHeader, idempotencyKeyHeader, key)
        const lifting =
          resubscribe === undefined ? keyed : Headers.set(keyed, resubscribeHeader, resubscribeText(resubscribe))
        const inRun = run === undefined ? lifting : Headers.set(lifting, runHeader, runIdOf(run))
        const all = name === undefined ? inRun : Headers.set(inRun, callHeader, name)
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
          return traceparent === undefined ? request : HttpClientRequest.setHeader(request, "traceparent", traceparent)
        })
      const execute = (request: HttpClientRequest.HttpClientRequest) =>
        Effect.withFiber((fiber) => {
          const key = Context.get(fiber.context, IdempotencyKey)
          const resubscribe = Context.get(fiber.context, Resubscribe)
          const run = Context.get(fiber.context, NamedRun)
          const name = Context.get(fiber.context, SentCallName)
          const sent = through(fiber.context, request, (request) => addKeys(request, key, resubscribe, run, name))
          return Effect.map(sent, noteCapabilities)
        })
      const send = propagateTrace
        ? (request: HttpClientRequest.HttpClientRequest) => Effect.flatMap(addTrace(request), execute)
        : execute
      const api = endpointCalls(baseUrl, send)
      const withKey = clientOf((request) => send(HttpClientRequest.prependUrl(request, baseUrl)))
      return RosterHttpApi.of({
        api,
        withKey,
        attemptContext,
        withoutKey,
        budget: new RetryBudget(),
        policyOf: yield* clientPolicy(options.retry),
        isKeyHonoured: said(idempotencyHonoured),
        said,
        storeId,
        lastDate,
        secrets: key === undefined ? [] : [key],
        baseUrl,
        fn: (name) => fnRedacted(name, { kind: "client", attributes, traceSubjects }),
        traceSubjects,
        propagateTrace
      })
    })

  static readonly layer = (options: ClientOptions) => Layer.effect(RosterHttpApi, RosterHttpApi.make(options))
}

/** Changes the `HttpClient` of the calls around which it is provided: the methods of the services know no HTTP. */
export const ClientTransform = Context.Reference<
  ((client: HttpClient.HttpClient) => HttpClient.HttpClient) | undefined
>("@roster/http-client/ClientTransform", { defaultValue: () => undefined })

const clientOf = (
  execute: (
    request: HttpClientRequest.HttpClientRequest
  ) => Effect.Effect<HttpClientResponse.HttpClientResponse, HttpClientError.HttpClientError>
): HttpClient.HttpClient =>
  HttpClient.makeWith<HttpClientError.HttpClientError, never, HttpClientError.HttpClientError, never>(
    Effect.flatMap(execute),
    Effect.succeed
  )

/** The idempotency key of the current call. `HttpClient` has no parameter for it, and it is no header before the last step. */
export const IdempotencyKey = Context.Reference<string | undefined>("@roster/http-client/IdempotencyKey", {
  defaultValue: () => undefined
})

/** The name of the current call, if its operation takes one, for the same reason. */
export const SentCallName = Context.Reference<string | undefined>("@roster/http-client/SentCallName", {
  defaultValue: () => undefined
})

/** The statuses that the current call lifts, for the same reason; `undefined` leaves it to the service. */
export const Resubscribe = Context.Reference<Lifted | undefined>("@roster/http-client/Resubscribe", {
  defaultValue: () => undefined
})

const makeAttemptContext = (header: string) => {
  const name = header.toLowerCase()
  // The calls of a program usually have the same context, and each addition would be a step of every lookup.
  return Function.memoize((call: Context.Context<never>): Context.Context<never> => {
    const guarded = call.pipe(
      Context.add(FetchHttpClient.RequestInit, {
        ...Context.getOrUndefined(call, FetchHttpClient.RequestInit),
        ...noRedirects
      }),
      Context.add(HttpClient.TracerDisabledWhen, always),
      Context.add(HttpClient.TracerPropagationEnabled, false),
      Context.add(Headers.CurrentRedactedNames, [...Context.get(call, Headers.CurrentRedactedNames), name])
    )
    return Context.makeUnsafe<never>(guarded.mapUnsafe)
  })
}

const noRedirects: RequestInit = { redirect: "manual" }
const always = () => true
