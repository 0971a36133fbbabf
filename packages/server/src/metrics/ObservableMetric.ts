/** Metrics that are read when the service is asked for them, and cost nothing until then. */
import { type Context, Effect, Metric } from "effect"

const register = <Input, State>(metric: Metric.Metric<Input, State>, get: () => State): Effect.Effect<void> =>
  Effect.contextWith((context: Context.Context<never>) =>
    Effect.sync(() => {
      Metric.registerUnsafe(metric, context, { get, update: () => {}, modify: () => {} })
    })
  )

/** Registers a gauge whose value is read. */
export const registerGauge = (id: string, description: string, read: () => number): Effect.Effect<void> =>
  register(Metric.gauge(id, { description }), () => ({ value: read() }))

/** Registers a counter whose value is read. */
export const registerCounter = (id: string, description: string, read: () => number): Effect.Effect<void> =>
  register(Metric.counter(id, { description, incremental: true }), () => ({ count: read(), incremental: true }))
