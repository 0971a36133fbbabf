/**
 * What clients in the wild send for a field that they do not set: null. It is absent, as it is where it is left out.
 */
import { assert, describe, layer } from "@effect/vitest"
import { Effect, Predicate } from "effect"
import { ask, askJson, refusedWith, succeeded, succeededEmpty, textField, Wire } from "./Wire.ts"

const contact = {
  Email: "full@example.com",
  Status: "Stale",
  FirstName: "Ada",
  LastName: "Lovelace",
  CustomFields: { city: "London" },
  Consent: { ConsentIP: "192.0.2.1", ConsentDate: "2021-01-01T12:00:00Z", ConsentTracking: "Allow" }
}
const absent = (fields: object) => Object.fromEntries(Object.keys(fields).map((name) => [name, null]))

/** Some fields of an answer. */
const fieldsOf = (value: unknown, names: ReadonlyArray<string>) =>
  names.map((name) => (Predicate.isObject(value) ? value[name] : assert.fail("it is no record")))

const first = (value: unknown): unknown => (Array.isArray(value) ? value[0] : assert.fail("it is no list"))

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("null on the wire", (it) => {
  describe("is absent", () => {
    it.effect.each([
      ["every field", { ...absent(contact), Email: contact.Email }],
      ["every field of the consent", { Email: contact.Email, Consent: absent(contact.Consent) }]
    ] as const)("in a contact to add: %s", ([, nulls]) =>
      Effect.gen(function* () {
        const names = ["Status", "FirstName", "LastName", "CustomFields", "Consent"]
        const bare = first(succeeded(yield* askJson("POST", "/contacts", [{ Email: "bare@example.com" }])))
        const made = first(succeeded(yield* askJson("POST", "/contacts", [{ ...nulls, Email: "made@example.com" }])))
        assert.deepStrictEqual(fieldsOf(made, names), fieldsOf(bare, names))
        succeeded(yield* askJson("POST", "/contacts", [contact]))
        const merged = first(succeeded(yield* askJson("POST", "/contacts", [nulls])))
        assert.deepStrictEqual(fieldsOf(merged, names), fieldsOf(contact, names))
        succeededEmpty(yield* ask("DELETE", "/contacts/made@example.com"))
      })
    )

    it.effect("in a change of a contact", () =>
      Effect.gen(function* () {
        const names = ["FirstName", "LastName", "CustomFields"]
        succeeded(yield* askJson("POST", "/contacts", [contact]))
        const nulls = { FirstName: null, LastName: null, CustomFields: null }
        const same = succeeded(yield* askJson("PUT", "/contacts/full@example.com", nulls))
        assert.deepStrictEqual(fieldsOf(same, names), fieldsOf(contact, names))
        const renamed = succeeded(yield* askJson("PUT", "/contacts/full@example.com", { ...nulls, LastName: "King" }))
        assert.deepStrictEqual(fieldsOf(renamed, names), ["Ada", "King", { city: "London" }])
        const unchanged = succeeded(
          yield* askJson("PUT", "/contacts/full@example.com", { Status: null, Consent: null, Source: "WebForm" })
        )
        assert.deepStrictEqual(fieldsOf(unchanged, ["Status", "Consent"]), fieldsOf(contact, ["Status", "Consent"]))
        for (const change of [
          { Status: "Unsubscribed" },
          { Consent: { ConsentTracking: "Deny" } },
          { Status: "Stale" }
        ]) {
          refusedWith(yield* askJson("PUT", "/contacts/full@example.com", { ...change, LastName: "Byron" }), 400)
        }
        assert.deepStrictEqual(succeeded(yield* ask("GET", "/contacts/full@example.com")), unchanged)
      })
    )

    it.effect("in a bulk delete: the Rule beside Emails, and the Emails beside a Rule; but not both", () =>
      Effect.gen(function* () {
        const people = ["a", "b"].map((name) => ({ Email: `${name}@null.example` }))
        succeeded(yield* askJson("POST", "/contacts", people))
        succeededEmpty(yield* askJson("POST", "/contacts/delete", { Rule: null, Emails: ["a@null.example"] }))
        refusedWith(yield* ask("GET", "/contacts/a@null.example"), 404)
        succeeded(yield* ask("GET", "/contacts/b@null.example"))
        succeededEmpty(yield* askJson("POST", "/contacts/delete", { Rule: "email = 'b@null.example'", Emails: null }))
        refusedWith(yield* ask("GET", "/contacts/b@null.example"), 404)
        refusedWith(yield* askJson("POST", "/contacts/delete", { Rule: null, Emails: null }), 400)
      })
    )

    it.effect.each([
      ["/security/apikeys", { Name: "null key", AccessLevel: ["ViewContacts"] }],
      ["/security/smtp", { Name: "null@login.example" }]
    ] as const)("in new credentials of %s", ([path, named]) =>
      Effect.gen(function* () {
        const nulls = { Expires: null, RestrictAccessToIPRange: null, Subaccount: null }
        const made = succeeded(yield* askJson("POST", path, { ...named, ...nulls }), 201)
        assert.deepStrictEqual(fieldsOf(made, ["Name", "Expires", "RestrictAccessToIPRange"]), [named.Name, null, []])
        succeededEmpty(yield* ask("DELETE", `${path}/${encodeURIComponent(named.Name)}`))
      })
    )

    it.effect.each([
      ["/security/apikeys", { Name: "null key", AccessLevel: ["ViewContacts"] }],
      ["/security/smtp", { Name: "null@login.example" }]
    ] as const)(
      "in a change of credentials of %s, but that null takes the expiry away, as [] the ranges",
      ([path, named]) =>
        Effect.gen(function* () {
          const limits = { Expires: "2099-01-02T03:04:05Z", RestrictAccessToIPRange: ["127.0.0.0/8", "192.0.2.0/24"] }
          const said = (value: unknown) => fieldsOf(value, ["Expires", "RestrictAccessToIPRange"])
          const put = (fields: object) =>
            Effect.map(askJson("PUT", `${path}/${encodeURIComponent(named.Name)}`, { ...named, ...fields }), succeeded)
          succeeded(yield* askJson("POST", path, { ...named, ...limits }), 201)
          const kept = [limits.Expires, limits.RestrictAccessToIPRange]
          assert.deepStrictEqual(said(yield* put({ RestrictAccessToIPRange: null, Subaccount: null })), kept)
          assert.deepStrictEqual(said(yield* put({ Expires: null })), [null, limits.RestrictAccessToIPRange])
          assert.deepStrictEqual(said(yield* put({ RestrictAccessToIPRange: [] })), [null, []])
          succeededEmpty(yield* ask("DELETE", `${path}/${encodeURIComponent(named.Name)}`))
        })
    )

    const message = {
      Recipients: [{ Email: "someone@elsewhere.test", Fields: null }],
      Content: {
        From: "john@example.com",
        Body: [{ ContentType: "PlainText", Content: "Hi", Charset: null }],
        Merge: null,
        Attachments: [{ BinaryContent: "SGk=", Name: "hi.txt", ContentType: null, Size: null }],
        Headers: null,
        Postback: null,
        EnvelopeFrom: null,
        ReplyTo: null,
        Subject: null,
        TemplateName: null,
        AttachFiles: null,
        Utm: { Source: null, Medium: null, Campaign: null, Content: null }
      },
      Options: {
        TimeOffset: null,
        PoolName: null,
        ChannelName: null,
        Encoding: null,
        TrackOpens: null,
        TrackClicks: null
      }
    }

    it.effect.each([
      ["every field within", message],
      [
        "every record within",
        { ...message, Options: null, Content: { ...message.Content, Body: null, Attachments: null, Utm: null } }
      ]
    ] as const)("in a message: %s", ([, body]) =>
      Effect.gen(function* () {
        assert.isAbove(textField(succeeded(yield* askJson("POST", "/emails", body)), "TransactionID").length, 0)
      })
    )
  })

  describe("is refused by its field", () => {
    it.effect.each([
      ["Email", "POST", "/contacts", [{ Email: null }]],
      ["CustomFields.city", "POST", "/contacts", [{ Email: "n@example.com", CustomFields: { city: null } }]],
      ["Name", "POST", "/security/apikeys", { Name: null, AccessLevel: [] }],
      ["AccessLevel", "POST", "/security/apikeys", { Name: "n", AccessLevel: null }],
      ["Recipients", "POST", "/emails", { Recipients: null, Content: { From: "john@example.com" } }],
      ["Content", "POST", "/emails", { Recipients: [{ Email: "a@example.com" }], Content: null }]
    ] as const)("where something has to be: %s", ([field, method, path, body]) =>
      Effect.gen(function* () {
        assert.include(refusedWith(yield* askJson(method, path, body), 400), field)
      })
    )
  })
})
