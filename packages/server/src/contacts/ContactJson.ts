/**
 * A contact as the text that travels, made of its row at once: the same JSON as the schema of the contract makes of
 * `toContact`, without the values between. A page is a thousand of them, and the schema costs more than the database.
 */
import type { ContactRow } from "./ContactRow.ts"

const quote = (text: string | null): string => JSON.stringify(text)

/** Contacts that were added together have their times in common, and writing one takes longer than the rest of a contact. */
let last = { seconds: Number.NaN, text: "" }

const time = (seconds: number | null): string => {
  if (seconds === null) return "null"
  if (seconds !== last.seconds) last = { seconds, text: `"${new Date(seconds * 1000).toISOString().slice(0, -5)}Z"` }
  return last.text
}

/** What is absent has no name either. */
const optional = (name: string, text: string | null): string => (text === null ? "" : `,"${name}":${quote(text)}`)

const consentOf = (row: ContactRow): string => {
  const date = row.consent_date === null ? "" : `,"ConsentDate":${time(row.consent_date)}`
  const fields = optional("ConsentIP", row.consent_ip) + date + optional("ConsentTracking", row.consent_tracking)
  return fields === "" ? "" : `,"Consent":{${fields.slice(1)}}`
}

export const contactText = (row: ContactRow): string =>
  `{"Email":${quote(row.email)},"Status":${quote(row.status)}` +
  optional("FirstName", row.first_name) +
  optional("LastName", row.last_name) +
  // What we wrote ourselves: an object of texts, as JSON.
  `,"CustomFields":${row.custom_fields}` +
  consentOf(row) +
  `,"Source":${quote(row.source)},"DateAdded":${time(row.date_added)},"DateUpdated":${time(row.date_updated)}` +
  `,"StatusChangeDate":${time(row.status_change_date)},"Activity":{"TotalSent":${row.total_sent}` +
  `,"TotalOpened":${row.total_opened},"TotalClicked":${row.total_clicked},"TotalFailed":${row.total_failed}` +
  `,"LastSent":${time(row.last_sent)},"LastOpened":${time(row.last_opened)},"LastClicked":${time(row.last_clicked)}` +
  `,"LastFailed":${time(row.last_failed)}${optional("LastIP", row.last_ip)},"ErrorCode":${row.error_code}` +
  `${optional("FriendlyErrorMessage", row.friendly_error_message)}}}`

export const contactsText = (rows: ReadonlyArray<ContactRow>): string => `[${rows.map(contactText).join(",")}]`
