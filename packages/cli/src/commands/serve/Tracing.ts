/**
 * Traces of `roster serve`, sent by OTLP/HTTP. Neither their number nor a collector that is slow or gone costs requests
 * anything: what exceeds the bounds is dropped. (docs/observability.md)
 */
import { Connection } from "@roster/connect"
import { Config, Effect, Layer, Schema, Tracer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError, type HttpClientRequest } from "effect/http"
import { refuse, usageError } from "../../errors/UsageError.ts"
import { fromEnvironment } from "../../settings/Environment.ts"

/** Spans that are sent of those that begin within one second. */
export const maximumSpans = 1000

/** The text of an attribute, such as that of a statement, in UTF-16 units. */
export const maximumAttribute = 4096

/** The time in which the collector has to take a batch. */
const sendWithin = "5 seconds"

const path = "/v1/traces"

const isHttp = (url: URL | null): url is URL => url !== null && /^https?:$/.test(url.protocol)

/** The address of the collector, to which the path of traces is added unless it has it. */
export const parseTracesEndpoint = (given: string) => {
  const url = URL.parse(given)
  return isHttp(url)
    ? Effect.succeed(url)
    : refuse("traces-endpoint", "write the address of a collector, such as http://127.0.0.1:4318")
}

const withPath = (url: URL): URL => {
  const full = new URL(url)
  if (!full.pathname.endsWith(path)) full.pathname = full.pathname.replace(/\/$/, "") + path
  return full
}

/** An empty text is as good as none: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
const text = (name: string) =>
  Config.map(Config.withDefault(Config.String(name), undefined), (text) => (text === "" ? undefined : text))
const record = (name: string) =>
  Config.withDefault(Config.Record(Schema.String, Schema.StringFromUriComponent, name), undefined)

/** The variables of OpenTelemetry. */
const environment = Config.all({
  isDisabled: Config.withDefault(Connection.onOff("OTEL_SDK_DISABLED"), false),
  exporter: text("OTEL_TRACES_EXPORTER"),
  traces: text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
  base: text("OTEL_EXPORTER_OTLP_ENDPOINT"),
  tracesHeaders: record("OTEL_EXPORTER_OTLP_TRACES_HEADERS"),
  headers: record("OTEL_EXPORTER_OTLP_HEADERS"),
  name: text("OTEL_SERVICE_NAME"),
  attributes: record("OTEL_RESOURCE_ATTRIBUTES")
})

const tooLate = (request: HttpClientRequest.HttpClientRequest) =>
  new HttpClientError.HttpClientError({
    reason: new HttpClientError.TransportError({ request, description: "the collector did not answer in time" })
  })

const sendsByHttp = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transform((sent, request) =>
      Effect.tap(sent, ({ arrayBuffer }) => Effect.ignore(arrayBuffer)).pipe(
        Effect.timeoutOrElse({ duration: sendWithin, orElse: () => Effect.fail(tooLate(request)) })
      )
    )
  )
).pipe(Layer.provide(FetchHttpClient.layer))

const shortened = (value: unknown): unknown =>
  typeof value === "string" && value.length > maximumAttribute ? `${value.slice(0, maximumAttribute)}…` : value

/** A tracer whose spans are sent only up to the bounds. */
export const bounded = (tracer: Tracer.Tracer, now: () => number): Tracer.Tracer => {
  let second = 0
  let begun = 0
  const hasRoom = (): boolean => {
    const current = Math.floor(now() / 1000)
    if (current !== second) {
      second = current
      begun = 0
    }
    begun += 1
    return begun <= maximumSpans
  }
  return Tracer.make({
    context: tracer.context,
    span: (options) => {
      const span = tracer.span({ ...options, sampled: options.sampled && hasRoom() })
      const attribute = span.attribute.bind(span)
      span.attribute = (key, value) => attribute(key, shortened(value))
      return span
    }
  })
}

/** The tracer of the settings; `undefined` if none of them names a collector. */
export const tracing = Effect.fnUntraced(function* (flag: URL | undefined) {
  const given = yield* fromEnvironment(environment)
  const isOn = !given.isDisabled && (given.exporter === undefined || given.exporter.split(",").includes("otlp"))
  const named = given.traces ?? given.base
  if (flag === undefined && (!isOn || named === undefined)) return undefined
  const url = flag ?? URL.parse(named ?? "")
  if (!isHttp(url)) {
    return yield* usageError(
      "The address of the collector in " +
        `OTEL_EXPORTER_OTLP_${given.traces === undefined ? "" : "TRACES_"}ENDPOINT is not one of HTTP.`,
      "Write it as http://127.0.0.1:4318."
    )
  }
  const full = flag === undefined && given.traces !== undefined ? url : withPath(url)
  const { OtlpSerialization, OtlpTracer } = yield* Effect.promise(() => import("effect/observability"))
  const name = given.name ?? given.attributes?.["service.name"]
  const sent = OtlpTracer.layer({
    url: full.href,
    headers: given.tracesHeaders ?? given.headers,
    resource: name === undefined ? { serviceName: "roster" } : undefined
  }).pipe(Layer.provide([OtlpSerialization.layerJson, sendsByHttp]))
  return Layer.provide(
    Layer.effect(
      Tracer.Tracer,
      Effect.map(Tracer.Tracer, (tracer) => bounded(tracer, Date.now))
    ),
    sent
  )
})
