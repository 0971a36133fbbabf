/**
 * Spans of time as they are typed: `500ms`, `3s`, `2m`, `12h`, `30d`, `4w`.
 */
import { Duration } from "effect"

const units = {
  ms: Duration.millis,
  s: Duration.seconds,
  m: Duration.minutes,
  h: Duration.hours,
  d: Duration.days,
  w: Duration.weeks
} as const

const isUnit = (text: string): text is keyof typeof units => Object.hasOwn(units, text)

/** Reads a span that is longer than nothing, or gives `undefined`. */
export const parseDuration = (text: string): Duration.Duration | undefined => {
  const [, amount = "", unit = ""] = /^(\d{1,9}(?:\.\d{1,3})?)(ms|s|m|h|d|w)$/.exec(text.trim()) ?? []
  return isUnit(unit) && Number(amount) > 0 ? units[unit](Number(amount)) : undefined
}
