/** The metrics of a service in the text format of Prometheus, on an address of their own. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { Effect, References, Semaphore } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { createServer, type Server } from "node:http"
import { makeStoreMetrics } from "./jobs/worker/StoreMetrics.ts"
import { processMetrics } from "./metrics/ProcessMetrics.ts"
import { registerGauge } from "./metrics/ReadMetric.ts"

/** Where metrics are read. */
export interface MetricsOptions {
  /** The address to listen on (default: 127.0.0.1, this machine only). Whoever reaches it reads the metrics. */
  readonly host?: string | undefined
  /** The port, or 0 for any free port. */
  readonly port: number
}

/** Connections of those who read metrics; further ones are closed. */
const maximumConnections = 16

const metricsPath = "/metrics"

const contentType = "text/plain; version=0.0.4; charset=utf-8"

/** Listens, and gives the address at which metrics are read. */
export const serveMetrics = Effect.fnUntraced(function* ({ host = "127.0.0.1", port }: MetricsOptions, served: Server) {
  // Loaded only where metrics are read.
  const { PrometheusMetrics } = yield* Effect.promise(() => import("effect/observability"))
  const { next } = yield* processMetrics
  const storeMetrics = yield* makeStoreMetrics
  let connections = 0
  yield* registerGauge("roster_connections", "Open connections of clients", () => connections)
  const countConnections = Effect.callback<void>((resume) => {
    served.getConnections((error, count) => {
      if (error === null) connections = count
      resume(Effect.void)
    })
  })
  const read = Effect.andThen(
    Effect.all([storeMetrics, countConnections], { discard: true }),
    Effect.tap(PrometheusMetrics.format(), () => Effect.sync(next))
  )
  const turns = Semaphore.makeUnsafe(1)
  const app = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ method, url }) =>
    (method !== "GET" && method !== "HEAD") || url.split("?")[0] !== metricsPath
      ? Effect.succeed(HttpServerResponse.text(`Metrics are at GET ${metricsPath}.\n`, { status: 404 }))
      : Effect.map(turns.withPermits(1)(read), (text) => HttpServerResponse.text(text, { contentType }))
  )
  const nodeServer = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 })
  nodeServer.maxConnections = maximumConnections
  const server = yield* NodeHttpServer.make(() => nodeServer, { host, port, gracefulShutdownTimeout: "1 second" })
  yield* server.serve(app).pipe(Effect.provideService(References.TracerEnabled, false))
  return `${HttpServer.formatAddress(server.address)}${metricsPath}`
})
