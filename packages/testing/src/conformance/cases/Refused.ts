/** Asserts that an operation fails with one of its declared errors. */
import { Effect, Predicate } from "effect"

/** The error of an operation, which must have the given tag. */
export const refused = <
  A,
  E extends { readonly _tag: string; readonly message: string },
  R,
  const Tag extends E["_tag"]
>(
  operation: Effect.Effect<A, E, R>,
  tag: Tag
): Effect.Effect<E & { readonly _tag: Tag }, never, R> =>
  Effect.matchEffect(operation, {
    onSuccess: () => Effect.die(new Error(`it succeeded, where ${tag} was expected`)),
    onFailure: (error) => {
      const { _tag, message } = error
      return Predicate.isTagged(error, tag)
        ? Effect.succeed(error)
        : Effect.die(new Error(`it failed with ${_tag} (${message}), where ${tag} was expected`))
    }
  })
