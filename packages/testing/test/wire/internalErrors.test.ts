/**
 * S35 Errors inside the service, forced by rows that no answer can hold: the response tells nothing of the inside, and
 * what is answered 500 was not written.
 */
import { assert, layer } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { contactsIn, countOf, rowsOf, writeTo } from "../durability/StoreLook.ts"
import { ask, askJson, type Answered, refusedWith, succeeded, Wire } from "./Wire.ts"

/** Seconds that are no date, and fields that are no texts. */
const brokenDate = "date_added = 9000000000000000"
const brokenFields = `custom_fields = '{"secret-canary":null}'`

/** The file of the service, as the tools that look at files from outside know it. */
const place = Effect.map(Wire, ({ served }) => ({
  folder: "",
  keyFile: served.keyFile,
  temporary: "",
  filename: served.filename
}))

/** That a response is a 500 under an id that the log has, and tells nothing else. Gives the text. */
const internal = Effect.fnUntraced(function* (answered: Answered) {
  const { served } = yield* Wire
  const text = refusedWith(answered, 500)
  const id = /^An internal error\. It is in the log of the service under ([0-9a-f-]{36})\.$/.exec(text)?.[1]
  assert.isDefined(id, text)
  yield* eventually(Effect.sync(served.output), (output) => output.includes(`request ${id} failed`))
  return text
})

const Credential = Schema.Struct({ name: Schema.String, access_levels: Schema.String })

/** All that the requests of these tests want to write. */
const state = Effect.map(place, (file) => ({
  contacts: contactsIn(file),
  credentials: rowsOf(file, Credential, "SELECT name, access_levels FROM credentials ORDER BY id"),
  answers: countOf(file, "idempotent_answers"),
  lists: countOf(file, "lists"),
  done: countOf(file, "audit_entries WHERE outcome = 'Done'")
}))

layer(Wire.layer, { excludeTestServices: true, timeout: "60 seconds" })("errors inside the service", (it) => {
  it.effect("S35 are a 500 with the id of a line in the log, and the next answer holds nothing of them", () =>
    Effect.gen(function* () {
      const file = yield* place
      succeeded(
        yield* askJson("POST", "/contacts", [{ Email: "odd@inside.example" }, { Email: "plain@inside.example" }])
      )
      const plain = yield* ask("GET", "/contacts/plain@inside.example")
      for (const broken of [brokenFields, "last_ip = x'00ff'", "custom_fields = 'no JSON'", brokenDate]) {
        writeTo(file, `UPDATE contacts SET ${broken} WHERE identity = 'odd@inside.example'`)
        for (const path of ["/contacts/odd@inside.example", "/contacts?limit=1000"]) {
          const text = yield* internal(yield* ask("GET", path))
          assert.notMatch(text, /SELECT|contacts|sqlite|\.ts|node:|at |inside\.example|canary/i)
          assert.strictEqual((yield* ask("GET", "/contacts/plain@inside.example")).text, plain.text)
        }
      }
      writeTo(file, "DELETE FROM contacts WHERE identity = 'odd@inside.example'")
    })
  )

  it.effect.each([{}, { "Idempotency-Key": "inside" }])(
    "S35 what is answered 500 was not written: contacts, with %j",
    (headers) =>
      Effect.gen(function* () {
        const file = yield* place
        const [email, fresh] = ["written@inside.example", "fresh@inside.example"]
        const add = askJson("POST", "/contacts?listnames=Inside", [{ Email: fresh }, { Email: email }], { headers })
        const written = Effect.map(state, ({ contacts, ...rest }) => ({
          ...rest,
          contacts: contacts.map((contact) => [contact.email, contact.last_name, contact.date_updated])
        }))
        succeeded(yield* askJson("POST", "/contacts", [{ Email: email, FirstName: "before" }]))
        for (const broken of [brokenDate, "date_added = 'no date'", "last_ip = x'00ff'"]) {
          writeTo(file, `UPDATE contacts SET ${broken} WHERE identity = '${email}'`)
          const before = yield* written
          yield* internal(yield* add)
          yield* internal(yield* askJson("PUT", `/contacts/${email}`, { LastName: "after" }, { headers }))
          assert.deepStrictEqual(yield* written, before)
          writeTo(file, `UPDATE contacts SET date_added = 1, last_ip = NULL WHERE identity = '${email}'`)
        }
        // The same call succeeds once the row is mended.
        succeeded(yield* add)
        writeTo(file, "DELETE FROM contacts; DELETE FROM lists")
      })
  )

  it.effect("S35 what is answered 500 was not written: credentials, nor their audit entries", () =>
    Effect.gen(function* () {
      const file = yield* place
      succeeded(yield* askJson("POST", "/security/apikeys", { Name: "odd", AccessLevel: ["Export"] }), 201)
      succeeded(yield* askJson("POST", "/security/smtp", { Name: "odd@inside.example" }), 201)
      for (const broken of ["ip_ranges = '[1]'", "date_created = 9000000000000000"]) {
        writeTo(file, `UPDATE credentials SET ${broken} WHERE name LIKE 'odd%'`)
        const before = yield* state
        yield* internal(
          yield* askJson("PUT", "/security/apikeys/odd", { Name: "renamed", AccessLevel: ["ViewContacts"] })
        )
        yield* internal(yield* askJson("PUT", "/security/smtp/odd@inside.example", { Name: "renamed@inside.example" }))
        assert.deepStrictEqual(yield* state, before)
        writeTo(file, "UPDATE credentials SET ip_ranges = '[]', date_created = 1 WHERE name LIKE 'odd%'")
      }
      succeeded(yield* askJson("PUT", "/security/apikeys/odd", { Name: "renamed", AccessLevel: ["ViewContacts"] }))
    })
  )
})
