/** Metrics of the process, by the names that dashboards for Node know. */
import { Effect, type Scope } from "effect"
import { monitorEventLoopDelay } from "node:perf_hooks"
import { registerCounter, registerGauge } from "./ObservableMetric.ts"

/** How often the delay of the event loop is measured, in milliseconds. */
const resolution = 10

/** Registers memory, processor time and the delay of the event loop since the last scrape; `next` resets that delay. */
export const processMetrics: Effect.Effect<{ readonly next: () => void }, never, Scope.Scope> = Effect.gen(
  function* () {
    const delay = yield* Effect.acquireRelease(
      Effect.sync(() => {
        const histogram = monitorEventLoopDelay({ resolution })
        histogram.enable()
        return histogram
      }),
      (histogram) => Effect.sync(() => histogram.disable())
    )
    // The histogram holds the time between two samples, in nanoseconds.
    const seconds = (nanos: number): number => Math.max(0, nanos / 1e9 - resolution / 1000)
    yield* registerGauge(
      "nodejs_eventloop_lag_p99_seconds",
      "The delay of the event loop that 1 % of samples exceeded since the last scrape",
      () => (delay.count === 0 ? 0 : seconds(delay.percentile(99)))
    )
    yield* registerGauge(
      "nodejs_eventloop_lag_max_seconds",
      "The longest delay of the event loop since the last scrape",
      () => (delay.count === 0 ? 0 : seconds(delay.max))
    )
    yield* registerGauge("process_resident_memory_bytes", "Memory of the process", () => process.memoryUsage.rss())
    yield* registerGauge(
      "nodejs_heap_size_used_bytes",
      "Used heap of the thread that answers requests",
      () => process.memoryUsage().heapUsed
    )
    yield* registerCounter("process_cpu_seconds_total", "Processor time of all threads of the process", () => {
      const { system, user } = process.cpuUsage()
      return (system + user) / 1e6
    })
    const start = Math.round(performance.timeOrigin) / 1000
    yield* registerGauge("process_start_time_seconds", "When the process began, in seconds since 1970", () => start)
    return { next: () => delay.reset() }
  }
)
