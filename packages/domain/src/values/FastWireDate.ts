/**
 * The fast path of `WireDate` for the form that is sent, `2024-01-02T03:04:05Z`, in the years 0 to 9999.
 * (docs/decisions/performance.md)
 */
import { DateTime } from "effect"

/** Two digits as a number, or -1. */
const twoDigits = (text: string, at: number): number => {
  const tens = text.charCodeAt(at) - 0x30
  const ones = text.charCodeAt(at + 1) - 0x30
  return tens >= 0 && tens <= 9 && ones >= 0 && ones <= 9 ? tens * 10 + ones : -1
}

const daysOfMonth = (year: number, month: number): number => {
  if (month === 2) return year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0) ? 29 : 28
  return month === 4 || month === 6 || month === 9 || month === 11 ? 30 : 31
}

/** The milliseconds of 400 years, in which the calendar repeats itself. */
const cycle = 146_097 * 86_400_000

/** `DateTime.makeUnsafe` is slower, since it defines a slot for cached parts on every instance. */
const Instant = function (this: { epochMilliseconds: number }, milliseconds: number) {
  this.epochMilliseconds = milliseconds
  // A constructor function with the prototype of instants makes instants.
} as unknown as new (milliseconds: number) => DateTime.Utc
const prototype: unknown = Object.getPrototypeOf(DateTime.makeUnsafe(0))
Instant.prototype = prototype

/** Whether a value is a UTC instant of `DateTime`. */
export const isInstant = (value: unknown): value is DateTime.Utc =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === prototype

/** Reads the form that is sent, with or without its `Z`; `undefined` for any other text. */
export const readPlain = (text: string): DateTime.Utc | undefined => {
  if (text.length !== 19 && !(text.length === 20 && text.charCodeAt(19) === 0x5a)) return undefined
  if (text.charCodeAt(4) !== 0x2d || text.charCodeAt(7) !== 0x2d || text.charCodeAt(10) !== 0x54) return undefined
  if (text.charCodeAt(13) !== 0x3a || text.charCodeAt(16) !== 0x3a) return undefined
  const century = twoDigits(text, 0)
  const rest = twoDigits(text, 2)
  const month = twoDigits(text, 5)
  const day = twoDigits(text, 8)
  const hour = twoDigits(text, 11)
  const minute = twoDigits(text, 14)
  const second = twoDigits(text, 17)
  const year = century * 100 + rest
  if (century < 0 || rest < 0 || month < 1 || month > 12 || day < 1 || day > daysOfMonth(year, month)) return undefined
  if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59) return undefined
  // `Date.UTC` would read the years 0 to 99 as 1900 to 1999.
  return new Instant(Date.UTC(year + 400, month - 1, day, hour, minute, second) - cycle)
}

/** The years 0 to 9999, in milliseconds since 1970. */
const earliest = -62_167_219_200_000
const latest = Date.UTC(9999, 11, 31, 23, 59, 59, 999)

/** The date of a day since 1970 as the number YYYYMMDD, by eras of 400 years that begin in March. */
const dateOf = (days: number): number => {
  // One era later, so that no number is negative and truncation rounds down.
  const fromMarch = (days + 719_468 + 146_097) | 0
  const era = (fromMarch / 146_097) | 0
  const ofEra = fromMarch - era * 146_097
  const leaps = ((ofEra / 1460) | 0) - ((ofEra / 36_524) | 0) + ((ofEra / 146_096) | 0)
  const yearOfEra = ((ofEra - leaps) / 365) | 0
  const ofYear = ofEra - (yearOfEra * 365 + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0))
  // Every five months from March have 153 days.
  const since = ((5 * ofYear + 2) / 153) | 0
  const month = since < 10 ? since + 3 : since - 9
  const day = ofYear - (((153 * since + 2) / 5) | 0) + 1
  const year = yearOfEra + (era - 1) * 400 + (month > 2 ? 0 : 1)
  return year * 10_000 + month * 100 + day
}

const tens = (number: number): number => 0x30 + ((number / 10) | 0)
const ones = (number: number): number => 0x30 + (number % 10)

/** Prints an instant to the second; `undefined` outside the years of four digits. */
export const printPlain = ({ epochMilliseconds }: DateTime.Utc): string | undefined => {
  // NaN fails both comparisons.
  if (!(epochMilliseconds >= earliest && epochMilliseconds <= latest)) return undefined
  const seconds = Math.floor(epochMilliseconds / 1000)
  const days = Math.floor(seconds / 86_400)
  const ofDay = (seconds - days * 86_400) | 0
  const yearMonthDay = dateOf(days)
  const year = (yearMonthDay / 10_000) | 0
  const century = (year / 100) | 0
  const rest = year % 100
  const month = ((yearMonthDay / 100) | 0) % 100
  const day = yearMonthDay % 100
  const hour = (ofDay / 3600) | 0
  const minute = ((ofDay / 60) | 0) % 60
  const second = ofDay % 60
  // One call is faster than joining texts.
  // prettier-ignore
  return String.fromCharCode(
    tens(century), ones(century), tens(rest), ones(rest), 0x2d, tens(month), ones(month), 0x2d, tens(day), ones(day), 0x54,
    tens(hour), ones(hour), 0x3a, tens(minute), ones(minute), 0x3a, tens(second), ones(second), 0x5a
  )
}
