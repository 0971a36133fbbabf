/** What one client costs others, on PostgreSQL, with the least number of connections. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import type { OperationId } from "@roster/api"
import { AccessLevel } from "@roster/domain"
import { maximumAccountScans } from "@roster/server/RuleScans"
import { Deferred, Effect, Fiber, type Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { boundsCases } from "../wire/Bounds.ts"
import { served } from "../wire/LargeRequests.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

/** Keeps others from changing the contact `held@example.com` of a store until it is unlocked. */
const hold = ({ postgres: { url } }: { readonly postgres: { readonly url: Redacted.Redacted<string> } }) =>
  Effect.gen(function* () {
    const sql = yield* PostgresClient.make({ url, maxConnections: 1 })
    const isHeld = yield* Deferred.make<void>()
    const release = yield* Deferred.make<void>()
    const holder = sql`SELECT id FROM contacts WHERE identity = 'held@example.com' FOR UPDATE`.pipe(
      Effect.andThen(Deferred.succeed(isHeld, undefined)),
      Effect.andThen(Deferred.await(release))
    )
    yield* Effect.forkScoped(sql.withTransaction(holder))
    yield* Deferred.await(isHeld)
    return { unlock: Effect.asVoid(Deferred.succeed(release, undefined)) }
  }).pipe(Effect.provide(Reactivity.layer))

type Sent = readonly [status: number, method: string, path: string, body?: unknown]

