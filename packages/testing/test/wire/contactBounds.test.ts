/**
 * The bounds of a contact against `roster serve`, with what stopped it for seconds before there were any: many custom
 * fields, in one contact or in one by one of an address.
 */
import { assert, describe, layer } from "@effect/vitest"
import { ContactSize } from "@roster/domain"
import { Effect, Predicate } from "effect"
import { longRun } from "../../src/simulation/LongRun.ts"
import { ask, askJson, refusedWith, succeeded, Wire } from "./Wire.ts"

const { maximumContactBytes, maximumCustomFields } = ContactSize

const fields = (prefix: string, count: number, value = "v") =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, value]))

const many = (count: number) => ({ Email: "many@bounds.example", CustomFields: fields("f", count) })

/** A contact of so many bytes of JSON. */
const sized = (bytes: number) => {
  const contact = { Email: "large@bounds.example", FirstName: "", CustomFields: { a: "b" } }
  return { ...contact, FirstName: "x".repeat(bytes - JSON.stringify(contact).length) }
}

const ofOneAddress = Array.from({ length: 400 }, (_, n) => ({
  Email: "many@bounds.example",
  CustomFields: fields(`${n}-`, 150)
}))

const customFieldsOf = (contact: unknown) =>
  Predicate.isObject(contact) && Predicate.isObject(contact["CustomFields"])
    ? Object.keys(contact["CustomFields"]).length
    : assert.fail("it is no contact")

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("bounds of a contact", (it) => {
  const contactOf = ({ Email }: { readonly Email: string }) => ask("GET", `/contacts/${Email}`)

  describe("beyond them nothing of an add is written", () => {
    it.effect.each([
      ["60,000 custom fields", [many(60_000)], "body", /an object in it has more than 1000 names/],
      ["1000 custom fields twice", [many(1000), many(1000)], "[0].CustomFields", /at most 250 custom fields/],
      ["a custom field too many", [many(maximumCustomFields + 1)], "[0].CustomFields", /at most 250 custom fields/],
      ["400 contacts of one address with 150 each", ofOneAddress, "[1].CustomFields", /with what is stored/],
      ["a byte too many", [sized(maximumContactBytes + 1)], "[0].FirstName", /32768 bytes .* has 32769/]
    ] as const)("%s", ([, contacts, field, issue]) =>
      Effect.gen(function* () {
        const good = { Email: "good@bounds.example" }
        // An add with a key commits together with its answer.
        for (const headers of [{}, { "Idempotency-Key": field }]) {
          const text = refusedWith(yield* askJson("POST", "/contacts", [...contacts, good], { headers }), 400)
          assert.match(text, issue)
          assert.isTrue(text.startsWith(`Invalid ${field}: `), text)
          for (const contact of [good, ...contacts.slice(0, 1)]) refusedWith(yield* contactOf(contact), 404)
        }
      })
    )
  })

  it.effect("a contact at them is taken, and a change beyond them is refused", () =>
    Effect.gen(function* () {
      succeeded(yield* askJson("POST", "/contacts", [many(maximumCustomFields), sized(maximumContactBytes)]))
      const before = succeeded(yield* contactOf(many(0)))
      assert.strictEqual(customFieldsOf(before), maximumCustomFields)
      for (const [contact, changes, field] of [
        [many(0), { CustomFields: { another: "one" } }, "CustomFields"],
        [many(0), { CustomFields: fields("f", 1000) }, "CustomFields"],
        [many(0), { CustomFields: fields("f", 1001) }, "body"],
        [sized(1000), { CustomFields: { a: "bc" } }, "CustomFields"],
        [sized(1000), { LastName: "L" }, "LastName"]
      ] as const) {
        const text = refusedWith(yield* askJson("PUT", `/contacts/${contact.Email}`, changes), 400)
        assert.isTrue(text.startsWith(`Invalid ${field}: `), text)
      }
      assert.deepStrictEqual(succeeded(yield* contactOf(many(0))), before)
      const renewed = yield* askJson("PUT", "/contacts/many@bounds.example", {
        CustomFields: fields("f", maximumCustomFields, "new")
      })
      assert.strictEqual(customFieldsOf(succeeded(renewed)), maximumCustomFields)
    })
  )

  it.effect.skipIf(!longRun)(
    "1000 contacts with 35 custom fields of 200 characters are an add and a page (nightly)",
    () =>
      Effect.gen(function* () {
        const contacts = Array.from({ length: 1000 }, (_, n) => ({
          Email: `p${n}@usual.example`,
          CustomFields: fields("field ", 35, `${n} `.padEnd(200, "x"))
        }))
        succeeded(yield* askJson("POST", "/contacts", contacts))
        succeeded(yield* askJson("POST", "/contacts", contacts))
        const rule = encodeURIComponent("email ends-with '@usual.example'")
        const page = succeeded(yield* ask("GET", `/contacts?limit=1000&rule=${rule}`))
        assert.deepStrictEqual(
          Array.isArray(page) ? page.map(customFieldsOf) : page,
          contacts.map(() => 35)
        )
      })
  )
})
