import { assert, describe, it } from "@effect/vitest"
import { jsonText, printable, printableLines, shorten } from "../../src/terminal/Printable.ts"
import { fieldsOf, recordText, tableOf } from "../../src/terminal/Table.ts"

// Cursor and colour, the clipboard (OSC 52), C1 controls, bidi, line breaks, tags, a broken surrogate.
const hostile = "\u001b[31mred\u001b]52;c;ZXZpbA==\u0007\u009b2J\u202eabc\u2066\u200f\r\nb\u2028c\u{e0041}\ud800\u007f"
// eslint-disable-next-line no-control-regex -- these are the characters that must not get through
const active =
  /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028\u2029\u202a-\u202e\u2066-\u2069\u{e0000}-\u{e007f}]/u

describe("text from elsewhere", () => {
  it("moves nothing on a terminal", () => {
    assert.notMatch(printable(hostile), active)
    assert.isTrue(printable(hostile).isWellFormed())
    assert.include(printable(hostile), "\u241b[31mred")
  })

  it("keeps what languages and emoji need", () => {
    for (const text of ["José Ñandú", "نامه\u200cای", "👩\u200d👩\u200d👧", "नमस्ते", "日本語"])
      assert.strictEqual(printable(text), text)
  })

  it("keeps the lines of our own words", () => {
    assert.strictEqual(printableLines("a\n\u001bb"), "a\n\u241bb")
  })

  it("is exact in JSON, and does nothing there either", () => {
    const text = jsonText({ hostile, lines: "a\nb", emoji: "👩\u200d👧" })
    assert.notMatch(text, active)
    assert.deepStrictEqual(JSON.parse(text), { hostile, lines: "a\nb", emoji: "👩\u200d👧" })
  })

  it("is quoted back in short", () => {
    assert.strictEqual(shorten("x".repeat(100)), `${"x".repeat(60)}…`)
  })
})

describe("tables", () => {
  const ann = {
    Email: "ann@example.com",
    FirstName: "Ann",
    CustomFields: { city: "Berlin" },
    Levels: ["A", "B"],
    LastUse: null
  }

  it("name nested fields by their path", () => {
    assert.deepStrictEqual(fieldsOf(ann), [
      ["Email", "ann@example.com"],
      ["FirstName", "Ann"],
      ["CustomFields.city", "Berlin"],
      ["Levels", "A, B"],
      ["LastUse", ""]
    ])
  })

  it("line up, however wide the characters are", () => {
    const text = tableOf(["Email", "FirstName"])([ann, { Email: "li@example.com", FirstName: "日本" }])
    assert.strictEqual(text, "Email            FirstName\nann@example.com  Ann\nli@example.com   日本")
  })

  it("have one header, and the widths of their first part", () => {
    const table = tableOf(["Email", "FirstName"])
    table([ann])
    assert.strictEqual(table([{ Email: "a@b.c", FirstName: "X" }]), "a@b.c            X")
  })

  it("neutralise values and the names of custom fields", () => {
    const record = { Email: hostile, CustomFields: { [hostile]: hostile } }
    for (const line of recordText(record).split("\n")) assert.notMatch(line, active)
    assert.strictEqual(recordText(record).split("\n").length, 2)
  })

  it("show a status, which is a text and no record", () => {
    assert.strictEqual(recordText("Ready").trim(), "Ready")
  })
})
