import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { ask, askJson, refusedWith, succeeded, succeededEmpty, Wire } from "./Wire.ts"

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("the wire", (it) => {
  const emailsOf = (contacts: unknown) =>
    Array.isArray(contacts) ? contacts.map((contact: { readonly Email: string }) => contact.Email) : []

  describe("documented refusals", () => {
    it.effect("1001 contacts at once", () =>
      Effect.gen(function* () {
        const contacts = Array.from({ length: 1001 }, (_, i) => ({ Email: `many${i}@example.com` }))
        const text = refusedWith(yield* askJson("POST", "/contacts", contacts), 400)
        assert.match(text, /\b1001\b.*\b1000\b/)
        refusedWith(yield* ask("GET", "/contacts/many0@example.com"), 404)
        assert.strictEqual(emailsOf(succeeded(yield* askJson("POST", "/contacts", contacts.slice(1)))).length, 1000)
        succeededEmpty(yield* askJson("POST", "/contacts/delete", { Rule: "email starts-with 'many'" }))
      })
    )

    it.effect("a rule and e-mails together", () =>
      Effect.gen(function* () {
        const text = refusedWith(
          yield* askJson("POST", "/contacts/delete", { Rule: "All", Emails: ["a@example.com"] }),
          400
        )
        assert.match(text, /either a rule or a list of e-mails, not both/)
        assert.strictEqual(refusedWith(yield* ask("POST", "/contacts/export?rule=All&emails=a@example.com"), 400), text)
      })
    )

    it.effect("a sender who is not allowed", () =>
      Effect.gen(function* () {
        const mail = { Recipients: [{ Email: "b@example.com" }], Content: { From: "Eve <eve@evil.test>" } }
        assert.include(
          refusedWith(yield* askJson("POST", "/emails", mail), 400),
          "from e-mail address <eve@evil.test> is not allowed"
        )
      })
    )

    it.effect.each([
      ["neither a rule nor e-mails", {}],
      ["nothing said of both", { Rule: null, Emails: null }],
      ["an empty list", { Emails: [] }],
      ["a blank rule", { Rule: " " }],
      ["a rule that cannot be read", { Rule: "status ~ x" }],
      ["everything in other words", { Rule: "status = Active OR status != Active" }],
      ["a body that is a list", ["a@example.com"]],
      ["no body of an object", null]
    ] as const)("bulk delete by %s", ([, body]) =>
      Effect.gen(function* () {
        succeeded(yield* askJson("POST", "/contacts", [{ Email: "survivor@example.com" }]))
        refusedWith(yield* askJson("POST", "/contacts/delete", body), 400)
        succeeded(yield* ask("GET", "/contacts/survivor@example.com"))
      })
    )

    it.effect("null stands for absent in bulk delete, and All for everything", () =>
      Effect.gen(function* () {
        succeeded(yield* askJson("POST", "/contacts", [{ Email: "null1@example.com" }, { Email: "null2@example.com" }]))
        succeededEmpty(yield* askJson("POST", "/contacts/delete", { Rule: null, Emails: ["null1@example.com"] }))
        refusedWith(yield* ask("GET", "/contacts/null1@example.com"), 404)
        succeededEmpty(yield* askJson("POST", "/contacts/delete", { Rule: "All", Emails: null }))
        assert.deepStrictEqual(succeeded(yield* ask("GET", "/contacts")), [])
      })
    )
  })

  describe("queries", () => {
    const counts = [
      "-1",
      "+1",
      "1e2",
      "",
      "%20",
      "1%20",
      "1.0",
      "0x10",
      "1_0",
      "%D9%A3",
      "1,2",
      "NaN",
      "Infinity",
      "99999999999999999999"
    ]
    it.effect.each(
      counts
        .flatMap((count) => [`limit=${count}`, `offset=${count}`])
        .concat("limit=1&limit=1", "offset=0&offset=0", "limit")
    )("%s is no count", (query) =>
      Effect.gen(function* () {
        const text = refusedWith(yield* ask("GET", `/contacts?${query}`), 400)
        assert.include(text, query.split("=")[0] ?? "")
      })
    )

    it.effect("limit and offset count", () =>
      Effect.gen(function* () {
        const emails = Array.from({ length: 1002 }, (_, i) => `q${i}@query.example`)
        succeeded(
          yield* askJson(
            "POST",
            "/contacts",
            emails.slice(0, 1000).map((Email) => ({ Email }))
          )
        )
        succeeded(
          yield* askJson(
            "POST",
            "/contacts",
            emails.slice(1000).map((Email) => ({ Email }))
          )
        )
        const rule = "rule=email+ends-with+'@query.example'"
        assert.deepStrictEqual(emailsOf(succeeded(yield* ask("GET", `/contacts?${rule}`))), emails.slice(0, 20))
        assert.deepStrictEqual(
          emailsOf(succeeded(yield* ask("GET", `/contacts?${rule}&limit=007&offset=01`))),
          emails.slice(1, 8)
        )
        assert.deepStrictEqual(
          emailsOf(succeeded(yield* ask("GET", `/contacts?${rule.replaceAll("+", "%20")}&limit=1000`))),
          emails.slice(0, 1000)
        )
        assert.deepStrictEqual(succeeded(yield* ask("GET", `/contacts?limit=0`)), [])
        refusedWith(yield* ask("GET", "/contacts?rule="), 400)
        refusedWith(yield* ask("GET", "/contacts?rule=All&rule=All"), 400)
        refusedWith(yield* ask("GET", "/contacts?rule=%ff"), 400)
      })
    )

    it.effect("names of lists are repeated and never split on commas", () =>
      Effect.gen(function* () {
        succeeded(
          yield* askJson("POST", "/contacts?listnames=One&listnames=Two,+Three%20%26+%C5%BB", [
            { Email: "listed@example.com" }
          ])
        )
        const importTo = (name: string) =>
          ask("POST", `/contacts/import?listName=${encodeURIComponent(name)}`, {
            headers: { "Content-Type": "multipart/form-data; boundary=b" },
            body: `--b\r\nContent-Disposition: form-data; name="file"; filename="c.csv"\r\n\r\nEmail\r\nlisted@example.com\r\n\r\n--b--\r\n`
          })
        for (const name of ["One", "Two, Three & Ż"]) succeededEmpty(yield* importTo(name), 202)
        for (const name of ["Two", "Three & Ż", "One,Two, Three & Ż"])
          assert.include(refusedWith(yield* importTo(name), 400), name)
      })
    )
  })
})
