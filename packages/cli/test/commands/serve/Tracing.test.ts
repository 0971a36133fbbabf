import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Effect, Exit, Tracer } from "effect"
import {
  bounded,
  maximumAttribute,
  maximumSpans,
  parseTracesEndpoint,
  tracing
} from "../../../src/commands/serve/Tracing.ts"

const recorded = () => {
  const spans: Array<Tracer.Span> = []
  let now = 5000
  const tracer = bounded(
    Tracer.make({
      span: (options) => {
        const span = new Tracer.NativeSpan(options)
        spans.push(span)
        return span
      }
    }),
    () => now
  )
  const makeSpans = (count: number) =>
    Effect.forEach(
      Array.from({ length: count }),
      () => Effect.withSpan(Effect.annotateCurrentSpan("text", "x".repeat(maximumAttribute)), "one", { root: true }),
      { discard: true }
    ).pipe(Effect.withTracer(tracer))
  return {
    tracer,
    spans,
    makeSpans,
    goOn: (millis: number) => {
      now += millis
    }
  }
}

describe("bounded", () => {
  it.effect("sends the spans of a second up to the bound, and those of the next second again", () =>
    Effect.gen(function* () {
      const { goOn, makeSpans, spans } = recorded()
      const sent = () => spans.filter(({ sampled }) => sampled).length
      yield* makeSpans(maximumSpans)
      assert.strictEqual(sent(), maximumSpans)
      goOn(999)
      yield* makeSpans(1)
      assert.deepStrictEqual([spans.length, sent()], [maximumSpans + 1, maximumSpans])
      goOn(1)
      yield* makeSpans(1)
      assert.deepStrictEqual([spans.length, sent()], [maximumSpans + 2, maximumSpans + 1])
    })
  )

  it.effect("cuts a text beyond the bound", () =>
    Effect.gen(function* () {
      const { makeSpans, spans, tracer } = recorded()
      yield* makeSpans(1)
      assert.strictEqual(spans[0]?.attributes.get("text"), "x".repeat(maximumAttribute))
      yield* Effect.annotateCurrentSpan("text", "y".repeat(maximumAttribute + 1)).pipe(
        Effect.withSpan("two"),
        Effect.withTracer(tracer)
      )
      assert.strictEqual(spans[1]?.attributes.get("text"), `${"y".repeat(maximumAttribute)}…`)
    })
  )
})

describe("the collector", () => {
  const withEnvironment = (variables: Readonly<Record<string, string>>, flag?: URL) =>
    Effect.provideService(tracing(flag), ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env: variables }))

  it.effect("is none unless a flag or a variable names one", () =>
    Effect.gen(function* () {
      const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }
      const off = [
        {},
        { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
        { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "" },
        { ...endpoint, OTEL_SDK_DISABLED: "true" },
        { ...endpoint, OTEL_TRACES_EXPORTER: "none" }
      ]
      for (const variables of off) assert.isUndefined(yield* withEnvironment(variables), JSON.stringify(variables))
      const on = [
        endpoint,
        { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:4318/own" },
        { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "" },
        { ...endpoint, OTEL_TRACES_EXPORTER: "" },
        { ...endpoint, OTEL_TRACES_EXPORTER: "otlp" }
      ]
      for (const variables of on) assert.isDefined(yield* withEnvironment(variables), JSON.stringify(variables))
      assert.isDefined(yield* withEnvironment({ OTEL_SDK_DISABLED: "true" }, new URL("http://127.0.0.1:4318")))
    })
  )

  it.effect("is an address of HTTP", () =>
    Effect.gen(function* () {
      const valid = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }
      for (const [variable, others] of [
        ["OTEL_EXPORTER_OTLP_ENDPOINT", {}],
        ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", valid]
      ] as const) {
        const { message } = yield* Effect.flip(withEnvironment({ ...others, [variable]: "collector:4318" }))
        assert.include(message, variable)
      }
      assert.strictEqual((yield* parseTracesEndpoint("https://collector.example.com/otlp")).pathname, "/otlp")
      assert.isTrue(Exit.isFailure(yield* Effect.exit(parseTracesEndpoint("collector:4318"))))
    })
  )
})
