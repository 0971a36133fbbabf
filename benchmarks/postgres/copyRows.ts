/**
 * The reference for imports: COPY of the file into a table beside, and one merge of it into the contacts, as one would by
 * hand. Both are one transaction.
 */
import { createReadStream } from "node:fs"
import { pipeline } from "node:stream/promises"
import { Client } from "pg"
import { from } from "pg-copy-streams"
import { argument, whole } from "../src/Trial.ts"
import { merged, table } from "./Table.ts"

await whole(async () => {
  const client = new Client({ connectionString: argument("database") })
  await client.connect()
  await client.query(table.replace("CREATE TABLE", "CREATE TABLE IF NOT EXISTS"))
  await client.query("BEGIN")
  await client.query(
    "CREATE TEMPORARY TABLE rows (email TEXT, first_name TEXT, last_name TEXT, city TEXT) ON COMMIT DROP"
  )
  await pipeline(
    createReadStream(argument("file"), { highWaterMark: 256 * 1024 }),
    client.query(from("COPY rows FROM STDIN (FORMAT csv, HEADER true)"))
  )
  const { rowCount } = await client.query(
    `INSERT INTO contacts (account, identity, email, status, first_name, last_name, custom_fields, source, date_added)
    SELECT DISTINCT ON (lower(email)) '', lower(email), email, 'Active', first_name, last_name,
      json_build_object('city', city)::text, 'FileUpload', extract(epoch FROM now())::bigint
    FROM rows WHERE email ~ '^[^@[:space:]]+@[^@[:space:]]+$' ${merged}`
  )
  await client.query("COMMIT")
  await client.end()
  return rowCount ?? 0
})
