/** The lines of an exported file, joined by hand, as the references do. */

/** The columns of the file and those of the table. */
export const columns = [
  ["Email", "email"],
  ["Status", "status"],
  ["FirstName", "first_name"],
  ["LastName", "last_name"],
  ["ConsentIP", "consent_ip"],
  ["ConsentDate", "consent_date"],
  ["ConsentTracking", "consent_tracking"],
  ["Source", "source"],
  ["DateAdded", "date_added"],
  ["DateUpdated", "date_updated"],
  ["StatusChangeDate", "status_change_date"],
  ["TotalSent", "total_sent"],
  ["TotalOpened", "total_opened"],
  ["TotalClicked", "total_clicked"],
  ["TotalFailed", "total_failed"],
  ["LastSent", "last_sent"],
  ["LastOpened", "last_opened"],
  ["LastClicked", "last_clicked"],
  ["LastFailed", "last_failed"],
  ["LastIP", "last_ip"],
  ["ErrorCode", "error_code"],
  ["FriendlyErrorMessage", "friendly_error_message"]
] as const

const dates = new Set<number>([5, 8, 9, 10, 15, 16, 17, 18])

/** A cell: quoted where it has to be, and no formula to a spreadsheet. */
const cell = (text: string): string => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const dateCell = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

/** The first line of a file with these custom fields. */
export const headerOf = (names: ReadonlyArray<string>): string =>
  `${[...columns.map(([name]) => name), ...names.map(cell)].join(",")}\r\n`

/** The line of the values of `columns`, behind which the custom fields stand. */
export const lineOf = (values: ReadonlyArray<string | number | null>, names: ReadonlyArray<string>): string => {
  let text = ""
  for (let i = 0; i < columns.length; i++) {
    const value = values[i] ?? null
    if (i > 0) text += ","
    if (value === null) continue
    text += typeof value === "string" ? cell(value) : dates.has(i) ? dateCell(value) : value
  }
  // What the store wrote: an object of texts.
  const custom = JSON.parse(String(values[columns.length])) as Record<string, string>
  for (const name of names) text += `,${cell(custom[name] ?? "")}`
  return `${text}\r\n`
}
