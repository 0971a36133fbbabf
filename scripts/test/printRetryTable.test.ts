/** The page that shows the retry table shows the table that is used. */
import { assert, describe, it } from "@effect/vitest"
import { operations } from "../../packages/api/src/index.ts"
import { readFileSync } from "node:fs"
import { page, withTable } from "../printRetryTable.ts"
import { retryTable } from "../../packages/http-client/src/calls/RetryTable.ts"

describe("the retry table", () => {
  it("stands in the documentation as it is", () => {
    const text = readFileSync(page, "utf8")
    assert.strictEqual(text, withTable(text), "run: pnpm docs:retries")
  })

  it("has a row for every operation, and one for each call whose row differs", () => {
    assert.deepStrictEqual(
      Object.keys(retryTable).toSorted(),
      [...operations.keys(), "contactsDeletePost by rule", "contactsChangesPost as a dry run"].toSorted()
    )
  })
})
