/** Adding, loading, updating and deleting contacts, on every layer. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { ContactsService, EmailAddress, maximumContactsPerAdd } from "@roster/domain"
import { Clock, DateTime, Effect } from "effect"
import { kept, seconds } from "./ContactFacts.ts"
import { impossibleEmails, place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"

export const contactsConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: add and get", () => {
    it.effect("gives back what was added, with status, source and date of its own", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("Full.Name")
        const before = Math.floor((yield* Clock.currentTimeMillis) / 1000)
        const profile = {
          email,
          firstName: "Full",
          lastName: "Name",
          customFields: { city: "Łódź", age: "34" },
          consent: { ip: "192.0.2.1", date: DateTime.makeUnsafe("2021-01-01T12:00:00Z"), tracking: "Allow" as const }
        }
        const added = yield* contacts.add([profile])
        const contact = yield* contacts.get(email)
        const after = (yield* Clock.currentTimeMillis) / 1000
        assert.deepStrictEqual(added, [contact])
        assert.strictEqual(contact.email, email)
        assert.deepStrictEqual(
          [contact.firstName, contact.lastName, contact.customFields],
          ["Full", "Name", profile.customFields]
        )
        assert.deepStrictEqual(
          [contact.consent?.ip, seconds(contact.consent?.date), contact.consent?.tracking],
          ["192.0.2.1", 1609502400, "Allow"]
        )
        assert.deepStrictEqual<unknown>([contact.status, contact.source], ["Active", "ContactApi"])
        assert.isAtLeast(seconds(contact.dateAdded) ?? 0, before)
        assert.isAtMost(seconds(contact.dateAdded) ?? Infinity, after)
      })
    )

    it.effect("takes an address alone, and answers nothing for what was not said", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("bare")
        const [contact] = yield* contacts.add([{ email }])
        assert.deepStrictEqual(
          [contact?.firstName ?? "", contact?.lastName ?? "", contact?.customFields ?? {}],
          ["", "", {}]
        )
        assert.isUndefined(seconds(contact?.statusChangeDate))
      })
    )

    it.effect("keeps dates to the second, which is what travels", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("milli")
        const [added] = yield* contacts.add([
          { email, consent: { date: DateTime.makeUnsafe("2021-01-01T12:00:00.987Z") } }
        ])
        const contact = yield* contacts.get(email)
        for (const date of [added?.consent?.date, contact.consent?.date]) assert.strictEqual(seconds(date), 1609502400)
        assert.isTrue(Number.isInteger(seconds(contact.dateAdded)))
      })
    )

    it.effect("answers each write with the contact as it is then read", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("written")
        const date = DateTime.makeUnsafe("2021-01-01T12:00:00.987Z")
        const payloads = [
          {},
          { status: "Bounced", firstName: "Ann", customFields: { city: "Oslo" }, consent: { date } },
          { firstName: "", customFields: { city: "" }, consent: { ip: "192.0.2.1" } }
        ] as const
        for (const payload of payloads) {
          assert.deepStrictEqual(yield* contacts.add([{ email, ...payload }]), [yield* contacts.get(email)])
        }
        const updates = [{ customFields: { team: "1" } }, { customFields: { team: "" } }]
        for (const update of updates) {
          assert.deepStrictEqual(yield* contacts.update(email, update), yield* contacts.get(email))
        }
      })
    )

    it.effect("S37 answers in the order of the input, and one contact for an address that comes twice", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const answers = yield* contacts.add([
          { email: email("c"), firstName: "first", customFields: { a: "1" } },
          { email: email("a") },
          { email: EmailAddress.make(email("c").toUpperCase()), firstName: "last" },
          { email: email("b") }
        ])
        assert.deepStrictEqual(
          answers.map((contact) => contact.email),
          [email("c"), email("a"), email("c"), email("b")]
        )
        assert.deepStrictEqual(answers[0], answers[2])
        assert.deepStrictEqual([answers[0]?.firstName, answers[0]?.customFields], ["last", { a: "1" }])
      })
    )

    it.effect("adds nothing where nothing is given", () =>
      Effect.gen(function* () {
        assert.deepStrictEqual(yield* (yield* ContactsService).add([]), [])
      })
    )

    it.effect("S37 takes 1000 at once, and of 1001 not one", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const many = Array.from({ length: maximumContactsPerAdd + 1 }, (_, i) => ({ email: email(`m${i}`) }))
        const error = yield* refused(contacts.add(many), "TooManyContacts")
        assert.deepStrictEqual([error.count, error.maximum], [1001, 1000])
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
        assert.strictEqual((yield* contacts.add(many.slice(0, 1000))).length, 1000)
      })
    )

    it.effect("S37 adds none where one is impossible", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        for (const [why, impossible] of impossibleEmails) {
          // A caller in plain JavaScript can pass an unchecked address.
          const unchecked = EmailAddress.make(impossible, { disableChecks: true })
          const error = yield* refused(contacts.add([{ email: email("good") }, { email: unchecked }]), "InvalidInput")
          assert.strictEqual(error.field, "[1].email", why)
        }
        assert.deepStrictEqual(yield* contacts.list({ rule }), [])
      })
    )
  })

  it.describe("contacts: update and delete", () => {
    it.effect("changes what is given, merges custom fields key by key and leaves the rest", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("update")
        const [added] = yield* contacts.add([
          { email, status: "Stale", firstName: "A", lastName: "B", customFields: { x: "1", y: "2" } }
        ])
        const updated = yield* contacts.update(email, { firstName: "New", customFields: { y: "3", z: "4" } })
        assert.deepStrictEqual(
          [updated.firstName, updated.lastName, updated.customFields],
          ["New", "B", { x: "1", y: "3", z: "4" }]
        )
        assert.deepStrictEqual(kept(updated), added && kept(added))
        assert.deepStrictEqual(yield* contacts.get(email), updated)
      })
    )

    it.effect("changes nothing where nothing is given, and empties a name where that is said", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("empty")
        yield* contacts.add([{ email, firstName: "A", lastName: "B" }])
        const same = yield* contacts.update(email, {})
        assert.deepStrictEqual([same.firstName, same.lastName], ["A", "B"])
        const emptied = yield* contacts.update(email, { firstName: "" })
        assert.deepStrictEqual([emptied.firstName ?? "", emptied.lastName], ["", "B"])
      })
    )

    it.effect("deletes a contact, which can be added anew", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("delete")
        yield* contacts.add([{ email, customFields: { old: "1" } }])
        yield* contacts.delete(email)
        yield* refused(contacts.get(email), "ContactNotFound")
        const [again] = yield* contacts.add([{ email }])
        assert.deepStrictEqual(again?.customFields ?? {}, {})
      })
    )

    it.effect("fails with ContactNotFound for an address that is not there, and names it", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("no-one")
        const update = contacts.update(email, { firstName: "A" })
        for (const operation of [Effect.asVoid(contacts.get(email)), Effect.asVoid(update), contacts.delete(email)]) {
          assert.strictEqual((yield* refused(operation, "ContactNotFound")).email, email)
        }
      })
    )

    it.effect.each(impossibleEmails)("refuses an address that cannot be: %s", ([, email]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        yield* refused(contacts.get(email), "InvalidInput")
        yield* refused(contacts.update(email, {}), "InvalidInput")
        yield* refused(contacts.delete(email), "InvalidInput")
      })
    )
  })
}
