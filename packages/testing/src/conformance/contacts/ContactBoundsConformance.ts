/** On every layer, a contact at its bounds is kept; beyond them it is refused by its field, and nothing is written. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import {
  ContactFilter,
  type ContactPayload,
  ContactSize,
  ContactsService,
  type ContactUpdatePayload,
  type EmailAddress,
  maximumContactsPerAdd,
  maximumListName,
  maximumListsOfContact,
  maximumPlaces,
  readContacts
} from "@roster/domain"
import { addAll, addRows } from "@roster/workflows"
import { Effect, Stream } from "effect"
import { file, imported, utf8 } from "../jobs/Importing.ts"
import { place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"

const { maximumContactBytes, maximumCustomFieldName, maximumCustomFields } = ContactSize

const fields = (prefix: string, count: number, value = "v"): Readonly<Record<string, string>> =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, value]))

/** A custom field that makes a contact so many bytes larger than the bound, with texts that JSON escapes. */
const filling = (email: EmailAddress, beyond = 0) => {
  const start = '"é\n"'
  const rest = utf8(JSON.stringify({ Email: email, CustomFields: { note: start } })).length
  return { note: start + "x".repeat(maximumContactBytes + beyond - rest) }
}

const long = "x".repeat(maximumContactBytes)

type Changes = (email: EmailAddress) => ContactUpdatePayload

const atBounds: ReadonlyArray<readonly [what: string, changes: Changes]> = [
  ["custom fields", () => ({ customFields: fields("f", maximumCustomFields) })],
  ["the name of a custom field", () => ({ customFields: { ["n".repeat(maximumCustomFieldName)]: "x" } })],
  ["bytes", (email) => ({ customFields: filling(email) })]
]

const beyondBounds: ReadonlyArray<readonly [field: string, changes: Changes]> = [
  ["customFields", () => ({ customFields: fields("f", maximumCustomFields + 1) })],
  ["customFields", () => ({ customFields: { ["n".repeat(maximumCustomFieldName + 1)]: "x" } })],
  ["customFields", (email) => ({ customFields: filling(email, 1) })],
  ["firstName", () => ({ firstName: long })],
  ["lastName", () => ({ lastName: long, customFields: { a: "b" } })]
]

