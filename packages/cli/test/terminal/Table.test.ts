import { assert, describe, it } from "@effect/vitest"
import { jsonText, printable, printableLines, shorten } from "../../src/terminal/Printable.ts"
import { fieldsOf, recordText, tableOf, timesInWords } from "../../src/terminal/Table.ts"

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
    const text = tableOf(["Email", "FirstName"]).part([ann, { Email: "li@example.com", FirstName: "日本" }])
    assert.strictEqual(text, "Email            FirstName\nann@example.com  Ann\nli@example.com   日本")
  })

  it("have one header, and the widths of their first part", () => {
    const table = tableOf(["Email", "FirstName"])
    table.part([ann])
    assert.strictEqual(table.part([{ Email: "a@b.c", FirstName: "X" }]), "a@b.c            X")
  })

  /** Rows that differ in their files. */
  const run = (file: string, more: object = {}) => ({
    id: "20261121T152236424Z-22e9",
    file,
    state: "finished",
    when: "2026-11-21 15:22:36",
    count: 12_345_678,
    target: "[local] store.db",
    ...more
  })
  const columns = ["id", "file", "state", "when", "count", "target"]

  it("that are too wide cut texts, leave out their last columns, and say so", () => {
    const table = tableOf(columns, { available: 60 })
    assert.strictEqual(
      table.part([run("/home/ann/data/customers/2026/november.csv"), run("/home/ann/data/customers/2026/october.csv")]),
      [
        "id                        file                      state",
        "20261121T152236424Z-22e9  …omers/2026/november.csv  finished",
        "20261121T152236424Z-22e9  …tomers/2026/october.csv  finished"
      ].join("\n")
    )
    assert.deepStrictEqual(table.leftOut(), ["when", "count", "target"])
  })

  it("show every column that somebody asked for, and all without a terminal or with --wide", () => {
    const rows = [run("x".repeat(100)), run("y")]
    const asked = tableOf(columns, { available: 60, areAsked: true })
    assert.match(asked.part(rows), /^id +file +state +when +count +target\n/)
    assert.deepStrictEqual(asked.leftOut(), [])
    assert.include(tableOf(columns).part(rows), `${"x".repeat(59)}…`)
    assert.include(tableOf(columns, { available: Number.POSITIVE_INFINITY }).part(rows), "x".repeat(100))
  })

  it("cut of a time and of a number nothing", () => {
    const table = tableOf(["id", "state", "when", "count"], { available: 52 })
    assert.strictEqual(
      table.part([run("a"), run("b", { count: 1 })]).split("\n")[1],
      "20261121T152236424Z-22e9  finished"
    )
    assert.deepStrictEqual(table.leftOut(), ["when", "count"])
  })

  it("cut no sentences, which the terminal wraps", () => {
    const table = tableOf(["Name", "Advice"], { available: 24, hasSentences: true })
    assert.strictEqual(
      table.part([{ Name: "ci", Advice: "let it go, or name the addresses" }]),
      "Name  Advice\nci    let it go, or name the addresses"
    )
  })

  it("have times in UTC and say so in the heading, but texts of people as they are", () => {
    const time = "2026-07-21T15:22:36Z"
    const record = timesInWords({ Email: "a@x.org", DateAdded: time, Expires: null, CustomFields: { seen: time } })
    assert.strictEqual(
      recordText(record),
      "Email              a@x.org\nDateAdded          2026-07-21 15:22:36 UTC\nExpires\nCustomFields.seen  2026-07-21T15:22:36Z"
    )
    const table = tableOf(["DateAdded", "Expires", "CustomFields.seen"])
    assert.strictEqual(
      table.part([record]),
      "DateAdded (UTC)      Expires  CustomFields.seen\n2026-07-21 15:22:36           2026-07-21T15:22:36Z"
    )
    // Where a heading cannot say it, the time does.
    const later = timesInWords({ DateAdded: time, Expires: time, CustomFields: {} })
    assert.strictEqual(table.part([later]), "2026-07-21 15:22:36  2026-07-21 15:22:36 UTC")
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
