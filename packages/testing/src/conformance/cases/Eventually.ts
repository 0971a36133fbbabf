/** Waits for a service's background work by a condition, with a deadline and no guessed pauses. */
import { Effect, Schedule } from "effect"

/** Repeats an effect until the condition holds; fails with a `TimeoutError` after two minutes. */
export const eventually = <A, E, R>(look: Effect.Effect<A, E, R>, holds: (seen: A) => boolean) =>
  look.pipe(Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: holds }), Effect.timeout("2 minutes"))
