/** Writes that were sent and whose answer never came, or cannot be read. */
import { Effect } from "effect"
import { ServiceError } from "@roster/domain"

export const isLost = (error: { readonly _tag: string }): error is ServiceError =>
  error instanceof ServiceError && error.mayHaveHappened

/** How often a write whose answer was lost is made again. */
export const furtherTries = 4

/**
 * Makes a write until it is known that it was done: where its answer was lost, by looking. It has to be one that does no
 * harm twice.
 */
export const retryUntilConfirmed = <E extends { readonly _tag: string }, R, E2 extends { readonly _tag: string }, R2>(
  write: Effect.Effect<void, E, R>,
  isDone: Effect.Effect<boolean, E2, R2>
) =>
  write.pipe(
    Effect.catchIf(isLost, (error) =>
      Effect.flatMap(isDone, (done) => (done ? Effect.void : Effect.fail<E | ServiceError>(error)))
    ),
    Effect.retry({ while: isLost, times: furtherTries })
  )
