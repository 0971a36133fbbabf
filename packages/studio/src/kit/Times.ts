/** Times as the person's clock and language have them. */
import { DateTime } from "effect"

const format = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" })

/** A time for people. */
export const localTime = (time: DateTime.DateTime | number): string =>
  format.format(typeof time === "number" ? time : DateTime.toEpochMillis(time))
