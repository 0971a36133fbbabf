import { assert, describe, it } from "@effect/vitest"
import { ContactFields } from "@roster/domain/internal"
import { Arbitrary, Schema } from "effect"
import { contactColumns, givenValue, toContact } from "../../src/contacts/ContactRow.ts"
import { rows } from "./Rows.ts"

const text = Arbitrary.schema(Schema.String)
const customFields = Arbitrary.map(Arbitrary.schema(Schema.Record(Schema.String, Schema.String)), (fields) =>
  JSON.stringify(fields)
)

describe("a row of contacts", () => {
  it.prop("has each field in its column", [rows({ text, customFields })], ([row]) => {
    const contact = toContact(row)
    const values = new Map(contactColumns.map((column, place) => [column, row[place]]))
    for (const field of ContactFields.allFields) {
      assert.strictEqual(givenValue(field, contact) ?? null, values.get(field.column), field.path)
    }
    assert.strictEqual(JSON.stringify(contact.customFields), values.get("custom_fields"))
  })
})
