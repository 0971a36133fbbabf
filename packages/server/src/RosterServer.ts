/**
 * The service on a socket.
 */
import { versionSegment } from "@roster/api"
import { type IpRange, redactSpans } from "@roster/domain"
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Context, Effect, Layer, type Redacted, References, Schema, Tracer } from "effect"
import { Headers, HttpServer } from "effect/http"
import { createServer, ServerResponse } from "node:http"
import { ensureAdministratorKey } from "./credentials/AdministratorKey.ts"
import { keyHeaders } from "./http/Authentication.ts"
import { httpApp } from "./http/HttpApp.ts"
import { defaultEntry } from "./jobs/worker/WorkerThread.ts"
import { TrustedProxies } from "./http/ClientAddress.ts"
import { layerWithStore, type StoreError } from "./services/SqlServices.ts"
import type { StoreOptions } from "./store/StoreOptions.ts"
import { fromStatement } from "./store/sqlite/StoreError.ts"

export interface ServeOptions<E, R> {
  /** The address to listen on: this machine alone where it is not given. */
  readonly host?: string | undefined
  /** The port, or 0 for any that is free. */
  readonly port: number
  readonly store: StoreOptions
  /**
   * The addresses of proxies in front of it, whose X-Forwarded-For says where a request comes from. Without them that
   * header means nothing, and the other end of the connection counts.
   */
  readonly trustedProxies?: ReadonlyArray<IpRange> | undefined
  /**
   * Takes the administrator key of a store that held no key, before anything is answered. Where it fails nothing is
   * created and nothing listens.
   */
  readonly onAdministratorKey: (key: Redacted.Redacted<string>) => Effect.Effect<void, E, R>
}

/** The address cannot be listened on. */
export class ServeError extends Schema.TaggedError<ServeError>()("ServeError", { message: Schema.String }) {}

export class RosterServer extends Context.Service<
  RosterServer,
  {
    /** The base address to give to a client. */
    readonly address: string
  }
>()("@roster/server/RosterServer") {}

/**
 * Opens the store, hands over its first key, and listens. When the layer closes, requests under way are answered first.
 */
export const layer = <E, R>(options: ServeOptions<E, R>): Layer.Layer<RosterServer, StoreError | ServeError | E, R> =>
  Layer.unwrap(
    Effect.map(Effect.context<R>(), (context) =>
      layerWithoutServices({
        ...options,
        onAdministratorKey: (key) => Effect.provideContext(options.onAdministratorKey(key), context)
      })
    )
  )

/**
 * A body that is there as a whole has the length that was counted of it. Where Node need not count it again, it sends it in
 * one piece with its head.
 */
class Response extends ServerResponse {
  override end(onEnd?: () => void): this
  override end(chunk: unknown, onEnd?: () => void): this
  override end(chunk: unknown, encoding: BufferEncoding, onEnd?: () => void): this
  override end(...given: ReadonlyArray<unknown>): this {
    if (typeof given[0] === "string") this.strictContentLength = false
    return Reflect.apply(super.end, this, given)
  }
}

/** From the moment it is to close, each answer ends its connection: one that is kept alive would bring new requests. */
const drainingServer = () => {
  const server = createServer({ ServerResponse: Response })
  const close = server.close.bind(server)
  let draining = false
  server.on("request", (_, response) => {
    if (draining) response.setHeader("connection", "close")
  })
  server.close = (callback) => {
    draining = true
    return close(callback)
  }
  return server
}

/** Nobody sees the spans of Effect's own tracer, which cost a request a tenth of its time. */
const withoutIdleSpans = <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
  Effect.flatMap(Tracer.Tracer, (tracer) =>
    tracer === Tracer.nativeTracer ? Effect.provideService(effect, References.TracerEnabled, false) : effect
  )

/** Whoever lets spans have the headers of requests gets no key with them. */
const withoutKeys = Effect.updateService(Headers.CurrentRedactedNames, (names) => [...names, ...keyHeaders])

const layerWithoutServices = <E>({
  host = "127.0.0.1",
  onAdministratorKey,
  port,
  store,
  trustedProxies = []
}: ServeOptions<E, never>) => {
  const serve = Effect.gen(function* () {
    const app = yield* httpApp
    const server = yield* NodeHttpServer.make(drainingServer, {
      host,
      port,
      gracefulShutdownTimeout: "10 seconds"
    }).pipe(
      Effect.catchTag(
        "ServeError",
        ({ cause }) =>
          new ServeError({
            message: `Nothing can listen on ${host}:${port}: ${cause instanceof Error ? cause.message : String(cause)}`
          })
      )
    )
    yield* ensureAdministratorKey(onAdministratorKey).pipe(
      Effect.catchTags({
        NotHandedOver: ({ error }) => Effect.fail(error),
        SqlError: (error) =>
          Effect.fail(fromStatement(store.filename, "The administrator key could not be written")(error))
      })
    )
    yield* server.serve(app).pipe(Effect.provideService(TrustedProxies, trustedProxies), withoutKeys, withoutIdleSpans)
    return RosterServer.of({ address: `${HttpServer.formatAddress(server.address)}/${versionSegment}` })
  })
  return Layer.effect(RosterServer, redactSpans()(serve)).pipe(
    Layer.provide(layerWithStore({ ...store, jobThread: store.jobThread ?? defaultEntry() })),
    Layer.provide(NodeHttpServer.layerHttpServices)
  )
}
