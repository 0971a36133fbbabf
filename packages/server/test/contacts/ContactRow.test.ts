import { assert, describe, it } from "@effect/vitest"
import { contactColumns, contactRowOf, type ContactValues } from "../../src/contacts/ContactRow.ts"

describe("a row of values", () => {
  it("has each value under the name of its column", () => {
    // What stands in for the values is what they are told apart by, of whatever type.
    const values = contactColumns as unknown as ContactValues<typeof contactColumns>
    assert.deepStrictEqual<unknown>(
      contactRowOf(values),
      Object.fromEntries(contactColumns.map((column) => [column, column]))
    )
  })
})
