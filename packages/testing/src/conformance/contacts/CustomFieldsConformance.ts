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

/** Pairs of names that are one name in a rule. */
const equalNames: ReadonlyArray<readonly [first: string, other: string]> = [
  ["City", "city"],
  ["plan name", "Plan Name"],
  ["GRÖSSE", "größe".replace("ß", "ss")],
  ["caf\u00e9", "CAFE\u0301"],
  ["\u0130l", "i\u0307L"],
  ["__proto__", "__PROTO__"],
  ["\u212a", "k"]
]

/** Names that are near to each other and two in a rule. */
const otherNames = { straße: "1", strasse: "2", ilk: "3", "\u0131lk": "4", cafe: "5", "caf\u00e9": "6" }

const fields = (...entries: ReadonlyArray<readonly [string, string]>): CustomFields => Object.fromEntries(entries)

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

    it.effect("a contact keeps the spelling of a name that it has first", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, where } = place()
        for (const [index, [first, other]] of equalNames.entries()) {
          const address = email(`s${index}`)
          yield* contacts.add([{ email: address, customFields: fields([first, "1"], ["kept", "yes"]) }])
          const kept = (value: string) => fields([first, value], ["kept", "yes"])
          const updated = yield* contacts.update(address, { customFields: fields([other, "2"]) })
          assert.deepStrictEqual(updated.customFields, kept("2"), other)
          const [again] = yield* contacts.add([{ email: address, customFields: fields([other, "3"]) }])
          assert.deepStrictEqual(again?.customFields, kept("3"), other)
          for (const name of [first, other]) {
            const rule = Rule.print(Rule.compare(Rule.customField(name), "=", Rule.text("3")))
            const found = yield* contacts.list({ rule: where(rule) })
            assert.deepStrictEqual(
              found.map((contact) => contact.email),
              [address],
              name
            )
          }
          const removed = yield* contacts.update(address, { customFields: fields([other, ""]) })
          assert.deepStrictEqual(removed.customFields, { kept: "yes" }, other)
          const [renamed] = yield* contacts.add([{ email: address, customFields: fields([other, "4"]) }])
          assert.deepStrictEqual(renamed?.customFields, fields(["kept", "yes"], [other, "4"]), other)
        }
        const address = email("imported")
        yield* contacts.add([{ email: address, customFields: { City: "Bonn", Plan: "gold" } }])
        yield* contacts.import(file(utf8(`Email,city,PLAN\nimported@${domain},Rome,\n`)))
        yield* eventually(fieldsOf(address), (fields) => fields?.["City"] === "Rome")
        assert.deepStrictEqual(yield* fieldsOf(address), { City: "Rome", Plan: "gold" })
        const [many] = yield* contacts.add([{ email: email("near"), customFields: otherNames }])
        assert.deepStrictEqual(many?.customFields, otherNames)
      })
    )

    it.effect("rows of one add for one address merge equal names", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("rows")
        yield* contacts.addWithoutAnswer([
          { email, customFields: { City: "1", a: "1" } },
          { email, customFields: { city: "2", A: "" } },
          { email, customFields: { CITY: "3" } }
        ])
        assert.deepStrictEqual(yield* fieldsOf(email), { City: "3" })
      })
    )

    it.effect("two spellings of one name in a record are refused, and nothing is written", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const address = email("both")
        yield* contacts.add([{ email: address, customFields: { kept: "yes" } }])
        for (const [first, other] of equalNames) {
          const customFields = fields([first, "1"], [other, "2"])
          const add = [{ email: email("new") }, { email: address, customFields }]
          for (const call of [Effect.asVoid(contacts.add(add)), Effect.asVoid(contacts.addWithoutAnswer(add))]) {
            const refusal = yield* Effect.flip(call)
            assert.deepStrictEqual(
              [refusal._tag, "field" in refusal && refusal.field],
              ["InvalidInput", "[1].customFields"]
            )
          }
          const refusal = yield* Effect.flip(contacts.update(address, { customFields }))
          assert.deepStrictEqual([refusal._tag, "field" in refusal && refusal.field], ["InvalidInput", "customFields"])
        }
        const found = yield* contacts.list({ rule })
        assert.deepStrictEqual(
          found.map(({ customFields }) => customFields),
          [{ kept: "yes" }]
        )
      })
    )
  })
}
