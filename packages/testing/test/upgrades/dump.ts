/**
 * Prints the store of a file as SQL, for `steps/sqlite`, before a migration is added:
 * `node packages/testing/test/upgrades/dump.ts roster.db > packages/testing/test/upgrades/steps/sqlite/STEP.sql`
 */
import { DatabaseSync } from "node:sqlite"

const [, , file = ""] = process.argv
const database = new DatabaseSync(file, { readOnly: true })
const texts = (query: string) =>
  database
    .prepare(query)
    .all()
    .map(({ text }) => String(text))
const quoted = (name: string) => `"${name.replaceAll('"', '""')}"`
// What is kept for an hour, and what counts rows for the planner, is no part of what was made.
const left = /^(?:sqlite_.*|idempotent_answers)$/
const tables = texts("SELECT name AS text FROM sqlite_schema WHERE type = 'table' ORDER BY name")
const rowsOf = (table: string): ReadonlyArray<string> => {
  const columns = texts(`SELECT name AS text FROM pragma_table_info('${table}')`)
  const values = columns.map((column) => `quote(${quoted(column)})`).join(` || ',' || `)
  return texts(`SELECT 'INSERT INTO ${quoted(table)} VALUES(' || ${values} || ');' AS text FROM ${quoted(table)}`)
}
const rows = [
  ...tables.filter((table) => !left.test(table)).flatMap(rowsOf),
  "DELETE FROM sqlite_sequence;",
  ...rowsOf("sqlite_sequence")
]
const made = (types: string) =>
  texts(`SELECT sql || ';' AS text FROM sqlite_schema WHERE type ${types} AND name NOT LIKE 'sqlite_%' AND sql IS NOT NULL
    ORDER BY name`)
process.stdout.write(["BEGIN;", ...made("= 'table'"), ...rows, ...made("<> 'table'"), "COMMIT;", ""].join("\n"))
