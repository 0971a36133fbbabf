import { assert, describe, it } from "@effect/vitest"
import {
  contactSizeIssue,
  longestField,
  maximumContactBytes,
  maximumCustomFieldName,
  maximumCustomFields,
  mayBecome
} from "../../src/contacts/ContactSize.ts"
import type { ContactParts } from "../../src/contacts/ContactField.ts"

const fields = (count: number, value = "v") =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${index}`, value]))

const email = "ada@example.com"

/** As it goes over the wire. */
const wireBytes = (contact: object) => Buffer.byteLength(JSON.stringify(contact))

/** A contact of exactly so many bytes on the wire, in which JSON escapes some and UTF-8 widens others. */
const sized = (bytes: number): ContactParts => {
  const start = '"\\\n\u0001é東😀'
  const room = bytes - wireBytes({ Email: email, LastName: "L", CustomFields: { note: start } })
  return { email, lastName: "L", customFields: { note: start + "x".repeat(room) } }
}

describe("contactSizeIssue", () => {
  it.each<readonly [string, ContactParts]>([
    ["nothing", {}],
    ["as many custom fields as allowed", { email, customFields: fields(maximumCustomFields) }],
    ["a name as long as allowed", { email, customFields: { ["n".repeat(maximumCustomFieldName)]: "" } }],
    ["as many bytes as allowed", sized(maximumContactBytes)],
    ["50 custom fields of 200 characters", { email, customFields: fields(50, "é".repeat(200)) }]
  ])("accepts %s", (_, contact) => {
    assert.isUndefined(contactSizeIssue(contact))
  })

  it.each<readonly [string, string, ContactParts, RegExp]>([
    [
      "a custom field too many",
      "customFields",
      { customFields: fields(maximumCustomFields + 1) },
      /at most 250 custom/
    ],
    ["a name too long", "customFields", { customFields: { ["n".repeat(201)]: "" } }, /name .* at most 200 characters/],
    ["a byte too many", "customFields", sized(maximumContactBytes + 1), /at most 32768 bytes .* has 32769$/],
    ["a first name too long", "firstName", { firstName: "x".repeat(maximumContactBytes) }, /at most 32768 bytes/],
    ["a last name too long", "lastName", { firstName: "x", lastName: "é".repeat(20_000) }, /has 4\d{4}$/],
    ["control characters", "firstName", { firstName: "\u0001".repeat(6000), lastName: "x" }, /has 36\d{3}$/],
    ["a long ConsentIP", "consent.ip", { consent: { ip: "1".repeat(maximumContactBytes) } }, /at most 32768/],
    ["60,000 custom fields", "customFields", { customFields: fields(60_000) }, /at most 250 custom/]
  ])("refuses %s", (_, field, contact, issue) => {
    const found = contactSizeIssue(contact)
    assert.strictEqual(found?.field, field)
    assert.match(found?.issue ?? "", issue)
  })

  it("looks at no more custom fields than one too many", () => {
    let seen = 0
    const customFields = new Proxy(fields(60_000), {
      get: (target, name): unknown => {
        seen++
        return Reflect.get(target, name)
      }
    })
    assert.isDefined(contactSizeIssue({ customFields }))
    assert.isAtMost(seen, maximumCustomFields)
  })
})

describe("mayBecome", () => {
  const many = { email, customFields: fields(maximumCustomFields + 10) }
  const large = sized(maximumContactBytes + 10)
  it.each<readonly [string, ContactParts, ContactParts, boolean]>([
    ["within the bounds", {}, sized(maximumContactBytes), true],
    ["a byte too many", sized(maximumContactBytes), sized(maximumContactBytes + 1), false],
    ["a custom field too many", {}, { customFields: fields(maximumCustomFields + 1) }, false],
    ["as large as it is", large, large, true],
    ["smaller, and still too large", large, sized(maximumContactBytes + 9), true],
    ["larger than it is", large, sized(maximumContactBytes + 11), false],
    ["as many custom fields as it has", many, { ...many, firstName: "Ada" }, true],
    ["more custom fields than it has", many, { customFields: fields(maximumCustomFields + 11, "") }, false],
    ["fewer bytes and more custom fields", large, { customFields: fields(maximumCustomFields + 1, "") }, false]
  ])("%s", (_, before, after, expected) => {
    assert.strictEqual(mayBecome(before, after), expected)
  })
})

describe("longestField", () => {
  it("counts the names of custom fields too", () => {
    assert.strictEqual(longestField({ firstName: "12345", customFields: { abc: "def" } }), "customFields")
    assert.strictEqual(longestField({ firstName: "1234567", customFields: { abc: "def" } }), "firstName")
    assert.strictEqual(longestField({}), "customFields")
  })
})
