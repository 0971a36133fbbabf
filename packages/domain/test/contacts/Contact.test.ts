import { assert, describe, it } from "@effect/vitest"
import { DateTime, Effect, Schema } from "effect"
import {
  Contact,
  ContactPayload,
  ContactUpdatePayload,
  EmailAddress,
  InvalidInput,
  UnknownValue
} from "../../src/index.ts"
import { hasEqualNames } from "../../src/values/FieldNames.ts"

const read: Contact = {
  email: "ada@example.com",
  status: "Active",
  firstName: "Ada",
  customFields: { city: "London" },
  consent: { ip: "192.0.2.1", date: DateTime.makeUnsafe("2024-01-02T03:04:05Z"), tracking: "Allow" },
  source: "WebForm",
  dateAdded: DateTime.makeUnsafe("2024-01-02T03:04:05Z"),
  activity: { totalSent: 3 }
}

const { consent, email, status } = read
const known = { email, ...(consent && { consent }), ...(status && { status }) }

describe("a contact to add", () => {
  const email = EmailAddress.make("ada@example.com")

  it.each<readonly [object, string]>([
    [{ firstname: "Ada" }, 'Invalid firstname: a contact has no field "firstname"; did you mean "firstName"?'],
    [{ FirstName: "Ada" }, 'Invalid FirstName: a contact has no field "FirstName"; did you mean "firstName"?'],
    [{ frist_name: undefined }, 'Invalid frist_name: a contact has no field "frist_name"; did you mean "firstName"?'],
    [{ date: 1 }, 'Invalid date: a contact has no field "date"'],
    [
      { consent: { consentIP: "192.0.2.1" } },
      'Invalid consent.consentIP: the consent of a contact has no field "consentIP"'
    ]
  ])("has no other fields: %o", (change, message) => {
    const wrong: ContactPayload = Object.assign({ email }, change)
    assert.throws(() => ContactPayload.make(wrong), InvalidInput, message)
  })

  it.effect("has a consent of any date, and a text without a zone is UTC", () =>
    Effect.gen(function* () {
      const date = DateTime.makeUnsafe("2026-01-02T03:04:05Z")
      const same = [
        "2026-01-02 03:04:05",
        "2026-01-02T05:04:05+02:00",
        new Date(date.epochMilliseconds),
        date.epochMilliseconds
      ]
      for (const given of [...same, date, DateTime.makeZonedUnsafe(date, { timeZone: "Asia/Tokyo" })]) {
        const payload = yield* ContactPayload.fromInput({ email, consent: { ip: "192.0.2.1", date: given } })
        assert.deepStrictEqual<unknown>(payload, { email, consent: { ip: "192.0.2.1", date } })
      }
      for (const consent of [{}, { date: null }, undefined]) {
        assert.deepStrictEqual<unknown>(yield* ContactPayload.fromInput({ email, consent }), { email, consent })
      }
      for (const wrong of ["2026-02-30", "yesterday", new Date(NaN), "12026-01-01"]) {
        const error = yield* Effect.flip(ContactPayload.fromInput({ email, consent: { date: wrong } }))
        assert.strictEqual(error.field, "consent.date")
      }
      assert.strictEqual((yield* Effect.flip(ContactPayload.fromInput({ email: "nobody" }))).field, "email")
    })
  )

  it("is on the wire what it was: other fields are left out there", () => {
    const wire = { Email: "ada@example.com", Firstname: "Ada", email: "eve@example.com", Consent: { ip: "192.0.2.1" } }
    const read = Schema.decodeUnknownSync(ContactPayload)(wire)
    assert.deepStrictEqual<unknown>(read, { email: "ada@example.com", consent: {} })
  })
})

describe("a contact that was read", () => {
  it.effect("is a payload without what the service alone sets", () =>
    Effect.gen(function* () {
      const payload: ContactPayload = yield* ContactPayload.fromContact(read)
      const { customFields, firstName } = read
      assert.deepStrictEqual<unknown>(payload, { consent, customFields, email, firstName, status })
      assert.isTrue(Schema.is(ContactPayload)({ ...payload, lastName: "Lovelace" }))
      const least = yield* ContactPayload.fromContact({ email: "ada@example.com" })
      assert.deepStrictEqual<unknown>(least, { email: "ada@example.com" })
    })
  )

  it.effect.prop("is one whenever it came from our own service", [Contact], ([contact]) =>
    Effect.gen(function* () {
      // Only another service holds one field under two names.
      if (hasEqualNames(contact.customFields ?? {})) return
      const payload = yield* ContactPayload.fromContact({ ...contact, ...known })
      assert.deepStrictEqual([payload.firstName, payload.customFields], [contact.firstName, contact.customFields])
    })
  )

  it("gives an update its names and custom fields", () => {
    const changes: ContactUpdatePayload = { ...ContactUpdatePayload.fromContact(read), lastName: "Lovelace" }
    assert.deepStrictEqual(changes, {
      firstName: read.firstName,
      lastName: "Lovelace",
      customFields: read.customFields
    })
  })

  it.effect.each<readonly [string, Contact, string]>([
    ["an address outside the grammar", { ...read, email: "ada at example.com" }, "email"],
    ["an unknown status", { ...read, status: UnknownValue.make("Sleeping") }, "status"],
    ["an unknown consent", { ...read, consent: { tracking: UnknownValue.make("Perhaps") } }, "consent.tracking"]
  ])("is refused with %s", ([, contact, field]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(ContactPayload.fromContact(contact))
      assert.instanceOf(error, InvalidInput)
      assert.strictEqual(error.field, field)
    })
  )
})
