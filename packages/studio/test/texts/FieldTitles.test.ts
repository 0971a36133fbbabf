/** The fields of contacts and their values have names for people: one that is added gets its own. */
import { assert, describe, it } from "@effect/vitest"
import { ContactFields } from "@roster/domain/internal"
import { fieldTitle, fieldTitles, statusWords, valueTitles, valueWords } from "../../src/texts/SharedTexts.ts"

describe("the names of fields", () => {
  it("are there for every field and for every value that a field may have", () => {
    assert.sameMembers(Object.keys(fieldTitles), [
      ...ContactFields.allFields.map(({ wire }) => wire),
      "CustomFields",
      "Lists"
    ])
    const values = ContactFields.allFields.flatMap((field) => (field.kind === "enumeration" ? field.values : []))
    assert.sameMembers(Object.keys(valueTitles), values)
  })

  it("leave custom fields and values of another service as they are", () => {
    for (const name of ["constructor", "My Field", "FavouriteColour"]) assert.strictEqual(fieldTitle(name), name)
    assert.strictEqual(statusWords("__proto__"), "__proto__")
    assert.strictEqual(valueWords("City", "NotConfirmed"), "NotConfirmed")
    assert.strictEqual(valueWords("status", "NotConfirmed"), "Not confirmed")
  })
})
