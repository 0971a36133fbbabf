import { assert, describe, it } from "@effect/vitest"
import { makeFieldCount, maximumFieldsInUse } from "../../src/rules/FieldUse.ts"

describe("the use of fields", () => {
  it("counts so many custom fields, and says where there are more", () => {
    const counting = makeFieldCount()
    const contact = (from: number, count: number) => ({
      email: `c${from}@example.com`,
      customFields: Object.fromEntries(Array.from({ length: count }, (_, index) => [`f${from + index}`, "x"]))
    })
    counting.add(contact(0, maximumFieldsInUse))
    assert.isTrue(counting.result(true).exact)
    counting.add(contact(maximumFieldsInUse - 1, 2))
    const { contacts, exact, fields } = counting.result(true)
    assert.deepStrictEqual([contacts, exact], [2, false])
    const custom = fields.filter(({ isCustom }) => isCustom)
    assert.strictEqual(custom.length, maximumFieldsInUse)
    assert.deepStrictEqual(custom.find(({ name }) => name === `f${maximumFieldsInUse - 1}`)?.contacts, 2)
  })
})
