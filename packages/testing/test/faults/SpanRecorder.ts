/** Everything that a span reveals when it is exported or printed. */
import { Effect, Tracer } from "effect"
import { HttpClient, HttpClientResponse } from "effect/http"
import { OtlpExporter, OtlpSerialization, OtlpTracer } from "effect/observability"
import { inspect } from "node:util"

/** The spans of an effect, exported and printed. */
export interface RecordedSpans {
  readonly spans: ReadonlyArray<Tracer.Span>
  /** Each span as an OTLP exporter sends it: status and exception events included. */
  readonly exported: ReadonlyArray<string>
  /** Each span as it is printed, to any depth. */
  readonly printed: ReadonlyArray<string>
}

/** Runs an effect under a recording tracer. Returns the exit of the effect and its spans. */
export const recordSpans = Effect.fnUntraced(function* <A, E, R>(effect: Effect.Effect<A, E, R>) {
  const spans: Array<Tracer.Span> = []
  const exported: Array<string> = []
  const collector = HttpClient.make((request) =>
    Effect.sync(() => {
      if (request.body._tag === "Uint8Array") exported.push(new TextDecoder().decode(request.body.body))
      return HttpClientResponse.fromWeb(request, new Response("{}"))
    })
  )
  const makeTracer = OtlpTracer.make({ url: "http://localhost/v1/traces", resource: { serviceName: "tests" } }).pipe(
    Effect.provide([OtlpExporter.layerFlusher, OtlpSerialization.layerJson]),
    Effect.provideService(HttpClient.HttpClient, collector)
  )
  const exit = yield* Effect.gen(function* () {
    const tracer = yield* makeTracer
    const recorder = Tracer.make({
      span: (options) => {
        const span = tracer.span(options)
        spans.push(span)
        return span
      }
    })
    return yield* Effect.exit(Effect.withTracer(effect, recorder))
  }).pipe(Effect.scoped)
  const shown = { depth: Infinity, showHidden: true, maxArrayLength: Infinity, maxStringLength: Infinity }
  const recorded: RecordedSpans = { spans, exported, printed: spans.map((span) => inspect(span, shown)) }
  return { exit, ...recorded }
})
