/**
 * Public methods that are called for single records, often: a span of the method's name, as `Effect.fn` makes it, without
 * the two stacks that `Effect.fn` takes on each call. Those cost a sixth of a call.
 */
import { Effect, Tracer } from "effect"

/**
 * @internal
 */
export const method =
  (name: string) =>
  <Args extends ReadonlyArray<unknown>, A, E>(body: (...args: Args) => Effect.Effect<A, E>) =>
  (...args: Args): Effect.Effect<A, E> =>
    Effect.useSpan(name, (span) =>
      Effect.provideService(
        Effect.suspend(() => body(...args)),
        Tracer.ParentSpan,
        span
      )
    )
