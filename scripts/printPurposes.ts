/** Writes what a key may do for each purpose into its page of the documentation: `pnpm docs:purposes`. */
import { readFileSync, writeFileSync } from "node:fs"
import { operations } from "../packages/api/src/index.ts"
import { accessOf, levelPowers, purposes } from "../packages/domain/src/credentials/Purpose.ts"
import { pageTable } from "./PageTable.ts"

export const page = "docs/credentials.md"

const powerOf = (level: string): string => levelPowers.find((one) => one.level === level)?.power ?? ""

const table = (): string =>
  [
    "| Purpose | Access level | What any key with this level does, whatever it was made for | Operations of the purpose |",
    "|---|---|---|---|",
    ...purposes.map((purpose) => {
      const level = accessOf(purpose)
      const calls = Array.from(operations.values()).filter((operation) => operation.purpose === purpose)
      return `| \`${purpose}\` | ${level} | ${powerOf(level)} | ${calls.map(({ id }) => `\`${id}\``).join(", ")} |`
    })
  ].join("\n")

const place = pageTable("printed by pnpm docs:purposes")

/** The text of the page with the table in its place. */
export const withPurposes = (text: string): string => place(text, table())

if (import.meta.main) writeFileSync(page, withPurposes(readFileSync(page, "utf8")))
