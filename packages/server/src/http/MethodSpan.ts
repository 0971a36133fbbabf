/**
 * The spans of methods that are called for single records, often: without the stack that `Effect.fn` takes on each call, and
 * without any step where spans are made for nobody.
 */
import { redactSpans } from "@roster/domain"
import { Effect } from "effect"

export const methodSpan = (name: string) => {
  const spanned = Effect.withSpan(name)
  const redact = redactSpans()
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.withFiber((fiber) =>
      fiber.cache.tracer === undefined || !fiber.cache.tracerEnabled ? effect : redact(spanned(effect))
    )
}
