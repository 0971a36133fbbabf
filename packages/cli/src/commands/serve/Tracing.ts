/** Traces of `roster serve`, sent by OTLP/HTTP. A collector that is slow or gone costs requests nothing. (docs/observability.md) */
import { Cause, Config, ConfigProvider, Effect, Layer } from "effect"
import { FetchHttpClient, HttpClient, HttpClientError } from "effect/http"
import { usageError } from "../../errors/UsageError.ts"
import { fromEnvironment, refusedSetting } from "../../settings/Environment.ts"

/** The time in which the collector has to take a batch. */
const sendWithin = "5 seconds"

/** An empty text is as good as none: https://opentelemetry.io/docs/specs/otel/configuration/sdk-environment-variables/ */
const withoutEmpty = (given: ConfigProvider.ConfigProvider) =>
  ConfigProvider.make((path) =>
    Effect.map(given.load(path), (node) => (node?._tag === "Value" && node.value === "" ? undefined : node))
  )

const text = (name: string) => Config.withDefault(Config.String(name), undefined)

const variables = Config.all({
  traces: text("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT"),
  base: text("OTEL_EXPORTER_OTLP_ENDPOINT"),
  attributes: text("OTEL_RESOURCE_ATTRIBUTES")
})

/** Spans wait for a collector no longer than that, so neither do they pile up. */
const sendsInTime = Layer.effect(
  HttpClient.HttpClient,
  Effect.map(
    HttpClient.HttpClient,
    HttpClient.transform((sent, request) =>
      Effect.tap(sent, ({ arrayBuffer }) => Effect.ignore(arrayBuffer)).pipe(
        Effect.timeoutOrElse({
          duration: sendWithin,
          orElse: () =>
            new HttpClientError.HttpClientError({
              reason: new HttpClientError.TransportError({
                request,
                description: "the collector did not answer in time"
              })
            })
        })
      )
    )
  )
).pipe(Layer.provide(FetchHttpClient.layer))

/** The tracer of the variables of OpenTelemetry, or none if they name no collector. */
export const tracing = Effect.gen(function* () {
  const provider = withoutEmpty(yield* ConfigProvider.ConfigProvider)
  const { attributes, base, traces } = yield* Effect.provideService(
    fromEnvironment(variables),
    ConfigProvider.ConfigProvider,
    provider
  )
  const named = traces ?? base
  if (named === undefined) return Layer.empty
  if (!/^https?:$/.test(URL.parse(named)?.protocol ?? "")) {
    return yield* usageError(
      "The address of the collector in " +
        `OTEL_EXPORTER_OTLP_${traces === undefined ? "" : "TRACES_"}ENDPOINT is not one of HTTP.`,
      "Write it as http://127.0.0.1:4318."
    )
  }
  const defaults = {
    OTEL_TRACES_EXPORTER: "otlp",
    ...(attributes?.includes("service.name=") === true ? {} : { OTEL_SERVICE_NAME: "roster" })
  }
  const settings = ConfigProvider.orElse(provider, ConfigProvider.fromUnknown(defaults))
  const { OtlpSerialization, OtlpTracer } = yield* Effect.promise(() => import("effect/observability"))
  return OtlpTracer.layerFromConfig().pipe(
    Layer.provide([OtlpSerialization.layerJson, sendsInTime, Layer.succeed(ConfigProvider.ConfigProvider, settings)]),
    // Effect takes a variable that cannot be read for a bug.
    Layer.catchCause((cause) => {
      const problem = Cause.squash(cause)
      return Layer.effectDiscard(
        problem instanceof Config.ConfigError ? Effect.fail(refusedSetting(problem)) : Effect.failCause(cause)
      )
    })
  )
})
