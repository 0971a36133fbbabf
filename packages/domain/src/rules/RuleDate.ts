/** Date literals of rules. All days are UTC days. */

const precisions = { day: 86_400_000, minute: 60_000, second: 1000, millisecond: 1 } as const

/** A date literal by start, in epoch milliseconds, and precision: `'2024-01-31'` is the whole UTC day. */
export interface DateLiteral {
  /** Its first instant, in milliseconds since the epoch. */
  readonly start: number
  /** How long a time it means. */
  readonly precision: keyof typeof precisions
}

/** The half-open span of time `from <= t < until`, in milliseconds since the epoch. */
export interface DateRange {
  /** The first instant. */
  readonly from: number
  /** The first instant after it. */
  readonly until: number
}

/**
 * The span of a date literal, on which comparisons are defined, here and in SQL: `=` is `from <= t < until`, `<` is `t
 * < from`, `<=` is `t < until`, `>` is `t >= until`, `>=` is `t >= from`, and `!=` is the complement of `=`.
 */
export const dateRange = (date: DateLiteral): DateRange => ({
  from: date.start,
  until: date.start + precisions[date.precision]
})

const pattern =
  /^(\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|[12]\d|3[01]))(?:T((?:[01]\d|2[0-3]):[0-5]\d)(?:(:[0-5]\d)(\.\d{1,9})?)?(Z|[+-](?:0\d|1[0-4]):[0-5]\d)?)?$/i

/** Parses a day (`2024-01-31`) or an instant, whose seconds, fraction and zone (default: UTC) are optional. */
export const parseDate = (text: string): DateLiteral | undefined => {
  const [, day, time, seconds, fraction, zone] = pattern.exec(text) ?? []
  const midnight = day === undefined ? undefined : startOf(day)
  if (midnight === undefined) return undefined
  if (time === undefined) return { start: midnight, precision: "day" }
  const milliseconds = fraction === undefined ? "" : fraction.slice(0, 4).padEnd(4, "0")
  const start = Date.parse(`${day}T${time}${seconds ?? ":00"}${milliseconds}${(zone ?? "Z").toUpperCase()}`)
  // An offset can move the first and the last day out of the four-digit years, which cannot be printed.
  if (!/^\d{4}-/.test(new Date(start).toISOString())) return undefined
  return { start, precision: fraction !== undefined ? "millisecond" : seconds !== undefined ? "second" : "minute" }
}

/** Prints a date literal in its canonical form: a day, or an instant with `Z`. */
export const formatDate = (date: DateLiteral): string => {
  const iso = new Date(date.start).toISOString()
  switch (date.precision) {
    case "day":
      return iso.slice(0, 10)
    case "minute":
      return `${iso.slice(0, 16)}Z`
    case "second":
      return `${iso.slice(0, 19)}Z`
    case "millisecond":
      return iso
  }
}

/** Whether a text is a month and day, `MM-dd`, of a leap year. */
export const isMonthDay = (text: string): boolean => parseDate(`2000-${text}`)?.precision === "day"

/** The UTC month and day of an instant, as `MM-dd`. */
export const monthDayOf = (epochMillis: number): string => new Date(epochMillis).toISOString().slice(-19, -14)

/** The number of whole days from an instant until now, rounded down: 0 for the last 24 hours, negative for the future. */
export const wholeDays = (from: number, now: number): number => Math.floor((now - from) / precisions.day)

/** The start of a day of 12 months of 31 days. Date.parse turns 30 February into 1 March, so such a day is none. */
const startOf = (day: string): number | undefined => {
  const start = Date.parse(day)
  return new Date(start).getUTCDate() === Number(day.slice(8)) ? start : undefined
}
