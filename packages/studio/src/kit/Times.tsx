/** Times as the person's clock, zone and language have them, with the exact instant where one points at them. */
import { DateTime } from "effect"
import { shortened } from "./Shortened.ts"

const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** A time for people. */
export const localTime = (time: DateTime.DateTime | number): string =>
  format.format(typeof time === "number" ? time : DateTime.toEpochMillis(time))

const dayFormat = new Intl.DateTimeFormat(undefined, { dateStyle: "medium" })

/** A day for people. */
export const localDay = (time: Date): string => dayFormat.format(time)

/** The instant in UTC, as rules mean it. */
const instantOf = (time: DateTime.DateTime | number): string =>
  DateTime.formatIso(typeof time === "number" ? DateTime.makeUnsafe(time) : DateTime.toUtc(time)).replace(".000Z", "Z")

/** A time for people, whose instant stands in its title. */
export const Time = ({ at }: { readonly at: DateTime.DateTime | number }) => (
  <time dateTime={instantOf(at)} title={instantOf(at)}>
    {localTime(at)}
  </time>
)

/** A value of a field, which may be a time. */
export const Shown = ({ value }: { readonly value: string | DateTime.DateTime }) =>
  DateTime.isDateTime(value) ? <Time at={value} /> : <bdi>{shortened(value)}</bdi>
