/** Numbers, plurals and sentences as the texts of the page are made with them. */
import { assert, describe, it } from "@effect/vitest"
import { counted, hasDecimalComma, listed, number, sentence } from "../../src/texts/Language.ts"
import { importTexts } from "../../src/texts/ImportTexts.ts"
import { overviewTexts } from "../../src/texts/OverviewTexts.ts"

describe("the texts of the page", () => {
  it("have the form of a word that goes with its number", () => {
    const row = { one: "row", other: "rows" }
    assert.deepStrictEqual(
      [0, 1, 2, 1200].map((count) => counted(count, row)),
      ["0 rows", "1 row", "2 rows", `${(1200).toLocaleString()} rows`]
    )
    const none = { alreadySo: 0, changed: 0, leftOut: 0, new: 0, rejected: 0 }
    assert.include(importTexts.counts(1, { ...none, duplicates: 1 }), "1 row: ")
    assert.include(importTexts.counts(1, { ...none, duplicates: 1 }), "1 duplicate.")
    assert.include(overviewTexts.growth(1, 1), "1 contact added in the last month,")
    assert.include(overviewTexts.growth(2, 12), "2 contacts added in the last 12 months,")
  })

  it("put elements where the sentence has them", () => {
    const [name, end] = [{ type: "bdi" }, { type: "time" }]
    const made = sentence`The secret of ${name} works until ${end}.`
    assert.deepStrictEqual(
      made.filter((part) => part !== undefined && part !== ""),
      ["The secret of ", name, " works until ", end, "."]
    )
    assert.strictEqual(sentence`Undone under ${"History"}.`.join(""), "Undone under History.")
  })

  it("write numbers by the reader's locale, and lists by the language", () => {
    assert.strictEqual(number(1234567), (1234567).toLocaleString())
    assert.deepStrictEqual(["de", "fr", "en-GB", "ja"].map(hasDecimalComma), [true, true, false, false])
    assert.strictEqual(listed(["see", "change", "export"], "disjunction"), "see, change, or export")
  })
})
