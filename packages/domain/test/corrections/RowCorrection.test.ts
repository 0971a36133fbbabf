import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Stream } from "effect"
import { correctedRows, makeRowCheck } from "../../src/corrections/RowCorrection.ts"
import { contactOf, readContacts } from "../../src/csv/ContactCsv.ts"
import type { ImportMapping } from "../../src/csv/ImportMapping.ts"

const header = { cells: ["Mail", "FirstName", "Status"], delimiter: "," } as const
const mapping: ImportMapping = { columns: { Mail: "Email" } }

const rowsOf = (text: string) => readContacts(Stream.make(new TextEncoder().encode(text)), mapping)

const check = makeRowCheck(header, mapping)

describe("the correction of a row", () => {
  it("says what is wrong with cells, as the import does", () => {
    const found = check?.read(["ann@@example.com", "Ann", "Active"]) ?? assert.fail("no check")
    assert.isTrue(Result.isFailure(found))
    if (Result.isFailure(found)) assert.deepInclude(found.failure, { code: "Address", column: "Mail" })
    assert.isTrue(Result.isSuccess(check?.read(["ann@example.com", "Ann", ""]) ?? found))
  })

  it("proposes cells by which the row is a contact, and nothing where more is wrong", () => {
    assert.deepStrictEqual(check?.propose(["ann@@example.com", "Ann", ""]), ["ann@example.com", "Ann", ""])
    assert.deepStrictEqual(check?.propose(["ann@example", "com", "Ann", ""]), ["ann@example.com", "Ann", ""])
    assert.isUndefined(check?.propose(["ann@example.com", "Ann", ""]))
    assert.isUndefined(check?.propose(["ann@@example.com", "Ann", "maybe"]))
    assert.isUndefined(check?.propose(["ann@example.com", "Ann", "", "more"]))
    assert.isUndefined(check?.propose(["ann@@example.com"]))
    assert.isUndefined(makeRowCheck({ ...header, format: "Ndjson" }, mapping))
    assert.isUndefined(makeRowCheck({ ...header, cells: ["FirstName"] }, mapping))
  })

  it.effect("puts rows right at their place, and leaves the others as they are", () =>
    Effect.gen(function* () {
      const text = "Mail,FirstName,Status\nann@@example.com,Ann,\nbob@example.com,Bob,\nnobody,Eve,maybe\n"
      const corrections = new Map([
        [2, ["ann@example.com", "Ann", ""]],
        [4, ["eve@example.com", "Eve", "maybe"]]
      ])
      const rows = yield* Stream.runCollect(correctedRows(rowsOf(text), corrections, mapping))
      assert.deepStrictEqual(
        rows.map((row) => [row.line, Result.getOrUndefined(contactOf(row))?.email, row.cells[0]]),
        [
          [2, "ann@example.com", "ann@example.com"],
          [3, "bob@example.com", "bob@example.com"],
          [4, undefined, "eve@example.com"]
        ]
      )
      assert.deepInclude(rows[2]?.fault, { code: "Word", column: "Status" })
    })
  )
})
