/** Times as elements: short, and exact where one points at them. */
import { DateTime } from "effect"
import { localTime, shortTime } from "../texts/Language.ts"
import { shortened } from "../texts/SharedTexts.ts"

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
