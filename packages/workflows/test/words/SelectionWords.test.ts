import { assert, describe, it } from "@effect/vitest"
import { selectionWords } from "../../src/words/SelectionWords.ts"

describe("selectionWords", () => {
  it.each([
    ["status = Active", "status = Active"],
    ["plan = 'pro' AND Email = 'ann@example.com'", "plan = 'pro' AND email = '…'"],
    [
      "(email ends-with '@example.com' OR lastname starts-with 'Lee') AND status = Active",
      "(email ends-with '…' OR lastname starts-with '…') AND status = Active"
    ],
    ["firstname = 'Ann' OR firstname = 'Anna'", "firstname = '…' OR firstname = '…'"],
    ["on-list 'Kunden'", "on-list 'Kunden'"]
  ])("tells of the rule %s without addresses and names", (rule, words) =>
    assert.strictEqual(selectionWords(rule), words)
  )

  it("counts addresses", () => assert.deepStrictEqual([1, 2000].map(selectionWords), ["1 contact", "2,000 contacts"]))
})
