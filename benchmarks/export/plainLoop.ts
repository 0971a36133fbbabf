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
import { columns, headerOf, lineOf } from "../src/PlainCsv.ts"
import { argument, whole } from "../src/Trial.ts"

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
  let text = headerOf(names)
  // The types of node:sqlite do not know that the rows are arrays.
  for (const values of rows.iterate() as unknown as Iterable<ReadonlyArray<string | number | null>>) {
    text += lineOf(values, names)
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
