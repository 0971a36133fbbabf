/** A service that listens on a socket: it opens the store, serves it over HTTP or TLS, and closes in order. */
import { versionSegment } from "@roster/api"
import { type FaultPlan, type IpRange } from "@roster/domain"
import { KnownFields, redactSpans } from "@roster/domain/internal"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Duration, Effect, Fiber, Layer, type Redacted, References, Scope, Tracer } from "effect"
import { Headers, HttpServer } from "effect/http"
import { createServer, type Server } from "node:http"
import { createServer as createSecureServer } from "node:https"
import { ensureAdministratorKey, type IsKey } from "./credentials/AdministratorKey.ts"
import { overSocket, withFaults } from "./FaultyApp.ts"
import { keyHeaders } from "./http/Authentication.ts"
import { type AccessEntry, AccessLog, makeAccessLog } from "./network/AccessLog.ts"
import {
  type Certificate,
  CertificateError,
  loadCertificate,
  renewCertificate,
  type TlsFiles
} from "./network/Certificate.ts"
import {
  answerWhileStarting,
  type ConnectionLimits,
  connectionLimits,
  limitConnections,
  limitsOf,
  timeoutsOf
} from "./network/Connections.ts"
import { boundToConnection } from "./network/OpenRequests.ts"
import { cannotListen, checkServeOptions, ServeError } from "./network/ServeError.ts"
import { makeUnreadAnswers } from "./network/UnreadAnswers.ts"
import { httpApp, ServedVersion } from "./http/HttpApp.ts"
import { defaultEntry } from "./jobs/worker/WorkerThread.ts"
import { TrustedProxies } from "./http/ClientAddress.ts"
import { AllowedHosts, allowedHosts } from "./http/AllowedHosts.ts"
import { registerGauge } from "./metrics/ObservableMetric.ts"
import { makeRequestMetrics } from "./metrics/RequestMetrics.ts"
import { defaultHost, type MetricsOptions, serveMetrics } from "./MetricsServer.ts"
import { layerForHttp, layerPostgresForHttp } from "./services/HttpServices.ts"
import { nameOf } from "./store/postgres/PostgresOptions.ts"
import type { PostgresStoreOptions, StoreOptions } from "./store/StoreOptions.ts"
import { LastingRefusals, makeLastingRefusals } from "./threads/LastingRefusals.ts"
import { cannotShow, readStudioPage, ServedPage, type StudioPageOptions } from "./studio/StudioPage.ts"
import { Readiness } from "./requests/Readiness.ts"
import { fromStatement, type StoreError, type StoreUnavailable } from "./store/sqlite/StoreError.ts"

/** How to serve a store. */
export interface ServeOptions<E, R> {
  /** The address to listen on (default: 127.0.0.1, this machine only). */
  readonly host?: string | undefined
  /** The port, or 0 for any free port. */
  readonly port: number
  /** A database file of this process, or a PostgreSQL that any number of processes serve. */
  readonly store: StoreOptions | PostgresStoreOptions
  /**
   * Proxies whose X-Forwarded-For names the client, and whose X-Forwarded-Host and -Proto name the address that it
   * called (default: none, the peer is the client).
   */
  readonly trustedProxies?: ReadonlyArray<IpRange> | undefined
  /** The address that clients call, with or without `/v4`: the base of links (default: what a request names). */
  readonly publicUrl?: URL | undefined
  /**
   * The certificate to listen with TLS (1.2 and later). It is loaded again when its files change (default: none, clients
   * call by `http:`).
   */
  readonly tls?: TlsFiles | undefined
  /** Receives an entry for each response (default: none). An entry holds no e-mail address, name, query or key. */
  readonly onAccess?: ((entry: AccessEntry) => Effect.Effect<void>) | undefined
  /** Serves metrics for Prometheus, at `/metrics` of an address of their own (default: none). They name nobody. */
  readonly metrics?: MetricsOptions | undefined
  /**
   * The built page of Roster Studio, which a browser gets at `/` over TLS, on this machine, or behind a trusted proxy that
   * says https (default: none). A person who opens it needs a key.
   */
  readonly page?: StudioPageOptions | undefined
  /** The version that the service tells to every valid key (default: none). */
  readonly version?: string | undefined
  /** Bounds of connections that differ from the defaults. */
  readonly connectionLimits?: Partial<ConnectionLimits> | undefined
  /** The calls that go wrong, to test clients (default: none). */
  readonly faults?: FaultPlan.FaultPlan | undefined
  /** Receives the administrator key of a store without keys. If it fails, no key is created and no request is served. */
  readonly onAdministratorKey: (key: Redacted.Redacted<string>) => Effect.Effect<void, E, R>
  /**
   * Runs at every start once the keys of the store are committed, and before any request is served. It can finish what
   * `onAdministratorKey` began, also at a start that was killed, if the key of then is one of the store.
   */
  readonly onKeysCommitted?: ((isKey: IsKey) => Effect.Effect<void, E, R>) | undefined
}

