import { assert, describe, it } from "@effect/vitest"
import { ConfigProvider, Context, Effect, Option, Tracer } from "effect"
import { tracing } from "../../../src/commands/serve/Tracing.ts"

describe("the collector", () => {
  const spanOf = (tracer: Tracer.Tracer) =>
    tracer.span({
      name: "one",
      parent: Option.none(),
      annotations: Context.empty(),
      links: [],
      startTime: 0n,
      kind: "internal",
      root: true,
      sampled: true
    })

  /** Whether spans would be sent. */
  const isSent = (env: Readonly<Record<string, string>>) =>
    Effect.flatMap(tracing, (traces) =>
      Effect.provide(
        Effect.map(Effect.tracer, (tracer) => !(spanOf(tracer) instanceof Tracer.NativeSpan)),
        traces
      )
    ).pipe(Effect.provideService(ConfigProvider.ConfigProvider, ConfigProvider.fromEnv({ env })))

  it.effect("is none unless a variable names one", () =>
    Effect.gen(function* () {
      const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }
      const off = [
        {},
        { OTEL_EXPORTER_OTLP_ENDPOINT: "" },
        { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "" },
        { ...endpoint, OTEL_SDK_DISABLED: "true" },
        { ...endpoint, OTEL_TRACES_EXPORTER: "none" }
      ]
      for (const variables of off) assert.isFalse(yield* isSent(variables), JSON.stringify(variables))
      const on = [
        endpoint,
        { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "http://127.0.0.1:4318/own" },
        { ...endpoint, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: "" },
        { ...endpoint, OTEL_TRACES_EXPORTER: "" },
        { ...endpoint, OTEL_TRACES_EXPORTER: "otlp" }
      ]
      for (const variables of on) assert.isTrue(yield* isSent(variables), JSON.stringify(variables))
    })
  )

  it.effect("is an address of HTTP, and a setting that cannot be used is named", () =>
    Effect.gen(function* () {
      const valid = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318" }
      for (const [variable, others] of [
        ["OTEL_EXPORTER_OTLP_ENDPOINT", {}],
        ["OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", valid]
      ] as const) {
        const { message } = yield* Effect.flip(isSent({ ...others, [variable]: "collector:4318" }))
        assert.include(message, variable)
      }
      for (const [variable, value] of [
        ["OTEL_SDK_DISABLED", "perhaps"],
        ["OTEL_BSP_SCHEDULE_DELAY", "soon"],
        ["OTEL_EXPORTER_OTLP_COMPRESSION", "zip"]
      ] as const) {
        const { message } = yield* Effect.flip(isSent({ ...valid, [variable]: value }))
        assert.include(message, `${variable} cannot be used`)
      }
    })
  )
})
