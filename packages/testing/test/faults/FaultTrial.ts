/**
 * One trial of the client against a fault: its result, the server's view, all output, and whether anything was left
 * open.
 */
import { type ClientOptions, type InvalidSettings, RetryPolicy, RosterClient } from "@roster/http-client"
import * as FetchTransport from "@roster/http-client/FetchTransport"
import * as UndiciHttpClient from "@roster/http-client/UndiciHttpClient"
import { Duration, Effect, type Exit, Layer, Logger, References, type Scope, Tracer } from "effect"
import type { HttpClient } from "effect/http"
import { inspect } from "node:util"
import { canaryKey, leaksOf } from "./Canary.ts"
import { canaryEmail, type Services } from "./EveryOperation.ts"
import { allClosed, type LedgerConnection, type LedgerRequest } from "./server/FaultLedger.ts"
import { type FaultPlan, type FaultServer, faultServer } from "./server/FaultServer.ts"

/** The settings of the retry policy. */
export type Policy = typeof RetryPolicy.Service

/** The policy of trials that are not about waits: the rules of the default policy with short waits. */
export const fastPolicy: Effect.Effect<Policy> = Effect.map(RetryPolicy, (policy) => ({
  ...policy,
  base: Duration.millis(1),
  throttledBase: Duration.millis(1),
  longestWait: Duration.millis(5),
  attemptTimeout: Duration.seconds(5),
  totalTimeout: Duration.seconds(15)
}))

/** The transport that trials run on. */
export const layerTransport: Layer.Layer<HttpClient.HttpClient, InvalidSettings> = UndiciHttpClient.layer()

/** All transports by name, for tests that have to hold on each. */
export const transports = [
  ["undici", layerTransport],
  ["fetch", FetchTransport.layer()]
] as const

/** The call, the plan of the server and the settings of a trial. */
export interface TrialOptions<A, E> {
  readonly call: Effect.Effect<A, E, Services> | ((server: FaultServer) => Effect.Effect<A, E, Services>)
  readonly plan: FaultPlan
  /** Settings that differ from the fast policy. */
  readonly policy?: Partial<Policy> | undefined
  /** Options that differ from the address of the server and the canary key. */
  readonly client?: ((server: FaultServer) => Partial<ClientOptions>) | undefined
  readonly transport?: Layer.Layer<HttpClient.HttpClient, InvalidSettings> | undefined
}

/** What a trial found. */
export interface Trial<A, E> {
  readonly exit: Exit.Exit<A, E | InvalidSettings>
  /** Milliseconds from the first step of the call to its end. */
  readonly elapsed: number
  readonly requests: ReadonlyArray<LedgerRequest>
  readonly connections: ReadonlyArray<LedgerConnection>
  /** The log, and every span with its attributes, events and end. */
  readonly printed: string
}

/**
 * Runs a call with a new client, then closes the client and waits for its sockets to close. Dies if a secret was
 * printed, if an e-mail is in a log or a span, or if a socket stays open.
 */
export const trial = <A, E>(options: TrialOptions<A, E>): Effect.Effect<Trial<A, E>, never, Scope.Scope> =>
  Effect.gen(function* () {
    const server = yield* faultServer(options.plan)
    const settings = { ...(yield* fastPolicy), ...options.policy }
    const client = RosterClient.layer({ baseUrl: server.baseUrl, apiKey: canaryKey, ...options.client?.(server) })
    const started = performance.now()
    const call = typeof options.call === "function" ? options.call(server) : options.call
    const { exit, printed } = yield* observed(
      call.pipe(
        Effect.provide(client.pipe(Layer.provide(options.transport ?? layerTransport)), { local: true }),
        Effect.provideService(RetryPolicy, settings)
      )
    )
    const elapsed = performance.now() - started
    yield* server.ledger.until(allClosed, "3 seconds")
    return { exit, elapsed, requests: server.ledger.requests(), connections: server.ledger.connections(), printed }
  })

/**
 * Runs an effect with recording loggers and a recording tracer, and dies if a secret appears anywhere, or the canary
 * e-mail in the output.
 */
export const observed = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const logged: Array<string> = []
  const spans: Array<Tracer.NativeSpan> = []
  const logger = Logger.make((entry) => {
    logged.push(
      inspect([entry.message, entry.cause, entry.logLevel], { depth: Infinity }),
      JSON.stringify([Logger.formatJson.log(entry)])
    )
  })
  const tracer = Tracer.make({
    span: (options) => {
      const span = new Tracer.NativeSpan(options)
      spans.push(span)
      return span
    }
  })
  const exit = yield* effect.pipe(
    Effect.provide(Logger.layer([logger]), { local: true }),
    Effect.provideService(Tracer.Tracer, tracer),
    Effect.provideService(References.MinimumLogLevel, "All"),
    Effect.exit
  )
  const printed = [
    ...logged,
    ...spans.map((span) =>
      inspect([span.name, span.attributes, span.events, span.links, span.status], { depth: Infinity })
    )
  ].join("\n")
  const leaks = [...leaksOf("the result", exit), ...leaksOf("logs and spans", printed)]
  if (printed.includes(canaryEmail)) leaks.push("an e-mail in logs or spans")
  if (leaks.length > 0) return yield* Effect.die(new Error(`a secret was given away: ${leaks.join("; ")}`))
  return { exit, printed, spans }
})
