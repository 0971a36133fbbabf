/** Times as the person's clock, zone and language have them: short, and exact where one points at them. */
import { DateTime } from "effect"
import { shortened } from "./Shortened.ts"

const exact = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })
const ofThisYear = new Intl.DateTimeFormat(undefined, {
  day: "numeric",
  month: "short",
  hour: "numeric",
  minute: "2-digit"
})
const days = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })

const millis = (time: DateTime.DateTime | number): number =>
  typeof time === "number" ? time : DateTime.toEpochMillis(time)

/** A time for people, to the second. */
export const localTime = (time: DateTime.DateTime | number): string => exact.format(millis(time))

/** A time for people as a table has it: of this year its day and minute, of another year its day. */
export const shortTime = (time: DateTime.DateTime | number, now = new Date()): string => {
  const at = new Date(millis(time))
  return (at.getFullYear() === now.getFullYear() ? ofThisYear : days).format(at)
}

/** A day for people. */
export const localDay = (time: Date): string => days.format(time)

const months = new Intl.DateTimeFormat(undefined, { month: "short", year: "numeric", timeZone: "UTC" })

/** A month for people, which is given as `2026-11`. */
export const monthWords = (month: string): string => months.format(new Date(`${month}-01T00:00:00Z`))

/** The instant in UTC, as rules mean it. */
const instantOf = (time: DateTime.DateTime | number): string =>
  DateTime.formatIso(typeof time === "number" ? DateTime.makeUnsafe(time) : DateTime.toUtc(time)).replace(".000Z", "Z")

/** A time for people, whose second and whose instant in UTC stand in its title. */
export const Time = ({ at }: { readonly at: DateTime.DateTime | number }) => (
  <time dateTime={instantOf(at)} title={`${localTime(at)} (${instantOf(at)})`}>
    {shortTime(at)}
  </time>
)

/** A value of a field, which may be a time. */
export const Shown = ({ value }: { readonly value: string | DateTime.DateTime }) =>
  DateTime.isDateTime(value) ? <Time at={value} /> : <bdi>{shortened(value)}</bdi>