/** A call of every operation that succeeds, in an order in which each finds what it names. */
const everyOperation = {
  contactsPost: [200, "POST", "/contacts?listnames=new", [{ Email: "one@example.com" }, { Email: "two@example.com" }]],
  contactsByEmailGet: [200, "GET", "/contacts/one@example.com"],
  contactsByEmailPut: [200, "PUT", "/contacts/one@example.com", { FirstName: "One" }],
  contactsByEmailHistoryGet: [200, "GET", "/contacts/one@example.com/history"],
  contactsGet: [200, "GET", "/contacts?rule=FirstName='One'"],
  contactsCountGet: [200, "GET", "/contacts/count?rule=FirstName='One'"],
  contactsFieldsGet: [200, "GET", "/contacts/fields"],
  contactsSearchPost: [200, "POST", "/contacts/search?lists=true", { Rule: "FirstName='One'" }],
  contactsLookupPost: [200, "POST", "/contacts/lookup", { Emails: ["one@example.com"] }],
  contactsChangesPost: [200, "POST", "/contacts/changes", [{ Email: "new@example.com", Seen: null, Write: {} }]],
  listsPost: [201, "POST", "/lists", { ListName: "made", Emails: ["one@example.com"] }],
  listsGet: [200, "GET", "/lists?counts=true"],
  listsByNameGet: [200, "GET", "/lists/made"],
  listsByNamePut: [200, "PUT", "/lists/made", { NewListName: "renamed" }],
  listsByListnameContactsGet: [200, "GET", "/lists/renamed/contacts"],
  listsByNameContactsPost: [200, "POST", "/lists/renamed/contacts", { Rule: "FirstName='One'" }],
  listsByNameContactsRemovePost: [200, "POST", "/lists/renamed/contacts/remove", { Emails: ["one@example.com"] }],
  listsByNameDelete: [200, "DELETE", "/lists/renamed"],
  contactsByEmailDelete: [200, "DELETE", "/contacts/two@example.com"],
  contactsDeletePost: [200, "POST", "/contacts/delete", { Rule: "FirstName='One'" }],
  contactsExportPost: [202, "POST", "/contacts/export"],
  contactsExportByIdStatusGet: [404, "GET", `/contacts/export/${crypto.randomUUID()}/status`],
  contactsImportPost: [
    202,
    "POST",
    "/contacts/import",
    '--b\r\nContent-Disposition: form-data; name="file"; filename="f.csv"\r\n\r\nEmail\nthree@example.com\r\n--b--\r\n'
  ],
  emailsPost: [
    200,
    "POST",
    "/emails",
    {
      Recipients: [{ Email: "one@example.com" }],
      Content: { From: "ann@example.com", Subject: "S", Body: [{ ContentType: "PlainText", Content: "C" }] }
    }
  ],
  accountKeyGet: [200, "GET", "/account/key"],
  accountAuditGet: [200, "GET", "/account/audit?key=more&since=2026-01-01T00:00:00Z"],
  accountKeyUsesGet: [200, "GET", "/account/keyuses"],
  accountJobsGet: [200, "GET", "/account/jobs"],
  accountJobsByIdGet: [404, "GET", "/account/jobs/none"],
  accountJobsByIdCancelPost: [404, "POST", "/account/jobs/none/cancel"],
  accountJobsByIdRejectedGet: [404, "GET", "/account/jobs/none/rejected"],
  accountJobsByIdKeptGet: [404, "GET", "/account/jobs/none/kept"],
  accountEmailsGet: [200, "GET", "/account/emails"],
  accountEmailsByIdGet: [404, "GET", "/account/emails/none"],
  accountRulesByNamePut: [200, "PUT", "/account/rules/vip", { Rule: "status = 'Active'" }],
  accountOverviewGet: [200, "GET", "/account/overview"],
  accountRulesGet: [200, "GET", "/account/rules"],
  accountRulesByNameDelete: [200, "DELETE", "/account/rules/vip"],
  runsPost: [200, "POST", "/runs", { Command: "import" }],
  runsGet: [200, "GET", "/runs"],
  runsByIdGet: [404, "GET", "/runs/none"],
  runsByIdChangesGet: [404, "GET", "/runs/none/changes"],
  runsByIdStepPost: [404, "POST", "/runs/none/step", { State: "half" }],
  runsByIdErasePost: [404, "POST", "/runs/none/erase", { Numbers: [1] }],
  runsByIdEndPost: [404, "POST", "/runs/none/end"],
  securityApikeysPost: [201, "POST", "/security/apikeys", { Name: "more", AccessLevel: [] }],
  securityApikeysGet: [200, "GET", "/security/apikeys"],
  securityApikeysByNameGet: [200, "GET", "/security/apikeys/more"],
  securityApikeysByNamePut: [200, "PUT", "/security/apikeys/more", { Name: "more", AccessLevel: [] }],
  securityApikeysByNameDelete: [200, "DELETE", "/security/apikeys/more"],
  securitySmtpPost: [201, "POST", "/security/smtp", { Name: "smtp@example.com" }],
  securitySmtpGet: [200, "GET", "/security/smtp"],
  securitySmtpByNameGet: [200, "GET", "/security/smtp/smtp@example.com"],
  securitySmtpByNamePut: [200, "PUT", "/security/smtp/smtp@example.com", { Name: "smtp@example.com" }],
  securitySmtpByNameDelete: [200, "DELETE", "/security/smtp/smtp@example.com"]
} as const satisfies { readonly [Id in OperationId]: Sent }

