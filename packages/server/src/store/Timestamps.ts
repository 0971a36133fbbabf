/** Times as stored and sent: whole seconds since 1970. */
import { Clock, DateTime, Effect } from "effect"

/** The current time in seconds. */
export const nowSeconds = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))

export const fromSeconds = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

export const toSeconds = (date: DateTime.Utc): number => Math.floor(DateTime.toEpochMillis(date) / 1000)

export const nullableDate = (seconds: number | null): DateTime.Utc | null =>
  seconds === null ? null : fromSeconds(seconds)
