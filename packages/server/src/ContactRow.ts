/**
 * A contact as its row.
 */
import type { Contact, CustomFields } from "@roster/domain"
import { DateTime } from "effect"

/**
 * @internal
 */
export interface ContactRow {
  readonly id: number
  readonly email: string
  readonly identity: string
  readonly status: Contact["status"] & string
  readonly first_name: string | null
  readonly last_name: string | null
  readonly custom_fields: string
  readonly consent_ip: string | null
  readonly consent_date: number | null
  readonly consent_tracking: (NonNullable<Contact["consent"]>["tracking"] & string) | null
  readonly source: Contact["source"] & string
  readonly date_added: number
  readonly date_updated: number | null
  readonly status_change_date: number | null
  readonly total_sent: number
  readonly total_opened: number
  readonly total_clicked: number
  readonly total_failed: number
  readonly last_sent: number | null
  readonly last_opened: number | null
  readonly last_clicked: number | null
  readonly last_failed: number | null
  readonly last_ip: string | null
  readonly error_code: number | null
  readonly friendly_error_message: string | null
}

/**
 * Times are kept to the second, which is what travels.
 *
 * @internal
 */
export const fromSeconds = (seconds: number): DateTime.Utc => DateTime.makeUnsafe(seconds * 1000)

/**
 * @internal
 */
export const toSeconds = (date: DateTime.Utc): number => Math.floor(DateTime.toEpochMillis(date) / 1000)

/**
 * @internal
 */
export const nullableDate = (seconds: number | null): DateTime.Utc | null =>
  seconds === null ? null : fromSeconds(seconds)

/**
 * @internal
 */
export const toContact = (row: ContactRow): Contact => {
  // What we wrote ourselves: an object of texts.
  const customFields = JSON.parse(row.custom_fields) as CustomFields
  const consent = {
    ...(row.consent_ip === null ? {} : { ip: row.consent_ip }),
    ...(row.consent_date === null ? {} : { date: fromSeconds(row.consent_date) }),
    ...(row.consent_tracking === null ? {} : { tracking: row.consent_tracking })
  }
  return {
    email: row.email,
    status: row.status,
    ...(row.first_name === null ? {} : { firstName: row.first_name }),
    ...(row.last_name === null ? {} : { lastName: row.last_name }),
    customFields,
    ...(Object.keys(consent).length === 0 ? {} : { consent }),
    source: row.source,
    dateAdded: fromSeconds(row.date_added),
    dateUpdated: nullableDate(row.date_updated),
    statusChangeDate: nullableDate(row.status_change_date),
    activity: {
      totalSent: row.total_sent,
      totalOpened: row.total_opened,
      totalClicked: row.total_clicked,
      totalFailed: row.total_failed,
      lastSent: nullableDate(row.last_sent),
      lastOpened: nullableDate(row.last_opened),
      lastClicked: nullableDate(row.last_clicked),
      lastFailed: nullableDate(row.last_failed),
      ...(row.last_ip === null ? {} : { lastIP: row.last_ip }),
      errorCode: row.error_code,
      ...(row.friendly_error_message === null ? {} : { friendlyErrorMessage: row.friendly_error_message })
    }
  }
}
