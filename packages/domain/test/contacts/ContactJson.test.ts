import { assert, describe, it } from "@effect/vitest"
import { DateTime, Schema } from "effect"
import { Contact } from "../../src/contacts/Contact.ts"
import { contactJson, contactsJson } from "../../src/contacts/ContactJson.ts"

const encode = Schema.encodeSync(Contact)

/** Texts of every width in UTF-8, with what JSON escapes. */
const texts = [
  "",
  'a"b',
  "a\\b\n",
  "\u0000\u001f\u007f\u0080\u009f\u00a0ÿ\u05ff\u0600\u07ff\u0800\u2028\ufeff\uffff",
  "東京",
  "\u{1f600}",
  "\ud800",
  "x".repeat(5000)
]
const instants = [-62_167_219_200_000, -1, 0, 253_402_300_799_999, 253_402_300_800_000]

describe("contactsJson", () => {
  it.prop(
    "writes what the schema encodes",
    [Schema.Array(Contact)],
    ([contacts]) => {
      assert.strictEqual(contactsJson(contacts), JSON.stringify(contacts.map((one) => encode(one))))
    },
    { arbitrary: { runs: 500 } }
  )

  it.each(texts)("writes the text %j", (text) => {
    const fields: unknown = JSON.parse(`{"__proto__":"a","10":"b","9":"c",${JSON.stringify(text)}:""}`)
    const contact = Schema.decodeUnknownSync(Contact)({ Email: text, FirstName: text, CustomFields: fields })
    assert.strictEqual(contactJson(contact), JSON.stringify(encode(contact)))
  })

  it.each(instants)("writes the instant %i", (milliseconds) => {
    const contact: Contact = { email: "ada@example.com", dateAdded: DateTime.makeUnsafe(milliseconds), consent: {} }
    assert.strictEqual(contactJson(contact), JSON.stringify(encode(contact)))
  })
})
