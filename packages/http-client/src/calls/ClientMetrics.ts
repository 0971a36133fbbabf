/** The metrics of a client. Their names are stable. (docs/observability.md) */
import { ServiceError } from "@roster/domain"
import { Cause, Clock, Duration, Effect, Exit, Metric } from "effect"

const calls = Metric.counter("roster_client_calls_total", {
  description: "Calls by operation and outcome, each with all its attempts",
  incremental: true
})

const durations = Metric.histogram("roster_client_call_duration_seconds", {
  description: "How long calls took with all their attempts and waits, by operation and outcome",
  boundaries: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120]
})

const retries = Metric.counter("roster_client_retries_total", {
  description: "Attempts after the first, by operation",
  incremental: true
})

const waits = Metric.histogram("roster_client_wait_seconds", {
  description: "Time waited before each attempt after the first, by operation",
  boundaries: [0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 60]
})

const budget = Metric.gauge("roster_client_retry_tokens", {
  description: "Tokens that a client has left for retries, of 500"
})

export const waited = (operation: string, wait: Duration.Duration) =>
  Metric.update(Metric.withAttributes(waits, { operation }), Duration.toSeconds(wait))

export const budgetLeft = (tokens: number) => Metric.update(budget, tokens)

export const retryCount = (operation: string) => Metric.update(Metric.withAttributes(retries, { operation }), 1)

/** The tag of an error, or that of the reason of a `ServiceError`. */
export const tagOf = (error: { readonly _tag: string }): string =>
  error instanceof ServiceError ? error.reason._tag : error._tag

const outcomeOf = <A, E extends { readonly _tag: string }>(exit: Exit.Exit<A, E>): string => {
  if (Exit.isSuccess(exit)) return "Success"
  const failure = exit.cause.reasons.find(Cause.isFailReason)
  if (failure !== undefined) return tagOf(failure.error)
  return Cause.hasInterruptsOnly(exit.cause) ? "Interrupted" : "Defect"
}

/** Counts and times a call by how it ends: the name of its error, `Success`, or `Interrupted`. */
export const countedCall = <A, E extends { readonly _tag: string }, R>(
  operation: string,
  call: Effect.Effect<A, E, R>
): Effect.Effect<A, E, R> =>
  Effect.withFiber((fiber) => {
    const clock = fiber.getRef(Clock.Clock)
    const started = clock.monotonicTimeNanosUnsafe()
    return Effect.onExit(call, (exit) => {
      const outcome = outcomeOf(exit)
      const attributes = { operation, outcome }
      const seconds = Number(clock.monotonicTimeNanosUnsafe() - started) / 1e9
      Metric.withAttributes(calls, attributes).updateUnsafe(1, fiber.context)
      Metric.withAttributes(durations, attributes).updateUnsafe(seconds, fiber.context)
      return Effect.annotateCurrentSpan("roster.outcome", outcome)
    })
  })