export const contactBoundsConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: bounds", () => {
    it.effect.each(atBounds)("keeps a contact at the bound: %s", ([, changes]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const [a, b, c] = [email("a"), email("b"), email("c")]
        const [added] = yield* contacts.add([{ email: a, ...changes(a) }])
        assert.deepStrictEqual(added?.customFields, changes(a).customFields)
        yield* contacts.addWithoutAnswer([{ email: b, ...changes(b) }])
        assert.deepStrictEqual((yield* contacts.get(b)).customFields, changes(b).customFields)
        yield* contacts.add([{ email: c }])
        assert.deepStrictEqual((yield* contacts.update(c, changes(c))).customFields, changes(c).customFields)
        // What is at the bound can be said again.
        yield* contacts.add([{ email: a, ...changes(a) }])
        assert.deepStrictEqual((yield* contacts.update(a, changes(a))).customFields, changes(a).customFields)
      })
    )

    it.effect("refuses a contact beyond a bound, and all others with it", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const [there] = yield* contacts.add([{ email: email("there"), firstName: "F", customFields: { a: "1" } }])
        for (const [field, changes] of beyondBounds) {
          const bad = email("bad")
          const some = [{ email: email("good") }, { email: bad, ...changes(bad) }]
          const error = yield* refused(contacts.add(some), "InvalidInput")
          assert.strictEqual(error.field, `[1].${field}`)
          assert.deepStrictEqual(yield* refused(contacts.addWithoutAnswer(some), "InvalidInput"), error)
          const change = contacts.update(email("there"), changes(email("there")))
          assert.strictEqual((yield* refused(change, "InvalidInput")).field, field)
        }
        const consent = { consent: { ip: long } }
        const error = yield* refused(contacts.add([{ email: email("bad"), ...consent }]), "InvalidInput")
        assert.strictEqual(error.field, "[0].consent.ip")
        assert.deepStrictEqual(yield* contacts.list({ rule }), there === undefined ? [] : [there])
      })
    )

    it.effect("refuses more places on lists than one call gives, and writes nothing", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, rule } = place()
        const lists = (count: number) => Array.from({ length: count }, (_, index) => `${index} of ${domain}`)
        const people = (count: number) => Array.from({ length: count }, (_, index) => ({ email: email(`p${index}`) }))
        const beyond = [
          [maximumContactsPerAdd, maximumPlaces / maximumContactsPerAdd + 1],
          [maximumPlaces / maximumListsOfContact + 1, maximumListsOfContact],
          [1, maximumListsOfContact + 1]
        ] as const
        for (const [count, names] of beyond) {
          const options = { listNames: lists(names) }
          const error = yield* refused(contacts.add(people(count), options), "InvalidInput")
          assert.strictEqual(error.field, "listNames")
          assert.deepStrictEqual(
            yield* refused(contacts.addWithoutAnswer(people(count), options), "InvalidInput"),
            error
          )
        }
        const write = { addToLists: lists(maximumListsOfContact) }
        const changes = people(maximumPlaces / maximumListsOfContact + 1).map((one) => ({ ...one, seen: null, write }))
        assert.strictEqual((yield* refused(contacts.change(changes), "InvalidInput")).field, "body")
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
        // A list that is named twice is one list.
        const some = people(maximumPlaces / maximumListsOfContact)
        yield* contacts.addWithoutAnswer(some, { listNames: [...lists(maximumListsOfContact), ...lists(1)] })
        yield* contacts.deleteMany(ContactFilter.ByRule({ rule }))
      })
    )

    it.effect("uploads any number of contacts to several lists", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, rule } = place()
        const listNames = Array.from({ length: 40 }, (_, index) => `${index} of ${domain}`)
        const people = Array.from({ length: 300 }, (_, index) => ({ email: email(`u${index}`) }))
        const outcomes = yield* Stream.runCollect(addAll(Stream.fromIterable(people), { listNames }))
        assert.deepStrictEqual(new Set(outcomes.map(({ _tag }) => _tag)), new Set(["Accepted"]))
        assert.strictEqual((yield* contacts.list({ rule, limit: 1000 })).length, 300)
        yield* contacts.deleteMany(ContactFilter.ByRule({ rule }))
      })
    )

    it.effect("puts no contact on more than 100 lists, and writes nothing of what would", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, rule } = place()
        const [full, other] = [email("full"), email("other")]
        const listNames = Array.from({ length: maximumListsOfContact }, (_, index) => `${index} of ${domain}`)
        yield* contacts.add([{ email: full }], { listNames })
        yield* contacts.add([{ email: full }], { listNames })
        const more = [`${maximumListsOfContact} of ${domain}`]
        const [answer] = yield* contacts.change([{ email: full, seen: { status: "Active" }, write: {} }])
        // Others keep no count of lists.
        if (answer?.exact !== true) return
        const before = yield* contacts.list({ rule })
        const some = [{ email: other }, { email: full, firstName: "F" }]
        const error = yield* refused(contacts.add(some, { listNames: more }), "InvalidInput")
        assert.strictEqual(error.field, "[1].listNames")
        const changes = [
          { email: other, seen: null, write: { addToLists: more } },
          { email: full, seen: { status: "Active" }, write: { firstName: "F", addToLists: more } }
        ] as const
        const changed = yield* refused(contacts.change(changes), "InvalidInput")
        assert.deepStrictEqual([changed.field, changed.issue], ["[1].write.addToLists", error.issue])
        assert.deepStrictEqual(yield* contacts.list({ rule }), before)
        // One list for another leaves as many.
        const replaced = { addToLists: more, removeFromLists: listNames.slice(0, 1) }
        const [done] = yield* contacts.change([{ email: full, seen: { status: "Active" }, write: replaced }])
        assert.strictEqual(done?._tag, "Done")

        yield* contacts.add([{ email: email("third") }], { listNames })
        const table = `Email,FirstName\n${full},F\n${other},O\n`
        yield* contacts.import(file(utf8(table)), { listName: listNames[0] })
        const after = yield* imported(rule, 3)
        assert.deepStrictEqual(
          after.map(({ email, firstName }) => [email, firstName]),
          [
            [full, undefined],
            [email("third"), undefined],
            [other, "O"]
          ]
        )
        const long = ["l".repeat(maximumListName + 1)]
        assert.strictEqual((yield* refused(contacts.add(some, { listNames: long }), "InvalidInput")).field, "listNames")
      })
    )

    it.effect("refuses an add of more than 8 MiB, whatever its contacts have, and takes its halves", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const some = Array.from({ length: 2 * 132 }, (_, index) => ({
          email: email(`${index}`),
          customFields: { note: "x".repeat(maximumContactBytes - 200) }
        }))
        const error = yield* refused(contacts.add(some), "InvalidInput")
        assert.deepStrictEqual([error.field, error.issue.includes("8 MiB")], ["body", true])
        assert.deepStrictEqual(yield* refused(contacts.addWithoutAnswer(some), "InvalidInput"), error)
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
        const halves = [some.slice(0, 132), some.slice(132)]
        for (const half of halves) yield* contacts.addWithoutAnswer(half)
        const listed = yield* contacts.list({ rule, limit: 1000 })
        assert.deepStrictEqual(
          listed.map(({ customFields, email }) => ({ email, customFields })),
          some
        )
        yield* contacts.deleteMany(ContactFilter.ByRule({ rule }))
      })
    )

    it.effect("refuses what a contact would become with what is there, and all others with it", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const many = { email: email("many"), customFields: fields("f", 200) }
        const large = { email: email("large"), lastName: "x".repeat(20_000) }
        const before = yield* contacts.add([many, large])
        const long = "y".repeat(20_000)
        for (const [of, field, changes] of [
          [many, "customFields", { customFields: fields("g", 51) }],
          [large, "customFields", { customFields: { note: long } }],
          [large, "firstName", { firstName: long }]
        ] as const) {
          const some: ReadonlyArray<ContactPayload> = [{ email: email("new") }, { email: of.email, ...changes }]
          const error = yield* refused(contacts.add(some), "InvalidInput")
          assert.strictEqual(error.field, `[1].${field}`)
          assert.deepStrictEqual(yield* refused(contacts.addWithoutAnswer(some), "InvalidInput"), error)
          const changed = yield* refused(contacts.update(of.email, changes), "InvalidInput")
          assert.deepStrictEqual([changed.field, changed.issue], [field, error.issue])
        }
        const again = Array.from({ length: 400 }, (_, n) => ({ email: email("x"), customFields: fields(`${n}-`, 150) }))
        assert.strictEqual((yield* refused(contacts.add(again), "InvalidInput")).field, "[1].customFields")
        assert.deepStrictEqual(yield* contacts.list({ rule }), before)

        const full = yield* contacts.update(many.email, { customFields: fields("g", 50) })
        assert.strictEqual(Object.keys(full.customFields ?? {}).length, maximumCustomFields)
        const renewed = { ...fields("f", 200, "new"), ...fields("g", 50, "new") }
        const [added] = yield* contacts.add([{ email: many.email, customFields: renewed }])
        assert.deepStrictEqual(added?.customFields, renewed)
      })
    )

    it.effect("rejects such rows of an import and of an upload by their line, and no others", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const customFields = fields("f", 200)
        const [there] = yield* contacts.add([{ email: email("there"), customFields }])
        const cells = (count: number) =>
          Array.from({ length: maximumCustomFields + 1 }, (_, index) => (index < count ? "v" : "")).join(",")
        const text = [
          `Email,FirstName,${Object.keys(fields("g", maximumCustomFields + 1)).join(",")}`,
          `${email("full")},F,${cells(maximumCustomFields)}`,
          `${email("many")},F,${cells(maximumCustomFields + 1)}`,
          `${email("quoted")},"F",${cells(maximumCustomFields + 1)}`,
          `${email("long")},${long},${cells(0)}`,
          `${email("there")},F,${cells(51)}`,
          `${email("end")},F,${cells(1)}`
        ].join("\n")
        const check = Effect.gen(function* () {
          const found = yield* imported(rule, 3)
          assert.deepStrictEqual(
            found.map((contact) => [contact.email, Object.keys(contact.customFields ?? {}).length]),
            [
              [email("there"), 200],
              [email("full"), maximumCustomFields],
              [email("end"), 1]
            ]
          )
          assert.deepStrictEqual(found[0], there)
        })
        yield* contacts.import(file(utf8(text)))
        yield* check
        for (const local of ["full", "end"]) yield* contacts.delete(email(local))
        const report = yield* addRows(readContacts(Stream.make(utf8(text))))
        assert.strictEqual(report.done, 2)
        assert.deepStrictEqual(
          report.rejectedRows.map(({ line, reason }) => [line, reason.split(":")[0]]),
          [
            [3, "CustomFields"],
            [4, "CustomFields"],
            [5, "FirstName"],
            [6, "CustomFields"]
          ]
        )
        yield* check
      })
    )

    it.effect("has room for what is usual: 50 custom fields of 200 characters", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const payloads = Array.from({ length: 100 }, (_, n) => ({
          email: email(`p${n}`),
          customFields: fields("field ", 50, `${n}${"é".repeat(195)}`)
        }))
        yield* contacts.add(payloads)
        yield* contacts.add(payloads)
        assert.deepStrictEqual(
          (yield* contacts.list({ rule, limit: 1000 })).map(({ customFields, email }) => ({ email, customFields })),
          payloads
        )
      })
    )
  })
}
