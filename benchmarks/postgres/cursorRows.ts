/**
 * The reference for exports: one process that reads the contacts by a cursor, in one snapshot, and joins the cells of each
 * row, as one would by hand. The names of the custom fields are asked for first, since each has a column.
 */
import { once } from "node:events"
import { createWriteStream, rmSync } from "node:fs"
import { finished } from "node:stream/promises"
import { Client, types } from "pg"
import { columns, headerOf, lineOf } from "../src/PlainCsv.ts"
import { argument, whole } from "../src/Trial.ts"

const fetched = 2000

types.setTypeParser(types.builtins.INT8, Number)

await whole(async () => {
  const path = argument("file")
  const target = createWriteStream(path)
  const write = async (text: string) => {
    if (!target.write(text)) await once(target, "drain")
  }
  const client = new Client({ connectionString: argument("database") })
  await client.connect()
  await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
  const found = await client.query<{ readonly key: string }>(
    "SELECT DISTINCT key FROM contacts, json_each_text(custom_fields::json) WHERE value <> '' ORDER BY key"
  )
  const names = found.rows.map(({ key }) => key)
  const selected = `${columns.map(([, column]) => column).join(", ")}, custom_fields`
  await client.query(
    `DECLARE rows NO SCROLL CURSOR FOR SELECT ${selected} FROM contacts WHERE account = '' ORDER BY id`
  )
  let count = 0
  let text = headerOf(names)
  for (;;) {
    const { rows } = await client.query<Array<string | number | null>>({
      text: `FETCH ${fetched} FROM rows`,
      rowMode: "array"
    })
    for (const values of rows) text += lineOf(values, names)
    count += rows.length
    await write(text)
    text = ""
    if (rows.length < fetched) break
  }
  target.end()
  await finished(target)
  await client.query("COMMIT")
  await client.end()
  rmSync(path)
  return count
})
