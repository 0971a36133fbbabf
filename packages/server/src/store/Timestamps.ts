/** Times as stored and sent: whole seconds since 1970. */
import { Clock, DateTime, Effect, Schema, SchemaTransformation } from "effect"

/** The current time in seconds. */
export const nowSeconds = Effect.map(Clock.currentTimeMillis, (millis) => Math.floor(millis / 1000))

export const fromSeconds = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

export const toSeconds = (date: DateTime.Utc): number => Math.floor(DateTime.toEpochMillis(date) / 1000)

/** Undefined and null are both NULL. */
export const nullableSeconds = (date: DateTime.Utc | null | undefined): number | null =>
  date == null ? null : toSeconds(date)

let lastDate = fromSeconds(0)

/** Keeps the last date: rows that were written together share their times, and dates are the slowest part of a row. */
export const sharedDate = (seconds: number): DateTime.Utc => {
  if (lastDate.epochMilliseconds !== seconds * 1000) lastDate = fromSeconds(seconds)
  return lastDate
}

export const nullableDate = (seconds: number | null): DateTime.Utc | null =>
  seconds === null ? null : sharedDate(seconds)

/** A time in a column. */
export const StoredDate = Schema.Int.pipe(
  Schema.decodeTo(Schema.DateTimeUtc, SchemaTransformation.transform({ decode: fromSeconds, encode: toSeconds }))
)
