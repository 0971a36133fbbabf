/**
 * The spans of methods that are called for single records, often: without the stack that `Effect.fn` takes on each call, and
 * without any step where spans are made for nobody.
 */
import { Context, Effect, References } from "effect"

/**
 * @internal
 */
export const methodSpan = (name: string) => {
  const spanned = Effect.withSpan(name)
  return <A, E, R>(effect: Effect.Effect<A, E, R>): Effect.Effect<A, E, R> =>
    Effect.contextWith((context: Context.Context<R>): Effect.Effect<A, E, R> =>
      Context.get(context, References.TracerEnabled) ? spanned(effect) : effect
    )
}
