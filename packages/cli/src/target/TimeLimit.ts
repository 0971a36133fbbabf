/** `--timeout`. */
import { Duration, Effect, Schema } from "effect"

/** The command took longer than `--timeout` allows. */
export class TimeLimitReached extends Schema.TaggedError<TimeLimitReached>()("TimeLimitReached", {
  message: Schema.String
}) {}

/** Interrupts a command when its time is over. */
export const withTimeout =
  (limit: Duration.Duration | undefined) =>
  <A, E, R>(command: Effect.Effect<A, E, R>): Effect.Effect<A, E | TimeLimitReached, R> =>
    limit === undefined
      ? command
      : Effect.timeoutOrElse(command, {
          duration: limit,
          orElse: () =>
            Effect.fail(
              new TimeLimitReached({
                message: `The command did not finish within ${Duration.format(limit)} and was stopped.`
              })
            )
        })
