/**
 * Custom fields on every layer: an empty value removes one, and a rule names any of them. (docs/decisions/upsert.md)
 */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { ContactFilter, ContactsService, type CustomFields, Rule } from "@roster/domain"
import { Effect } from "effect"
import { eventually } from "../cases/Eventually.ts"
import { file, utf8 } from "../jobs/Importing.ts"
import { place } from "../cases/Place.ts"

const fieldsOf = (email: string) =>
  Effect.flatMap(ContactsService, (contacts) => Effect.map(contacts.get(email), ({ customFields }) => customFields))

/** Names that are no word of a rule, or one with a meaning of its own. */
const awkwardNames = [
  "plan name",
  "it's",
  'a "quoted" name',
  "and",
  "All",
  "daysfrom",
  "contactage",
  "2024",
  "größe (cm)",
  "-",
  "a=b",
  "💌",
  "__proto__"
]

export const customFieldsConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: custom fields", () => {
    it.effect("an empty value removes a field, in an update and in an add", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("fields")
        const before: CustomFields = { a: "1", b: "2", c: "3", d: "4" }
        const [added] = yield* contacts.add([{ email, customFields: { ...before, none: "" } }])
        assert.deepStrictEqual(added?.customFields, before)
        const updated = yield* contacts.update(email, { customFields: { a: "", e: "5", none: "" } })
        assert.deepStrictEqual(updated.customFields, { b: "2", c: "3", d: "4", e: "5" })
        const [again] = yield* contacts.add([{ email, customFields: { b: "", e: "6" } }])
        assert.deepStrictEqual(again?.customFields, { c: "3", d: "4", e: "6" })
        yield* contacts.addWithoutAnswer([{ email, customFields: { c: "" } }])
        assert.deepStrictEqual(yield* fieldsOf(email), { d: "4", e: "6" })
        yield* contacts.update(email, { customFields: { d: "", e: "" } })
        assert.deepStrictEqual(yield* fieldsOf(email), {})
        yield* contacts.update(email, { customFields: { d: "" } })
        assert.deepStrictEqual(yield* fieldsOf(email), {})
      })
    )

    it.effect("an add removes the fields of some contacts and writes those of others, in order", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add([{ email: email("a"), customFields: { x: "1", y: "1" }, firstName: "A" }])
        yield* contacts.add([
          { email: email("a"), status: "Engaged", customFields: { x: "" }, consent: { ip: "192.0.2.1" } },
          { email: email("b"), lastName: "B", customFields: { x: "2", y: "" } },
          { email: email("c") },
          { email: email("b"), customFields: { x: "" } },
          { email: email("c"), customFields: { x: "3" } }
        ])
        assert.deepStrictEqual(
          (yield* contacts.list({ rule })).map((contact) => [
            contact.email,
            contact.status,
            contact.firstName ?? contact.lastName,
            contact.consent?.ip,
            contact.customFields
          ]),
          [
            [email("a"), "Engaged", "A", "192.0.2.1", { y: "1" }],
            [email("b"), "Active", "B", undefined, {}],
            [email("c"), "Active", undefined, undefined, { x: "3" }]
          ]
        )
      })
    )

    it.effect("a contact with as many fields as it may have takes one in place of another", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("full")
        const full = Object.fromEntries(Array.from({ length: 250 }, (_, index) => [`f${index}`, "x"]))
        yield* contacts.add([{ email, customFields: full }])
        const replaced = (yield* contacts.update(email, { customFields: { f0: "", g0: "x" } })).customFields ?? {}
        assert.deepStrictEqual([Object.keys(replaced).length, replaced["f0"], replaced["g0"]], [250, undefined, "x"])
        const [added] = yield* contacts.add([{ email, customFields: { g0: "", h0: "x" } }])
        assert.deepStrictEqual([added?.customFields?.["g0"], added?.customFields?.["h0"]], [undefined, "x"])
      })
    )

    it.effect("an empty cell of a file leaves a field", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email } = place()
        yield* contacts.add([{ email: email("kept"), customFields: { plan: "gold", city: "Bonn" } }])
        yield* contacts.import(file(utf8(`Email,plan,city\nkept@${domain},,Rome\nnew@${domain},,\n`)))
        yield* eventually(fieldsOf(email("kept")), (fields) => fields?.["city"] === "Rome")
        assert.deepStrictEqual(yield* fieldsOf(email("kept")), { plan: "gold", city: "Rome" })
        assert.deepStrictEqual(yield* fieldsOf(email("new")), {})
      })
    )

    it.effect("a rule names a field of any name in quotes, and its printed form is the same rule", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule, where } = place()
        const people = awkwardNames.map((name, index) => ({
          email: email(`p${index}`),
          customFields: Object.fromEntries([[name, "yes"]])
        }))
        yield* contacts.add(people)
        for (const [index, name] of awkwardNames.entries()) {
          const field = Rule.customField(name)
          const printed = Rule.print(Rule.compare(field, "=", Rule.text("yes")))
          const quoted = `"${name.replaceAll('"', '""')}" = 'YES'`
          for (const condition of [printed, quoted]) {
            const found = yield* contacts.list({ rule: where(condition) })
            assert.deepStrictEqual(
              found.map((contact) => contact.email),
              [email(`p${index}`)],
              condition
            )
          }
        }
        yield* contacts.deleteMany(
          ContactFilter.ByRule({ rule: where(`'plan name' = 'yes' OR "it's" contains 'ye' OR 'größe (cm)' != ''`) })
        )
        assert.strictEqual((yield* contacts.list({ rule })).length, awkwardNames.length - 3)
      })
    )
  })
}
