/**
 * Writes the retry table into its page of the documentation: `pnpm docs:retries`. The table itself is data of the client.
 */
import { readFileSync, writeFileSync } from "node:fs"
import { pageTable } from "./PageTable.ts"
import { type RetryRow, retryTable } from "../packages/http-client/src/calls/RetryTable.ts"

export const page = "docs/decisions/retries.md"

const notProcessed: Record<RetryRow["notProcessed"], string> = { always: "yes", throttled: "429, 503 + Retry-After" }
const ambiguous: Record<RetryRow["ambiguous"], string> = {
  always: "yes",
  keyed: "where the key is honoured",
  never: "no"
}

const table = (): string =>
  [
    "| Call | Not sent | Not processed | Ambiguous | What to do where it is not repeated |",
    "|---|---|---|---|---|",
    ...Object.entries(retryTable).map(
      ([call, row]) =>
        `| ${call} | yes | ${notProcessed[row.notProcessed]} | ${ambiguous[row.ambiguous]} | ` +
        `${row.ambiguous === "always" ? "" : row.recovery} |`
    )
  ].join("\n")

const place = pageTable("printed by pnpm docs:retries")

/** The text of the page with the table in its place. */
export const withTable = (text: string): string => place(text, table())

if (import.meta.main) writeFileSync(page, withTable(readFileSync(page, "utf8")))