const optionFields = KnownFields.fieldsOf<ServeOptions<unknown, unknown>>("a server", {
  host: true,
  port: true,
  store: true,
  trustedProxies: true,
  publicUrl: true,
  tls: true,
  onAccess: true,
  metrics: true,
  page: true,
  version: true,
  connectionLimits: true,
  faults: true,
  onAdministratorKey: true,
  onKeysCommitted: true
})
const metricsFields = KnownFields.fieldsOf<MetricsOptions>("metrics", { host: true, port: true })

export { type AccessEntry, CertificateError, type MetricsOptions, ServeError, type StudioPageOptions, type TlsFiles }

/** A service that listens on a socket. */
export class RosterServer extends Context.Service<
  RosterServer,
  {
    /** The base address for clients. */
    readonly address: string
    /** The address of the metrics, if they are served. */
    readonly metricsAddress?: string | undefined
    /**
     * Fails once a newer version of Roster has migrated the store: then the service refuses all requests, and its process
     * should end.
     */
    readonly superseded: Effect.Effect<never, StoreUnavailable>
  }
>()("@roster/server/RosterServer") {}

/**
 * Listens, so that no store and no key is made for an address that is taken, opens the store, delivers the first key and serves.
 * Until then requests are answered with 503. On close, requests in progress are answered first.
 *
 * ```ts
 * import { RosterServer } from "@roster/server"
 * import { Console, Effect, Redacted } from "effect"
 *
 * const server = RosterServer.layer({
 *   port: 0,
 *   store: { filename: ":memory:" },
 *   onAdministratorKey: (key) => Console.error(`a key of ${Redacted.value(key).length} characters`)
 * })
 *
 * export const example = RosterServer.RosterServer.use(({ address }) => Console.error(address)).pipe(
 *   Effect.provide(server)
 * )
 * ```
 */
export const layer = <E, R>(
  options: ServeOptions<E, R>
): Layer.Layer<RosterServer, StoreError | ServeError | CertificateError | E, R> =>
  Layer.unwrap(
    Effect.gen(function* () {
      yield* checkServeOptions(optionFields, options)
      yield* checkServeOptions(metricsFields, options.metrics)
      const context = yield* Effect.context<R>()
      const { tls } = options
      // Before anything is created.
      const certificate = tls === undefined ? undefined : yield* loadCertificate(tls)
      return layerWithoutServices(
        {
          ...options,
          onAdministratorKey: (key) => Effect.provideContext(options.onAdministratorKey(key), context),
          onKeysCommitted: (isKey) => Effect.provideContext(options.onKeysCommitted?.(isKey) ?? Effect.void, context)
        },
        certificate
      )
    })
  )

/** While closing, each response ends its connection, since keep-alive would bring new requests. */
const draining = (server: Server, closeWaiting: () => void): Server => {
  const close = server.close.bind(server)
  let isClosing = false
  server.on("request", (_, response) => {
    if (isClosing) response.setHeader("connection", "close")
  })
  server.close = (callback) => {
    isClosing = true
    closeWaiting()
    return close(callback)
  }
  return server
}

/** Disables Effect's default tracer, whose spans go nowhere and cost a tenth of the time of a request. */
const withoutIdleSpans = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Tracer.Tracer, (tracer) =>
    tracer === Tracer.nativeTracer ? Effect.provideService(effect, References.TracerEnabled, false) : effect
  )

/** More than the services that a request adds. With the default of 8 each request would copy the services of the store. */
const addedByRequest = 16

/** Merges the layers of the context: adding a service to it, as each request does, would copy all of them. */
const inFlatContext = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.updateContext(effect, (context: Context.Context<R>) =>
    Context.makeUnsafe<R>(new Map(context.mapUnsafe), { maxDepth: addedByRequest })
  )

/** Spans that include the headers of requests do not include keys. */
const withoutKeys = Effect.updateService(Headers.CurrentRedactedNames, (names) => [...names, ...keyHeaders])

const nameOfStore = (store: StoreOptions | PostgresStoreOptions): string =>
  "postgres" in store ? nameOf(store.postgres) : store.filename

