/**
 * What a client counts. The names are stable and documented in docs/observability.md.
 */
import { type Context, Duration, Metric } from "effect"

const calls = Metric.counter("roster_client_calls_total", {
  description: "Calls by operation and outcome, each with all its attempts",
  incremental: true
})

const retries = Metric.counter("roster_client_retries_total", {
  description: "Attempts after the first, by operation",
  incremental: true
})

const waits = Metric.histogram("roster_client_wait_seconds", {
  description: "How long was waited before an attempt after the first, by operation",
  boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60]
})

const budget = Metric.gauge("roster_client_retry_tokens", {
  description: "What a client may still spend on retries, of 500"
})

/**
 * @internal
 */
export const waited = (operation: string, wait: Duration.Duration) =>
  Metric.update(Metric.withAttributes(waits, { operation }), Duration.toSeconds(wait))

/**
 * @internal
 */
export const budgetLeft = (tokens: number) => Metric.update(budget, tokens)

/**
 * @internal
 */
export const retryCount = (operation: string) => Metric.update(Metric.withAttributes(retries, { operation }), 1)

const ends = new Map<string, typeof calls>()

/**
 * Counts a call by how it ends: the tag of its error, or `Success`. A counter is looked up by its attributes once.
 *
 * @internal
 */
export const countCall = (operation: string, outcome: string, context: Context.Context<never>): void => {
  const name = `${operation} ${outcome}`
  const counter = ends.get(name) ?? Metric.withAttributes(calls, { operation, outcome })
  ends.set(name, counter)
  counter.updateUnsafe(1, context)
}
