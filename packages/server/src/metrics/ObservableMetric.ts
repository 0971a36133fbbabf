/** Metrics that are read when somebody asks for them, and cost nothing until then. */
import { Effect, Metric } from "effect"

/** Registers a gauge whose value is read. */
export const registerGauge = (id: string, description: string, read: () => number): Effect.Effect<void> =>
  Effect.contextWith((context: Parameters<typeof Metric.registerUnsafe>[1]) =>
    Effect.sync(() => {
      Metric.registerUnsafe(Metric.gauge(id, { description }), context, {
        get: () => ({ value: read() }),
        update: () => {},
        modify: () => {}
      })
    })
  )

/** Registers a counter whose value is read. */
export const registerCounter = (id: string, description: string, read: () => number): Effect.Effect<void> =>
  Effect.contextWith((context: Parameters<typeof Metric.registerUnsafe>[1]) =>
    Effect.sync(() => {
      Metric.registerUnsafe(Metric.counter(id, { description, incremental: true }), context, {
        get: () => ({ count: read(), incremental: true }),
        update: () => {},
        modify: () => {}
      })
    })
  )