describePostgres("on PostgreSQL", () => {
  boundsCases(
    "on PostgreSQL",
    Effect.map(freshDatabase, (url) => ({ postgres: { url, maxConnections: 8 } })),
    hold
  )

  it.live("others use every operation while an account waits for what is locked, until its key is revoked", () =>
    Effect.gen(function* () {
      const postgres = { url: yield* freshDatabase, maxConnections: 8 }
      const { ask } = yield* served({ postgres, allowedSenders: ["ann@example.com"], ruleDeadline: "1 second" })
      const keyOf = Effect.fnUntraced(function* (Name: string) {
        const body = { Name, Subaccount: `${Name}@example.com`, AccessLevel: AccessLevel.literals }
        const asked = yield* ask("POST", "/security/apikeys", JSON.stringify(body))
        assert.strictEqual(asked.status, 201, asked.text)
        return { "X-Service-ApiKey": String(JSON.parse(asked.text).Token) }
      })
      const attacker = yield* keyOf("attacker")
      const other = yield* keyOf("other")
      const held = '[{"Email":"held@example.com"}]'
      assert.strictEqual((yield* ask("POST", "/contacts", held, attacker)).status, 200)
      yield* hold({ postgres })
      const statuses = new Set<number>()
      const waiting = yield* Effect.forkChild(
        Effect.all(
          [
            ["POST", "/contacts", held],
            // It has locked its account when it comes to the contact.
            ["POST", "/contacts?listnames=new", held],
            ["PUT", "/contacts/held@example.com", '{"FirstName":"F"}'],
            ["DELETE", "/contacts/held@example.com", ""],
            ["POST", "/contacts/delete", '{"Emails":["held@example.com"]}'],
            ["POST", "/contacts/delete", '{"Rule":"Email=\'held@example.com\'"}']
          ].flatMap(([method = "", path = "", body]) => {
            const call = Effect.map(ask(method, path, body, attacker), ({ status }) => void statuses.add(status))
            return Array.from({ length: 7 }, () => Effect.repeat(call, { until: () => statuses.has(401) }))
          }),
          { concurrency: "unbounded", discard: true }
        ),
        { startImmediately: true }
      )
      for (const [id, [status, method, path, body]] of Object.entries<Sent>(everyOperation)) {
        const isForm = typeof body === "string"
        const type = { "Content-Type": isForm ? "multipart/form-data; boundary=b" : "application/json" }
        const sent = body === undefined ? "" : isForm ? body : JSON.stringify(body)
        const answer = yield* ask(method, path, sent, { ...other, ...(body === undefined ? {} : type) })
        assert.strictEqual(answer.status, status, `${id}: ${answer.text}`)
      }
      for (const [method, path] of [
        ["GET", "/security/apikeys"],
        ["GET", "/security/apikeys?subaccount=attacker@example.com"],
        ["DELETE", "/security/apikeys/attacker?subaccount=attacker@example.com"]
      ] as const) {
        const answer = yield* ask(method, path)
        assert.strictEqual(answer.status, 200, `${path}: ${answer.text}`)
      }
      // Nobody has unlocked anything.
      yield* Fiber.join(waiting)
      assert.notInclude([...statuses], 200)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("an account has 32 calls for each connection, and 32 calls with a rule; others are refused at once", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      // Four of the connections are for jobs, and two for short calls.
      const { ask } = yield* served({ postgres: { url, maxConnections: 8, acquireTimeout: "1 minute" } })
      assert.strictEqual((yield* ask("POST", "/contacts", '[{"Email":"one@example.com"}]')).status, 200)
      const sql = yield* PostgresClient.make({ url, maxConnections: 1 })
      const calls = [
        [2 * 32, 503, ask("PUT", "/contacts/one@example.com", '{"FirstName":"F"}')],
        [maximumAccountScans, 429, ask("GET", "/contacts?rule=firstname='F'")]
      ] as const
      for (const [most, refusal, call] of calls) {
        const refused: Array<number> = []
        const answered = yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`LOCK TABLE contacts`
            const noted = Effect.tap(call, ({ status }) => Effect.sync(() => refused.push(status)))
            const answered = yield* Effect.forkChild(
              Effect.all(
                Array.from({ length: most + 5 }, () => noted),
                { concurrency: "unbounded" }
              ),
              { startImmediately: true }
            )
            yield* eventually(
              Effect.sync(() => refused.length),
              (count) => count === 5
            )
            assert.deepStrictEqual(new Set(refused), new Set([refusal]))
            return answered
          })
        )
        const statuses = (yield* Fiber.join(answered)).map(({ status }) => status)
        assert.strictEqual(statuses.filter((status) => status === 200).length, most)
      }
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )
})
