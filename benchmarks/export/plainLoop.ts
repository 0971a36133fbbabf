/**
 * The reference: one process that iterates a prepared statement over the same table and joins the cells of each row, in one
 * snapshot, as one would by hand. The names of the custom fields are asked for first, since each has a column.
 */
import { once } from "node:events"
import { createWriteStream, mkdtempSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { finished } from "node:stream/promises"
import { crc32, createDeflateRaw } from "node:zlib"
import { argument, whole } from "../src/Trial.ts"

const columns = [
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

/** Quoted where it has to be, and no formula to a spreadsheet. */
const cell = (text: string): string => {
  const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}

const dateCell = (seconds: number): string => `${new Date(seconds * 1000).toISOString().slice(0, 19)}Z`

await whole(async () => {
  const database = new DatabaseSync(argument("store"), { readOnly: true })
  const folder = mkdtempSync(join(dirname(argument("store")), "reference-"))
  const target = createWriteStream(join(folder, "contacts"))
  const isZip = argument("compression") === "Zip"
  const deflate = isZip ? createDeflateRaw() : undefined
  deflate?.pipe(target)
  const into = deflate ?? target
  let [checksum, size] = [0, 0]
  const write = async (text: string) => {
    const bytes = Buffer.from(text)
    if (isZip) checksum = crc32(bytes, checksum)
    size += bytes.length
    if (!into.write(bytes)) await once(into, "drain")
  }
  database.exec("BEGIN")
  const names = database
    .prepare("SELECT DISTINCT key FROM contacts, json_each(custom_fields) WHERE value <> '' ORDER BY key")
    .all()
    .map(({ key }) => String(key))
  const rows = database.prepare(
    `SELECT ${columns.map(([, column]) => column).join(", ")}, custom_fields FROM contacts WHERE account = '' ORDER BY id`
  )
  rows.setReturnArrays(true)
  let count = 0
  let text = `${[...columns.map(([name]) => name), ...names.map(cell)].join(",")}\r\n`
  // The types of node:sqlite do not know that the rows are arrays.
  for (const values of rows.iterate() as unknown as Iterable<ReadonlyArray<string | number | null>>) {
    for (let i = 0; i < columns.length; i++) {
      const value = values[i] ?? null
      if (i > 0) text += ","
      if (value === null) continue
      text += typeof value === "string" ? cell(value) : dates.has(i) ? dateCell(value) : value
    }
    // What the store wrote: an object of texts.
    const custom = JSON.parse(String(values[columns.length])) as Record<string, string>
    for (const name of names) text += `,${cell(custom[name] ?? "")}`
    text += "\r\n"
    count++
    if (text.length < 256 * 1024) continue
    await write(text)
    text = ""
  }
  await write(text)
  into.end()
  await finished(target)
  database.exec("COMMIT")
  database.close()
  rmSync(folder, { recursive: true })
  return { units: count, more: { "MB of rows": size / 1e6 } }
})
