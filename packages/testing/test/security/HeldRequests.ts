/**
 * Requests that are held open while their key is deleted or narrowed: what a key may is asked again when they take effect,
 * and the audit trail shows the refusal.
 */
import { auditEntries } from "@roster/domain"
import { assert, it } from "@effect/vitest"
import { SqlAccountService, Store } from "@roster/server"
import { Effect, Layer, Predicate, Schema, type Scope, Stream } from "effect"
import { type ClientRequest, request } from "node:http"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { served } from "../wire/LargeRequests.ts"

const boundary = "held"
const form = [
  `--${boundary}`,
  'Content-Disposition: form-data; name="file"; filename="held.csv"',
  "Content-Type: text/csv",
  "",
  "Email\r\nnew@example.com",
  `--${boundary}--`,
  ""
].join("\r\n")

const json = "application/json"
const email = { Recipients: [{ Email: "a@example.com" }], Content: { From: "a@example.com" } }

/** Two calls that somebody who may has made before with their keys: their answers are for none but who still may. */
const contacts = JSON.stringify([{ Email: "there@example.com" }])
const exportKey = { "Idempotency-Key": "export" }
const addKey = { "Idempotency-Key": "add" }

/** Operations that change something, with their bodies, their names in the audit trail, and their keys. */
const writes: ReadonlyArray<
  readonly [method: string, path: string, type: string, body: string, operation: string, key?: typeof addKey]
> = [
  ["POST", "/contacts", json, contacts, "contactsPost", addKey],
  ["POST", "/contacts/export", json, "{}", "contactsExportPost", exportKey],
  ["POST", "/contacts/export", json, "{}", "contactsExportPost"],
  ["POST", "/contacts", json, JSON.stringify([{ Email: "new@example.com" }]), "contactsPost"],
  ["PUT", "/contacts/there@example.com", json, JSON.stringify({ FirstName: "New" }), "contactsByEmailPut"],
  ["POST", "/contacts/delete", json, JSON.stringify({ Emails: ["there@example.com"] }), "contactsDeletePost"],
  ["POST", "/contacts/delete", json, JSON.stringify({ Rule: "Email = 'there@example.com'" }), "contactsDeletePost"],
  ["POST", "/contacts/import", `multipart/form-data; boundary=${boundary}`, form, "contactsImportPost"],
  ["POST", "/emails", json, JSON.stringify(email), "emailsPost"],
  ["POST", "/security/apikeys", json, JSON.stringify({ Name: "other", AccessLevel: [] }), "securityApikeysPost"]
]

/** What can happen to a key meanwhile, and how its request ends then. */
const changes = [
  ["deleted", "DELETE", "", 401, "Unauthorized"],
  ["narrowed", "PUT", JSON.stringify({ Name: "held", AccessLevel: ["ViewContacts"] }), 403, "AccessDenied"],
  [
    "bound to other addresses",
    "PUT",
    JSON.stringify({ Name: "held", AccessLevel: ["ModifyContacts"], RestrictAccessToIPRange: ["192.0.2.1"] }),
    403,
    "AccessDenied"
  ]
] as const

const AccessLevel = ["ModifyContacts", "ViewContacts", "SendHttp", "ModifyAccessTokens", "Export"]

const Made = Schema.fromJsonString(Schema.Struct({ Token: Schema.String }))
const Exported = Schema.fromJsonString(Schema.Struct({ Link: Schema.String, PublicExportID: Schema.String }))
const Seen = Schema.fromJsonString(Schema.Struct({ LastUse: Schema.optionalKey(Schema.NullOr(Schema.String)) }))

/** Sends the rest of a request, and gives its status. */
const finish = (held: ClientRequest, rest: string) =>
  Effect.callback<number>((resume) => {
    held.on("response", (response) => {
      response.resume()
      resume(Effect.succeed(response.statusCode ?? 0))
    })
    held.on("error", (error) => resume(Effect.die(error)))
    held.end(rest)
  })

/** The refusals of the held key in the audit trail of a store that nobody serves any more. */
const refusalsOf = (store: Parameters<typeof served>[0]) =>
  Effect.gen(function* () {
    const all = yield* Stream.runCollect(auditEntries())
    return all
      .filter(({ actor, outcome }) => actor._tag === "Key" && actor.name === "held" && outcome !== "Done")
      .map(({ operation, outcome }) => [operation, outcome])
      .toReversed()
  }).pipe(
    Effect.provide(
      Layer.provide(
        SqlAccountService.layer,
        "postgres" in store ? Store.layerPostgres(store.postgres) : Store.layer({ filename: store.filename })
      )
    )
  )

/** Sends each write with a key that changes before its last byte: it is refused, nothing is done, and no answer is given again. */
const refusing = Effect.fnUntraced(function* (store: Parameters<typeof served>[0]) {
  const { ask, origin } = yield* served(store)
  yield* ask("POST", "/contacts", contacts, addKey)
  const exported = yield* ask("POST", "/contacts/export", "", exportKey)
  const { Link, PublicExportID } = yield* Schema.decodeEffect(Exported)(exported.text)
  yield* eventually(ask("GET", `/contacts/export/${PublicExportID}/status`), ({ text }) => text === '"Ready"')
  const link = new URL(Link).pathname.replace("/v4", "")
  const everything = Effect.gen(function* () {
    const contacts = yield* ask("GET", "/contacts")
    const keys = yield* ask("GET", "/security/apikeys")
    const file = yield* ask("GET", link)
    return [contacts.text, keys.text.match(/"Name":"[^"]*"/g), file.status, file.text]
  })
  const before = yield* everything
  for (const [what, how, to, status] of changes) {
    for (const [method, path, type, body, , idempotent] of writes) {
      const made = yield* ask("POST", "/security/apikeys", JSON.stringify({ Name: "held", AccessLevel }))
      assert.strictEqual(made.status, 201, made.text)
      const { Token } = yield* Schema.decodeEffect(Made)(made.text)
      const length = { "Content-Type": type, "Content-Length": Buffer.byteLength(body) }
      const headers = { "X-Service-ApiKey": Token, ...length, ...idempotent }
      const held = request(`${origin}/v4${path}`, { method, headers })
      held.write(body.slice(0, -1))
      // Its use is recorded once the key was accepted.
      yield* eventually(
        Effect.flatMap(ask("GET", "/security/apikeys/held"), ({ text }) => Schema.decodeEffect(Seen)(text)),
        ({ LastUse }) => Predicate.isNotNullish(LastUse)
      )
      assert.strictEqual((yield* ask(how, "/security/apikeys/held", to)).status, 200)
      assert.strictEqual(yield* finish(held, body.slice(-1)), status, `${what}: ${method} ${path}`)
      yield* ask("DELETE", "/security/apikeys/held")
      assert.deepStrictEqual(yield* everything, before, `${what}: ${method} ${path}`)
    }
  }
})

export const heldRequestCases = <E>(store: Effect.Effect<Parameters<typeof served>[0], E, Scope.Scope>) => {
  it.live(
    "a request is refused, and recorded, whose key is deleted, narrowed or bound to other addresses meanwhile",
    () =>
      Effect.gen(function* () {
        const held = yield* store
        yield* Effect.scoped(refusing(held))
        // What waits to be recorded is written when the service ends.
        assert.deepStrictEqual(
          yield* refusalsOf(held),
          changes.flatMap(([, , , , outcome]) => writes.map(([, , , , operation]) => [operation, outcome]))
        )
      }).pipe(Effect.scoped)
  )
}
