import { assert, describe, it } from "@effect/vitest"
import { Schema } from "effect"
import { Contact, ContactPayload, sentPart } from "../../src/contacts/Contact.ts"
import { contentOf, sameContent } from "../../src/contacts/ContactWrite.ts"
import { addedFields, type ContactField, wireRecordOf } from "../../src/contacts/ContactFields.ts"

const wireValue = (field: ContactField): string =>
  field.kind === "enumeration" ? (field.values[1] ?? "") : field.kind === "date" ? "2024-02-29T23:59:59Z" : "x"

describe("a field that an add may give", () => {
  it.each(addedFields.filter(({ wire }) => wire !== "Email").map((field) => [field.path, field] as const))(
    "%s is part of the content that changes compare, and is shown to who sent it",
    (_, field) => {
      const record: unknown = { Email: "ada@example.com", ...wireRecordOf([[field.path, wireValue(field)]]) }
      const contact = Schema.decodeUnknownSync(Contact)(record)
      const value = field.read(contact)
      assert.isDefined(value)
      assert.strictEqual(field.read(contentOf(contact)), value)
      assert.isFalse(sameContent(contact, {}))
      const sent = Schema.decodeUnknownSync(ContactPayload)(record)
      assert.strictEqual(field.read(sentPart(contact, sent)), value)
    }
  )
})
