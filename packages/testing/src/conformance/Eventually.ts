/**
 * Waiting for what a service does behind its answers: by a condition, with a bound, and never by a time that was guessed.
 */
import { Effect, Schedule } from "effect"

/** Looks until what is seen holds; fails with a `TimeoutError` after 30 seconds. */
export const eventually = <A, E, R>(look: Effect.Effect<A, E, R>, holds: (seen: A) => boolean) =>
  look.pipe(Effect.repeat({ schedule: Schedule.spaced("20 millis"), until: holds }), Effect.timeout("30 seconds"))
