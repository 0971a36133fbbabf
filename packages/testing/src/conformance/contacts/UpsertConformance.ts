/** Adding an existing contact, on every layer: which contact an address means, and which fields change. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { ContactPayload, ContactsService, ContactUpdatePayload, EmailAddress } from "@roster/domain"
import { Clock, type DateTime, Effect } from "effect"
import { kept, seconds } from "./ContactFacts.ts"
import { eventually } from "../cases/Eventually.ts"
import { place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"
import { unchecked } from "../cases/Unchecked.ts"

/** Waits for the next second, so that later changes have another date. */
const nextSecond = (date: DateTime.Utc | undefined) =>
  eventually(Clock.currentTimeMillis, (now) => Math.floor(now / 1000) > (seconds(date) ?? 0))

export const upsertConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: add of what exists", () => {
    it.effect("merges the profile and leaves status, source and date of adding", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("upsert")
        const [first] = yield* contacts.add([
          {
            email,
            status: "Engaged",
            firstName: "Old",
            lastName: "Name",
            customFields: { a: "1", b: "2" },
            consent: { ip: "192.0.2.1" }
          }
        ])
        yield* nextSecond(first?.dateAdded)
        const [second] = yield* contacts.add([
          { email, firstName: "New", customFields: { b: "3", c: "4" }, consent: { tracking: "Deny" } }
        ])
        assert.deepStrictEqual(first && second && kept(second), first && kept(first))
        assert.strictEqual(second?.status, "Engaged")
        assert.deepStrictEqual(
          [second?.firstName, second?.lastName, second?.customFields],
          ["New", "Name", { a: "1", b: "3", c: "4" }]
        )
        assert.deepStrictEqual([second?.consent?.ip, second?.consent?.tracking], ["192.0.2.1", "Deny"])
        assert.isAbove(seconds(second?.dateUpdated) ?? 0, seconds(first?.dateAdded) ?? Infinity)
      })
    )

    it.effect("changes the status where one is named, and says when", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("status")
        const [first] = yield* contacts.add([{ email }])
        yield* nextSecond(first?.dateAdded)
        const [second] = yield* contacts.add([{ email, status: "Unsubscribed" }])
        assert.strictEqual(second?.status, "Unsubscribed")
        assert.isAbove(seconds(second?.statusChangeDate) ?? 0, seconds(first?.dateAdded) ?? Infinity)
      })
    )

    it.effect("takes back a contact that was read, and changes nothing", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const email = place().email("back")
        yield* contacts.add([
          {
            email,
            status: "Engaged",
            firstName: "Ada",
            customFields: { a: "1" },
            consent: { ip: "192.0.2.1", date: null, tracking: "Allow" }
          }
        ])
        const read = yield* contacts.get(email)
        const [added] = yield* contacts.add([yield* ContactPayload.fromContact(read)])
        // Nothing was written, so the date is that of the last change.
        assert.deepStrictEqual(added, read)
        const updated = yield* contacts.update(email, {
          ...ContactUpdatePayload.fromContact(read),
          firstName: "Ada L."
        })
        assert.deepStrictEqual({ ...updated, dateUpdated: null }, { ...read, firstName: "Ada L.", dateUpdated: null })
        const [again] = yield* contacts.add([{ ...(yield* ContactPayload.fromContact(updated)), status: "Inactive" }])
        assert.deepStrictEqual([again?.firstName, again?.status], ["Ada L.", "Inactive"])
        // What is not written is refused rather than left out, whether a caller has changed it or not.
        const whole = unchecked<ContactPayload>({ ...updated, firstName: "Ada" })
        assert.strictEqual((yield* refused(contacts.add([whole]), "InvalidInput")).field, "[0].source")
      })
    )

    it.effect("S38 knows an address by its identity and keeps the first spelling", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain, email, rule } = place()
        const first = email("Zoe\u0301.Müller")
        yield* contacts.add([{ email: first }])
        const others = [`zo\u00e9.mu\u0308ller@${domain}`, `ZOÉ.MÜLLER@${domain.toUpperCase()}`]
        for (const spelling of others) {
          yield* contacts.add([{ email: EmailAddress.make(spelling), customFields: { last: spelling } }])
          assert.strictEqual((yield* contacts.get(`  ${spelling} `)).email, first)
          assert.strictEqual((yield* contacts.update(spelling, { lastName: spelling })).email, first)
        }
        assert.deepStrictEqual(
          (yield* contacts.list({ rule })).map((contact) => contact.email),
          [first]
        )
        yield* contacts.delete(` ${others[1]}`)
        yield* refused(contacts.get(first), "ContactNotFound")
      })
    )
  })
}
