/**
 * Public methods that are called for single records, often: a span of the method's name, as `Effect.fn` makes it, without
 * the two stacks that `Effect.fn` takes on each call, and without a span where no tracer is there to see it. Stacks cost a
 * sixth of a call, the span as much.
 */
import { Effect, Tracer } from "effect"

/**
 * @internal
 */
export const method =
  (name: string, options: { readonly propagateTrace: boolean }) =>
  <Args extends ReadonlyArray<unknown>, A, E>(body: (...args: Args) => Effect.Effect<A, E>) =>
  (...args: Args): Effect.Effect<A, E> =>
    Effect.withFiber((fiber) =>
      // Without one Effect makes spans that end nowhere; but their ids may be sent.
      fiber.cache.tracer === undefined && !options.propagateTrace
        ? body(...args)
        : Effect.useSpan(name, (span) =>
            Effect.provideService(
              Effect.suspend(() => body(...args)),
              Tracer.ParentSpan,
              span
            )
          )
    )
