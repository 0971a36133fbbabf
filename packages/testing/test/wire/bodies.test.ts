import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, askJson, refusedWith, succeeded, succeededEmpty, Wire } from "./Wire.ts"

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("bodies on the wire", (it) => {
  const emailsOf = (contacts: unknown) =>
    Array.isArray(contacts) ? contacts.map((contact: { readonly Email: string }) => contact.Email) : []

  describe("bodies", () => {
    const json = { "Content-Type": "application/json" }

    it.effect.each([
      ["Status", "[0].Status", [{ Email: "e@example.com", Status: "Hibernating" }]],
      ["a small letter", "[0].Status", [{ Email: "e@example.com", Status: "hibernating" }]],
      [
        "tracking",
        "[1].Consent.ConsentTracking",
        [{ Email: "e@example.com" }, { Email: "f@example.com", Consent: { ConsentTracking: "Hibernating" } }]
      ],
      [
        "a day that is none",
        "[0].Consent.ConsentDate",
        [{ Email: "e@example.com", Consent: { ConsentDate: "2024-02-30T00:00:00Z Hibernating" } }]
      ],
      [
        "a custom field that is no text",
        "[0].CustomFields.age",
        [{ Email: "e@example.com", CustomFields: { age: { Hibernating: 1 } } }]
      ],
      [
        "two names of one custom field",
        "[1].CustomFields: the names",
        [{ Email: "e@example.com" }, { Email: "f@example.com", CustomFields: { City: "1", city: "2" } }]
      ],
      ["an address", "[0].Email", [{ Email: "Hibernating" }]]
    ] as const)("S17 a value that is none is named by its field and not repeated: %s", ([, field, body]) =>
      Effect.gen(function* () {
        const text = refusedWith(yield* askJson("POST", "/contacts", body), 400)
        assert.include(text, field)
        assert.notMatch(text, /Hibernating/i)
        refusedWith(yield* ask("GET", "/contacts/e@example.com"), 404)
      })
    )

    it.effect("the names of custom fields are those that were sent, whatever else is", () =>
      Effect.gen(function* () {
        // JSON.parse takes the second for the first, so the answer is looked at as text.
        for (const name of [String.raw`"5\\"`, String.raw`"5\""`]) {
          const body = `[{"Email": "named@example.com", "CustomFields": {"x": "1", ${name}: "2"}}]`
          const added = yield* ask("POST", "/contacts", { headers: json, body })
          assert.include(added.text, `"CustomFields":{"x":"1",${name}:"2"}`)
          yield* ask("DELETE", "/contacts/named@example.com")
        }
      })
    )

    it.effect("a field that no contact has is left out, as other versions may have it", () =>
      Effect.gen(function* () {
        const email = "newer@example.com"
        const body = [{ Email: email, FirstName: "Ada", Firstname: "Eve", Score: 7, Consent: { IP: "192.0.2.1" } }]
        assert.deepStrictEqual(emailsOf(succeeded(yield* askJson("POST", "/contacts", body))), [email])
        const changes = { LastName: "King", lastname: "Eve", Score: 8 }
        const changed = succeeded(yield* askJson("PUT", `/contacts/${email}`, changes))
        assert.include(changed, { FirstName: "Ada", LastName: "King" })
        assert.notProperty(changed, "Score")
        yield* ask("DELETE", `/contacts/${email}`)
      })
    )

    it.effect("a field that no credential or message has is left out too", () =>
      Effect.gen(function* () {
        const key = { Name: "newer", AccessLevel: ["Export"], Expire: "2099-01-02T03:04:05Z", Score: 7 }
        const made = succeeded(yield* askJson("POST", "/security/apikeys", key), 201)
        assert.include(made, { Name: "newer", Expires: null })
        assert.notProperty(made, "Score")
        succeeded(yield* askJson("PUT", "/security/apikeys/newer", key))
        yield* ask("DELETE", "/security/apikeys/newer")
        const content = { From: "john@example.com", Subjet: "Hello", Utm: { Sorce: "x" } }
        const message = { Recipients: [{ Email: "a@example.com", Score: 7 }], Content: content, Score: 7 }
        assert.property(succeeded(yield* askJson("POST", "/emails", message)), "MessageID")
      })
    )

    it.effect("an access level that is none", () =>
      Effect.gen(function* () {
        const text = refusedWith(
          yield* askJson("POST", "/security/apikeys", { Name: "k", AccessLevel: ["Export", "Hibernating"] }),
          400
        )
        assert.include(text, "AccessLevel")
        assert.notInclude(text, "Hibernating")
      })
    )

    it.effect.each([
      ["no body", ""],
      ["broken JSON", '[{"Email": "broken@example.com"}'],
      ["something behind it", '[{"Email": "broken@example.com"}] x'],
      ["JavaScript that is no JSON", "[{Email: 'broken@example.com'}]"],
      ["an object for a list", '{"Email": "broken@example.com"}'],
      ["null", "null"],
      ["a number", "1"],
      ["very deep JSON", "[".repeat(100_000) + "]".repeat(100_000)],
      ["bytes that are not UTF-8", Buffer.from('[{"Email":"broken@example.com","FirstName":"Fran\xe7ois"}]', "latin1")]
    ] as const)("S16 a body that is not what it should be: %s", ([, body]) =>
      Effect.gen(function* () {
        refusedWith(yield* ask("POST", "/contacts", { headers: json, body }), 400)
        refusedWith(yield* ask("GET", "/contacts/broken@example.com"), 404)
      })
    )

    it.effect.each([
      "text/plain",
      "application/xml",
      "application/x-www-form-urlencoded",
      "application/json; charset=iso-8859-1",
      "multipart/form-data; boundary=b",
      "application/jsonp"
    ])("S25 a body of the type %s is 415", (type) =>
      Effect.gen(function* () {
        refusedWith(yield* ask("POST", "/contacts", { headers: { "Content-Type": type }, body: "[]" }), 415)
      })
    )

    it.effect.each([
      "application/json",
      "application/json;charset=UTF-8",
      "application/json; charset=utf8",
      'Application/JSON; charset="utf-8"'
    ])("S25 a body of the type %s is read", (type) =>
      Effect.gen(function* () {
        assert.deepStrictEqual(
          succeeded(yield* ask("POST", "/contacts", { headers: { "Content-Type": type }, body: "[]" })),
          []
        )
      })
    )

    it.effect("a body above 8 MiB is 413 that says what to do, sized or not", () =>
      Effect.gen(function* () {
        const large = "x".repeat(9 * 1024 * 1024)
        const text = refusedWith(yield* ask("POST", "/contacts", { headers: json, body: `["${large}"]` }), 413)
        assert.include(text, "larger than 8 MiB. Add the contacts in parts, or import them as a file.")
        refusedWith(yield* ask("POST", "/contacts", { headers: json, body: [`["`, large, `"]`] }), 413)
        // The service goes on.
        succeeded(yield* ask("GET", "/contacts?limit=1"))
      })
    )
  })

  describe("answers", () => {
    const fields = (value: unknown): unknown =>
      value !== null && typeof value === "object" ? Object.keys(value).sort() : []
    const listed = {
      contact: [
        "Activity",
        "Consent",
        "CustomFields",
        "DateAdded",
        "DateUpdated",
        "Email",
        "FirstName",
        "LastName",
        "Source",
        "Status",
        "StatusChangeDate"
      ],
      apiKey: ["AccessLevel", "DateCreated", "Expires", "LastUse", "Name", "RestrictAccessToIPRange"]
    }

    it.effect("hold no field that the interface does not list, and dates in the form that every SDK reads", () =>
      Effect.gen(function* () {
        const [contact] = [
          succeeded(
            yield* askJson("POST", "/contacts", [
              { Email: "fields@example.com", FirstName: "F", Consent: { ConsentDate: "2021-01-01T01:00:00.987+01:00" } }
            ])
          )
        ].flat()
        assert.includeMembers(listed.contact, [fields(contact)].flat())
        const text = JSON.stringify(contact)
        assert.include(text, '"ConsentDate":"2021-01-01T00:00:00Z"')
        for (const [, date] of text.matchAll(/"(?:Date\w*|\w*Date)":"([^"]*)"/g))
          assert.match(date ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
        const made = succeeded(yield* askJson("POST", "/security/apikeys", { Name: "fields", AccessLevel: [] }), 201)
        assert.includeMembers([...listed.apiKey, "Token"], [fields(made)].flat())
        assert.include([fields(made)].flat(), "Token")
        const got = succeeded(yield* ask("GET", "/security/apikeys/fields"))
        assert.includeMembers(listed.apiKey, [fields(got)].flat())
        succeededEmpty(yield* ask("DELETE", "/security/apikeys/fields"))
      })
    )

    it.effect("of adding keep the order, however many ask at once", () =>
      Effect.gen(function* () {
        const adds = Array.from({ length: 16 }, (_, i) =>
          askJson("POST", "/contacts", [
            { Email: `own${i}@crowd.example` },
            { Email: "Shared@crowd.example", CustomFields: { [`f${i}`]: "x" } }
          ])
        )
        const answers = yield* Effect.all(adds, { concurrency: "unbounded" })
        for (const [i, answer] of answers.entries())
          assert.strictEqual(emailsOf(succeeded(answer))[0], `own${i}@crowd.example`)
        const all = succeeded(yield* ask("GET", "/contacts?limit=100&rule=email+ends-with+'@crowd.example'"))
        assert.strictEqual(emailsOf(all).length, 17)
        const shared = succeeded(yield* ask("GET", "/contacts/shared@crowd.example"))
        assert.strictEqual(Object.keys(Object(shared).CustomFields).length, 16)
      })
    )
  })
})
