/** The fields of a contact in a comparable form. */
import type { Contact } from "@roster/domain"
import { DateTime } from "effect"

/** Seconds since 1970. */
export const seconds = (date: DateTime.Utc | null | undefined): number | undefined =>
  date == null ? undefined : DateTime.toEpochMillis(date) / 1000

/** Everything that a change of the profile must not change. */
export const kept = ({ dateAdded, email, source, status, statusChangeDate }: Contact) => ({
  email,
  source,
  status,
  dateAdded: seconds(dateAdded),
  statusChangeDate: seconds(statusChangeDate)
})
