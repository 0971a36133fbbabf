/** What a key that may change contacts, and not view them, learns of a contact: what it sent, as it is stored now. */
import { assert, it } from "@effect/vitest"
import { Effect, Schema, type Scope } from "effect"
import { served } from "../wire/LargeRequests.ts"

const planted = {
  Email: "Planted@example.com",
  Status: "Unsubscribed",
  FirstName: "canary-first",
  LastName: "canary-last",
  CustomFields: { "Canary-Name": "canary-value" },
  Consent: { ConsentIP: "192.0.2.77", ConsentDate: "2001-02-03T04:05:06", ConsentTracking: "Deny" }
}

/** What only the store knows. */
const hidden =
  /canary|planted@EXAMPLE|192\.0\.2\.77|2001-02-03|Deny|Unsubscribed|DateAdded|Source|Activity|StatusChange/

/** Fields that can be sent, and what is answered for them. */
const fields = [
  [{}, {}],
  [{ FirstName: "Ann" }, { FirstName: "Ann" }],
  [{ CustomFields: { "canary-name": "new", other: "x" } }, { CustomFields: { "canary-name": "new", other: "x" } }],
  [{ CustomFields: { other: "", toString: "" } }, { CustomFields: {} }],
  [{ CustomFields: null, FirstName: null }, {}],
  [{ FirstName: "" }, {}]
] as const

const ofAdds = [
  [{ Status: "Active" }, { Status: "Active" }],
  [{ Consent: { ConsentIP: "192.0.2.1" } }, { Consent: { ConsentIP: "192.0.2.1" } }],
  [{ Consent: { ConsentDate: null } }, { Consent: {} }],
  [{ Consent: null, Status: null }, {}]
] as const

const Made = Schema.fromJsonString(Schema.Struct({ Token: Schema.String }))
const Contacts = Schema.fromJsonString(Schema.Array(Schema.Record(Schema.String, Schema.Unknown)))
const One = Schema.fromJsonString(Schema.Record(Schema.String, Schema.Unknown))

export const levelCases = <E>(store: Effect.Effect<Parameters<typeof served>[0], E, Scope.Scope>) => {
  it.live("a key that may change contacts and not view them gets of each what it sent, as it is stored now", () =>
    Effect.gen(function* () {
      const { ask } = yield* served(yield* store)
      const plant = Effect.gen(function* () {
        yield* ask("DELETE", `/contacts/${planted.Email}`)
        assert.strictEqual((yield* ask("POST", "/contacts", JSON.stringify([planted]))).status, 200)
      })
      const made = yield* ask(
        "POST",
        "/security/apikeys",
        JSON.stringify({ Name: "blind", AccessLevel: ["ModifyContacts"] })
      )
      const { Token } = yield* Schema.decodeEffect(Made)(made.text)
      const blind = { "X-Service-ApiKey": Token }
      const Email = "planted@EXAMPLE.com"
      for (const [sent, shown] of [...fields, ...ofAdds]) {
        yield* plant
        const body = JSON.stringify([
          { Email: "new@example.com", FirstName: "New" },
          { Email, ...sent }
        ])
        const added = yield* ask("POST", "/contacts", body, blind)
        assert.deepStrictEqual(yield* Schema.decodeEffect(Contacts)(added.text), [
          { Email: "new@example.com", FirstName: "New" },
          { Email, ...shown }
        ])
        // A kept answer is that of the caller's level.
        const key = { "Idempotency-Key": crypto.randomUUID() }
        const kept = yield* ask("POST", "/contacts", body, key)
        assert.match(kept.text, hidden)
        const replayed = yield* ask("POST", "/contacts", body, { ...key, ...blind })
        assert.deepStrictEqual([replayed.status, hidden.test(replayed.text)], [409, false])
      }
      yield* plant
      for (const [sent, shown] of fields) {
        yield* plant
        const changed = yield* ask("PUT", `/contacts/${Email}`, JSON.stringify(sent), blind)
        assert.deepStrictEqual(yield* Schema.decodeEffect(One)(changed.text), { Email, ...shown })
      }
      // The status that consent kept is seen by who sends one.
      yield* plant
      const denied = yield* ask("POST", "/contacts", JSON.stringify([{ Email, Status: "Active" }]), {
        ...blind,
        "Roster-Resubscribe": "deny"
      })
      assert.deepStrictEqual(yield* Schema.decodeEffect(Contacts)(denied.text), [{ Email, Status: "Unsubscribed" }])
      // Nor does it learn whom an add left out.
      yield* plant
      const given = [
        { Email, FirstName: "new", Status: "NotConfirmed" },
        { Email: "absent@example.com", FirstName: "new", Status: "NotConfirmed" }
      ]
      for (const only of ["new", "existing"]) {
        const answer = yield* ask("POST", `/contacts?only=${only}`, JSON.stringify(given), blind)
        assert.deepStrictEqual(yield* Schema.decodeEffect(Contacts)(answer.text), given)
        assert.strictEqual((yield* ask("DELETE", "/contacts/absent@example.com")).status, only === "new" ? 200 : 404)
      }
      const asked = [{ Email, Seen: { FirstName: "canary-first" }, Write: { FirstName: "new" } }]
      for (const query of ["", "?dryRun=true"]) {
        const changed = yield* ask("POST", `/contacts/changes${query}`, JSON.stringify(asked), blind)
        assert.deepStrictEqual([changed.status, hidden.test(changed.text)], [403, false])
      }
      // What it takes to find a contact by a field, and whether it is there afterwards, tells the field.
      const byRule = JSON.stringify({ Rule: "FirstName = 'canary-first'" })
      const deleted = yield* ask("POST", "/contacts/delete", byRule, blind)
      assert.deepStrictEqual([deleted.status, hidden.test(deleted.text)], [403, false])
      for (const path of [`/contacts/${Email}`, "/contacts", "/contacts?rule=FirstName%20%3D%20'x'"]) {
        const refused = yield* ask("GET", path, "", blind)
        assert.deepStrictEqual([refused.status, hidden.test(refused.text)], [403, false])
      }
    }).pipe(Effect.scoped)
  )
}
