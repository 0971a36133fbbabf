/**
 * The reference: one process that reads the file and writes it into SQLite by one prepared statement, as one would by hand.
 * The table has the columns, the key and the merge of ours, and each transaction is synced.
 */
import { mkdtempSync, rmSync } from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { createTable, upsert } from "../src/ContactsTable.ts"
import { cellsOf, linesOf } from "../src/Lines.ts"
import { argument, whole } from "../src/Trial.ts"

const rowsOfTransaction = 10_000

await whole(async () => {
  const folder = mkdtempSync(join(dirname(argument("file")), "reference-"))
  const database = new DatabaseSync(join(folder, "contacts.db"))
  createTable(database)
  const statement = database.prepare(upsert)
  const now = Math.floor(Date.now() / 1000)
  let rows = 0
  let header: ReadonlyArray<string> | undefined
  const take = (line: string) => {
    if (line === "") return
    const cells = cellsOf(line)
    if (header === undefined) {
      header = cells
      return
    }
    const [email = "", firstName = "", lastName = "", city = ""] = cells
    if (!/^[^@\s]+@[^@\s]+$/.test(email)) throw new Error(`${email} is no address`)
    if (rows % rowsOfTransaction === 0) database.exec("BEGIN IMMEDIATE")
    statement.run("", email.toLowerCase(), email, firstName, lastName, JSON.stringify({ city }), "FileUpload", now, now)
    rows++
    if (rows % rowsOfTransaction === 0) database.exec("COMMIT")
  }
  for await (const lines of linesOf(argument("file"))) for (const line of lines) take(line)
  if (database.isTransaction) database.exec("COMMIT")
  database.close()
  rmSync(folder, { recursive: true })
  return rows
})