const layerWithoutServices = <E>(
  {
    connectionLimits: givenLimits,
    faults,
    host = "127.0.0.1",
    metrics,
    onAccess,
    onAdministratorKey,
    onKeysCommitted,
    page,
    port,
    publicUrl,
    store,
    trustedProxies = [],
    version
  }: ServeOptions<E, never>,
  certificate: Certificate | undefined
) => {
  const limits = limitsOf(givenLimits)
  const protocol = certificate === undefined ? "http" : "https"
  const listen = Effect.gen(function* () {
    const context = yield* Effect.context<never>()
    const run = Effect.runForkWith(context)
    const count = metrics === undefined ? undefined : makeRequestMetrics(context)
    const log =
      onAccess === undefined && count === undefined
        ? undefined
        : makeAccessLog((entry) => {
            count?.(entry)
            if (onAccess !== undefined) run(onAccess(entry))
          })
    const unread = makeUnreadAnswers(limits)
    yield* registerGauge("roster_unread_bytes", "Bytes of answers that wait for their clients to read", unread.bytes)
    const options = { ...timeoutsOf(limits), ServerResponse: unread.Response }
    const secureServer =
      certificate === undefined ? undefined : createSecureServer({ ...options, ...certificate.options })
    const refusals = makeLastingRefusals(
      (text) => void run(Effect.logError(text)),
      Duration.toMillis(limits.refusalsLast)
    )
    const plainServer = secureServer ?? createServer(options)
    const { closeWaiting, held } = limitConnections(
      plainServer,
      limits,
      trustedProxies,
      refusals.watch("further connections")
    )
    yield* registerGauge("roster_held_connections", "Connections that are at work on a request", held)
    const wanted = givenLimits?.total ?? connectionLimits.total
    if (limits.total < wanted) {
      yield* Effect.logWarning(
        `The process may open so few files that it takes ${limits.total} connections in place of ${wanted}. Allow it more ` +
          "(ulimit -n, or LimitNOFILE of a unit)."
      )
    }
    const nodeServer = draining(plainServer, closeWaiting)
    log?.attach(nodeServer)
    answerWhileStarting(nodeServer)
    const server = yield* NodeHttpServer.make(() => nodeServer, {
      host,
      port,
      gracefulShutdownTimeout: "10 seconds"
    }).pipe(cannotListen(host, port))
    if (secureServer !== undefined && certificate !== undefined) {
      yield* Effect.forkScoped(renewCertificate(secureServer, certificate))
    }
    return { log, nodeServer, refusals, server }
  })
  const serve = Effect.fnUntraced(function* ({ log, nodeServer, refusals, server }: Effect.Success<typeof listen>) {
    const metricsHost = metrics?.host ?? defaultHost
    const metricsAddress =
      metrics === undefined
        ? undefined
        : yield* serveMetrics(metrics, nodeServer, allowedHosts(metricsHost, publicUrl, "http").isAllowed).pipe(
            cannotListen(metricsHost, metrics.port)
          )
    const served = page === undefined ? undefined : yield* readStudioPage(page).pipe(cannotShow(page))
    const app = yield* httpApp.pipe(
      Effect.provideService(AccessLog, log),
      Effect.provideService(LastingRefusals, refusals),
      Effect.provideService(ServedPage, served),
      Effect.provideService(ServedVersion, version)
    )
    yield* ensureAdministratorKey(onAdministratorKey, onKeysCommitted).pipe(
      Effect.catchTags({
        KeyDeliveryFailed: ({ error }) => Effect.fail(error),
        SqlError: (error) =>
          Effect.fail(fromStatement(nameOfStore(store), "The administrator key could not be written")(error))
      })
    )
    yield* server
      .serve(boundToConnection(faults === undefined ? app : withFaults(faults, overSocket)(app)))
      .pipe(
        Effect.provideService(TrustedProxies, trustedProxies),
        Effect.provideService(AllowedHosts, allowedHosts(host, publicUrl, protocol)),
        withoutKeys,
        withoutIdleSpans,
        inFlatContext
      )
    const address = HttpServer.formatAddress(server.address).replace(/^http:/, `${protocol}:`)
    // Also where nobody waits for it.
    const superseded = yield* Effect.forkScoped((yield* Readiness).superseded)
    return RosterServer.of({
      address: `${address}/${versionSegment}`,
      metricsAddress,
      superseded: Fiber.join(superseded)
    })
  })
  return Layer.unwrap(
    Effect.gen(function* () {
      const scope = yield* Effect.acquireRelease(Scope.make(), Scope.close)
      const listening = yield* Scope.provide(listen, scope)
      // The store closes only when the last request is answered.
      const untilAnswered = Effect.addFinalizer((exit) => Scope.close(scope, exit))
      return Layer.effect(RosterServer, redactSpans()(Effect.andThen(untilAnswered, serve(listening)))).pipe(
        Layer.provide(
          "postgres" in store
            ? layerPostgresForHttp({ ...store, jobThread: store.jobThread ?? defaultEntry() })
            : layerForHttp({ ...store, jobThread: store.jobThread ?? defaultEntry() })
        )
      )
    })
  ).pipe(Layer.provide(NodeHttpServer.layerHttpServices))
}
