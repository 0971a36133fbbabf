import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { protectCell, restoreCell } from "../../src/csv/CsvCell.ts"

/** What a spreadsheet runs, by OWASP's list for CSV injection. */
const starts = ["=", "+", "-", "@", "\t", "\r", "\n"]

const Hostile = Schema.Array(Schema.Literals([...starts, "'", "\0", "a", " ", '"', ",", "😀", "\u2028"]))

describe("CsvCell", () => {
  it.each([
    ["=1+1", "'=1+1"],
    ["+49 30 1234", "'+49 30 1234"],
    ["-5", "'-5"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\tx", "'\tx"],
    ["\rx", "'\rx"],
    ["'=x", "''=x"],
    ["plain", "plain"],
    ["O'Brien", "O'Brien"],
    ["'quoted'", "'quoted'"],
    ["a=1", "a=1"],
    ["", ""]
  ])("writes %j as %j", (text, cell) => {
    assert.strictEqual(protectCell(text), cell)
    assert.strictEqual(restoreCell(cell), text)
  })

  it("leaves what others wrote alone", () => {
    assert.strictEqual(restoreCell("=1+1"), "=1+1")
    assert.strictEqual(restoreCell("'tis"), "'tis")
  })

  it.prop("gives every text back", [Schema.Union([Schema.String, Hostile])], ([input]) => {
    const text = typeof input === "string" ? input : input.join("")
    assert.strictEqual(restoreCell(protectCell(text)), text)
  })

  it.prop("never writes what a spreadsheet runs", [Schema.Union([Schema.String, Hostile])], ([input]) => {
    const cell = protectCell(typeof input === "string" ? input : input.join(""))
    assert.isFalse(starts.some((start) => cell.startsWith(start)))
  })
})
