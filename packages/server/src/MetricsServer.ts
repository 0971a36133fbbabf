/** The metrics of a service in the text format of Prometheus, on an address of their own. */
import * as NodeHttpServer from "@effect/platform-node/NodeHttpServer"
import { JobKind } from "@roster/domain"
import { Effect, Metric, Option, References, Semaphore } from "effect"
import { HttpServer, HttpServerRequest, HttpServerResponse } from "effect/http"
import { SqlClient } from "effect/sql"
import { createServer, type Server } from "node:http"
import { processMetrics } from "./metrics/ProcessMetrics.ts"
import { registerGauge } from "./metrics/ObservableMetric.ts"
import { dialect } from "./store/SqlDialect.ts"
import { storeClock } from "./store/StoreClock.ts"

/** Where metrics are read. */
export interface MetricsOptions {
  /** The address to listen on (default: 127.0.0.1, this machine only). Every process that reaches it reads the metrics. */
  readonly host?: string | undefined
  /** The port, or 0 for any free port. */
  readonly port: number
}

/** Connections of those who read metrics; further ones are closed. */
const maximumConnections = 16

const metricsPath = "/metrics"

/** The address that metrics listen on where none is given. */
export const defaultHost = "127.0.0.1"

/** A web page can send a request by a name of its own that resolves to this machine. */
const unknownHost = HttpServerResponse.text(
  "Metrics have no such name. Ask by an IP address, by the name that they listen on, or by that of the public address.\n",
  { status: 421 }
)

const contentType = "text/plain; version=0.0.4; charset=utf-8"

/** The time in which the store has to answer. */
const readWithin = "2 seconds"

/** Jobs that ended within this time are counted, in seconds. */
const recent = 60 * 60

const openStates = ["Receiving", "Loading"] as const
const endStates = ["Ready", "Error", "Cancelled"] as const

const up = Metric.gauge("roster_store_up", { description: "1 if the store answers, 0 if not" })
const bytes = Metric.gauge("roster_store_bytes", { description: "Size of the store: its file, or its database" })

const ahead = Metric.gauge("roster_clock_ahead_seconds", {
  description: "How far the clock of this machine is ahead of that of the database"
})

const ofJobs =
  (id: string, description: string) =>
  (kind: string, state: string): Metric.Gauge<number> =>
    Metric.gauge(id, { description, attributes: { kind, state } })

const jobsOf = ofJobs("roster_jobs", "Jobs that receive their file, or wait or run (Loading)")
const ageOf = ofJobs("roster_job_age_seconds", "Age of the oldest of these jobs, or 0")
const endedOf = ofJobs("roster_jobs_ended_last_hour", "Jobs that ended within the last hour")

interface JobCount {
  readonly kind: string
  readonly state: string
  readonly jobs: number
  readonly oldest: number
}

/** Reads the metrics of the store by queries. Those of a store that does not answer are NaN. */
const makeStoreMetrics = Effect.map(SqlClient.SqlClient, (sql) => {
  const { storeBytes } = dialect(sql)
  const { seconds, skew } = storeClock(sql)
  const read = Effect.gen(function* () {
    const now = yield* seconds
    const open = yield* sql<JobCount>`
      SELECT kind, state, count(*) AS jobs, min(created) AS oldest FROM jobs
      WHERE state IN ('Receiving', 'Loading') GROUP BY kind, state`
    const ended = yield* sql<JobCount>`
      SELECT kind, state, count(*) AS jobs, min(created) AS oldest FROM jobs
      WHERE ended > ${now - recent} GROUP BY kind, state`
    return { now, open, ended, size: yield* storeBytes, skew: yield* skew }
  })
  return Effect.gen(function* () {
    const known = Option.getOrUndefined(yield* Effect.option(Effect.timeout(read, readWithin)))
    const of = (rows: ReadonlyArray<JobCount> | undefined, kind: string, state: string) =>
      rows?.find((row) => row.kind === kind && row.state === state)
    const number = (value: number | undefined) => (known === undefined ? NaN : Number(value ?? 0))
    yield* Metric.update(up, known === undefined ? 0 : 1)
    yield* Metric.update(bytes, number(known?.size))
    yield* Metric.update(ahead, number(known?.skew))
    for (const kind of JobKind.literals) {
      for (const state of openStates) {
        const row = of(known?.open, kind, state)
        yield* Metric.update(jobsOf(kind, state), number(row?.jobs))
        const age = row === undefined || known === undefined ? 0 : Math.max(0, known.now - Number(row.oldest))
        yield* Metric.update(ageOf(kind, state), number(age))
      }
      for (const state of endStates) {
        yield* Metric.update(endedOf(kind, state), number(of(known?.ended, kind, state)?.jobs))
      }
    }
  })
})

/** Listens, and gives the address at which metrics are read by some hosts. */
export const serveMetrics = Effect.fnUntraced(function* (
  { host = defaultHost, port }: MetricsOptions,
  served: Server,
  isAllowed: (host: string) => boolean
) {
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
  const app = Effect.flatMap(HttpServerRequest.HttpServerRequest, ({ headers, method, url }) => {
    if (!isAllowed(headers["host"] ?? "")) return Effect.succeed(unknownHost)
    return (method !== "GET" && method !== "HEAD") || url.split("?")[0] !== metricsPath
      ? Effect.succeed(HttpServerResponse.text(`Metrics are at GET ${metricsPath}.\n`, { status: 404 }))
      : Effect.map(turns.withPermits(1)(read), (text) => HttpServerResponse.text(text, { contentType }))
  })
  const nodeServer = createServer({ headersTimeout: 10_000, requestTimeout: 10_000 })
  nodeServer.maxConnections = maximumConnections
  const server = yield* NodeHttpServer.make(() => nodeServer, { host, port, gracefulShutdownTimeout: "1 second" })
  yield* server.serve(app).pipe(Effect.provideService(References.TracerEnabled, false))
  return `${HttpServer.formatAddress(server.address)}${metricsPath}`
})
