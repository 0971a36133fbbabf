/** Reading without pages, on every layer: how many contacts there are, those with many addresses, and the fields in use. A layer without such operations reads pages. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { type ContactPayload, ContactsService, RawRule, RuleText } from "@roster/domain"
import { Effect, Stream } from "effect"
import { impossibleEmails, place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"
import { noTexts, unchecked } from "../cases/Unchecked.ts"

/** An unchecked rule, as a caller in plain JavaScript can pass it. */
const unreadable = RuleText.make("status ~ (", { disableChecks: true })

export const contactReadsConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: getMany", () => {
    it.effect("gives those that exist as get does, each once, in the order of the addresses, in any spelling", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        yield* contacts.add([
          { email: email("ann"), firstName: "Ann", customFields: { city: "Köln" }, consent: { tracking: "Allow" } },
          { email: email("bob") },
          { email: email("o'c+/x") }
        ])
        const asked = [email("o'c+/x"), email("nobody"), email("ANN").toUpperCase(), email("bob"), email("ann")]
        const { contacts: found } = yield* contacts.getMany(asked)
        const singly = yield* Effect.forEach(["o'c+/x", "ann", "bob"], (local) => contacts.get(email(local)))
        assert.deepStrictEqual(found, singly)
        assert.deepStrictEqual((yield* contacts.getMany([])).contacts, [])
        assert.deepStrictEqual((yield* contacts.getMany([email("nobody")])).contacts, [])
      })
    )

    it.effect("takes 1000 addresses, and refuses more", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const many = Array.from({ length: 1000 }, (_, index) => email(`n${index}`))
        yield* contacts.add(many.map((email) => ({ email })))
        const { contacts: found } = yield* contacts.getMany(many.toReversed())
        assert.deepStrictEqual(
          found.map((contact) => contact.email),
          many.toReversed()
        )
        const { count, maximum } = yield* refused(contacts.getMany([...many, email("more")]), "TooManyContacts")
        assert.deepStrictEqual([count, maximum], [1001, 1000])
      })
    )

    it.effect("gives contacts that are many bytes together", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const note = "é".repeat(10_000)
        const many = Array.from({ length: 150 }, (_, index) => email(`n${index}`))
        yield* contacts.add(many.map((email) => ({ email, customFields: { note } })))
        const { contacts: found } = yield* contacts.getMany(many)
        assert.deepStrictEqual(
          found.map(({ customFields, email }) => [email, customFields?.["note"] === note]),
          many.map((email) => [email, true])
        )
      })
    )

    it.effect("refuses what is no address, by its place", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        for (const bad of [...impossibleEmails.map(([, bad]) => bad), ...noTexts]) {
          const { field } = yield* refused(contacts.getMany([email("a"), unchecked(bad)]), "InvalidInput")
          assert.strictEqual(field, "emails[1]")
        }
        for (const bad of [null, "a@example.com", 7]) yield* refused(contacts.getMany(unchecked(bad)), "InvalidInput")
      })
    )
  })

  it.describe("contacts: count", () => {
    it.effect("is the number of contacts that a rule selects, as they come and go", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule, where } = place()
        const counts = Effect.forEach([rule, where("status = Stale"), where("city = 'Köln'")], (rule) =>
          Effect.map(contacts.count({ rule }), ({ count }) => count)
        )
        assert.deepStrictEqual(yield* counts, [0, 0, 0])
        const many = Array.from({ length: 1000 }, (_, index): ContactPayload => ({
          email: email(`n${index}`),
          ...(index % 2 === 0 ? { status: "Stale" } : {}),
          ...(index % 5 === 0 ? { customFields: { City: "KÖLN" } } : {})
        }))
        yield* contacts.add(many.slice(0, 1))
        assert.deepStrictEqual(yield* counts, [1, 1, 1])
        yield* contacts.add(many)
        assert.deepStrictEqual(yield* counts, [1000, 500, 200])
        yield* contacts.add([{ email: email("more") }, { email: email("n7"), customFields: { city: "Köln" } }])
        assert.deepStrictEqual(yield* counts, [1001, 500, 201])
        yield* contacts.delete(email("n0"))
        assert.deepStrictEqual(yield* counts, [1000, 499, 200])
      })
    )

    it.effect("tells of how many contacts a value cannot be compared, unless the rest of the rule decides", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, where } = place()
        const since = ["2024-05-01", "25.07.2022", "2023-01-01", "soon", ""]
        yield* contacts.add(
          since.map((Since, at) => ({
            email: email(`n${at}`),
            ...(at === 3 ? { status: "Stale" } : {}),
            customFields: { Since }
          }))
        )
        const late = "Since > '2024-01-01'"
        const told = { field: "Since", kind: "date", example: "25.07.2022" } as const
        assert.deepStrictEqual(yield* contacts.count({ rule: where(late) }), {
          count: 1,
          unplaced: { ...told, contacts: 2 }
        })
        assert.deepStrictEqual(yield* contacts.count({ rule: where(`${late} AND status != Stale`) }), {
          count: 1,
          unplaced: { ...told, contacts: 1 }
        })
        assert.deepStrictEqual(yield* contacts.count({ rule: where("Since contains '2'") }), { count: 3 })
        const listed = yield* contacts.list({ rule: where(`(${late} OR Since <= '2024-01-01')`) })
        assert.deepStrictEqual(
          listed.map((contact) => contact.email),
          [email("n0"), email("n2")]
        )
      })
    )

    it.needing("own-account").effect("of all contacts is that of the rule All, and of all pages", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const { count: before } = yield* contacts.count()
        yield* contacts.add([{ email: email("one") }, { email: email("two") }])
        const { count: all } = yield* contacts.count()
        assert.isAtLeast(all, 2)
        assert.isAtLeast(all, before)
        assert.strictEqual(typeof (yield* contacts.count({ rule: RuleText.make("All") })).count, "number")
        yield* contacts.delete(email("one"))
      })
    )

    it.effect("refuses what is no rule, as a list does", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { position } = yield* refused(contacts.count({ rule: unreadable }), "InvalidRule")
        assert.strictEqual(position, (yield* refused(contacts.list({ rule: unreadable }), "InvalidRule")).position)
        yield* refused(contacts.count({ rule: new RawRule({ text: "status = (" }) }), "InvalidRule")
      })
    )
  })

  it.describe("contacts: fields", () => {
    it.effect("counts values by field and kind, whatever the spelling of a name, with the first examples", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const long = "😀".repeat(150)
        yield* contacts.add([
          {
            email: email("a"),
            firstName: "Ann",
            customFields: { City: "Oslo", age: "34", since: "2024-01-31", x: long }
          },
          { email: email("b"), customFields: { city: "Rome", AGE: "unknown", since: "2024-01-31T10:00:00Z" } },
          { email: email("c"), firstName: "", customFields: { CITY: "Oslo", age: "-1.5e3" } },
          { email: email("d"), firstName: "Dora", customFields: { city: "Bern" } },
          { email: email("e"), customFields: { city: "Paris", Age: "34" } }
        ])
        const { contacts: counted, exact, fields } = yield* contacts.fields({ rule })
        assert.deepStrictEqual([counted, exact], [5, true])
        const texts = { isCustom: true, numbers: 0, dates: 0 }
        assert.deepStrictEqual(
          fields.filter(({ isCustom }) => isCustom),
          [
            { ...texts, name: "City", contacts: 5, examples: ["Oslo", "Rome", "Bern"] },
            { ...texts, name: "age", contacts: 4, numbers: 3, examples: ["34", "unknown", "-1.5e3"] },
            { ...texts, name: "since", contacts: 2, dates: 2, examples: ["2024-01-31", "2024-01-31T10:00:00Z"] },
            { ...texts, name: "x", contacts: 1, examples: ["😀".repeat(100)] }
          ]
        )
        const record = new Map(fields.filter(({ isCustom }) => !isCustom).map((field) => [field.name, field]))
        assert.deepStrictEqual(record.get("FirstName"), {
          ...texts,
          isCustom: false,
          name: "FirstName",
          contacts: 2,
          examples: ["Ann", "Dora"]
        })
        assert.deepStrictEqual(
          ["Email", "Status", "LastName"].map((name) => record.get(name)?.contacts),
          [5, 5, undefined]
        )
        const { dates } = record.get("DateAdded") ?? {}
        assert.strictEqual(dates, 5)
      })
    )

    it.effect("are those of one store, whose id stays the same", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const id = yield* contacts.storeId
        yield* contacts.add([{ email: place().email("added") }])
        assert.strictEqual(yield* contacts.storeId, id)
      })
    )

    it.effect("are none where a rule selects nobody, and refuses what is no rule", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { rule } = place()
        assert.deepStrictEqual(yield* contacts.fields({ rule }), { contacts: 0, exact: true, fields: [] })
        yield* refused(contacts.fields({ rule: unreadable }), "InvalidRule")
      })
    )
  })

  it.describe("contacts: rules that no address holds", () => {
    /** Two people, and a rule of 10 KiB and more that selects one of them. */
    const arranged = Effect.gen(function* () {
      const contacts = yield* ContactsService
      const { email } = place()
      yield* contacts.add([{ email: email("one"), customFields: { city: "Ulm" } }, { email: email("other") }])
      const nobody = Array.from({ length: 250 }, (_, index) => `email = '${email(`nobody${index}`)}'`)
      const rule = RuleText.make([...nobody, `email = '${email("one")}'`].join(" OR "))
      return { contacts, one: email("one"), rule }
    })

    it.effect("list, count and stream as short ones", () =>
      Effect.gen(function* () {
        const { contacts, one, rule } = yield* arranged
        assert.deepStrictEqual(yield* contacts.list({ rule }), [yield* contacts.get(one)])
        assert.deepStrictEqual(yield* contacts.list({ rule, limit: 5, offset: 1 }), [])
        assert.deepStrictEqual(yield* contacts.count({ rule }), { count: 1 })
        assert.strictEqual((yield* Stream.runCollect(contacts.stream({ rule }))).length, 1)
        const { fields } = yield* contacts.fields({ rule })
        const city = fields.filter(({ name }) => name === "city")
        assert.deepStrictEqual(
          city.map(({ contacts, examples }) => [contacts, examples]),
          [[1, ["Ulm"]]]
        )
      })
    )

    it.effect("are refused as short ones", () =>
      Effect.gen(function* () {
        const { contacts, rule } = yield* arranged
        const wrong = RuleText.make(`${rule} OR nonsense ~`, { disableChecks: true })
        const { position } = yield* refused(contacts.list({ rule: wrong }), "InvalidRule")
        assert.isAbove(position, rule.length)
        assert.strictEqual((yield* refused(contacts.count({ rule: wrong }), "InvalidRule")).position, position)
        yield* refused(contacts.list({ rule, limit: 1001 }), "InvalidInput")
      })
    )
  })
}
