/** Two `roster serve` on one PostgreSQL: what one of them has done holds for the other. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Schema } from "effect"
import { Reactivity } from "effect/reactivity"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { askServe, download, killableServe, type KillableServe, servePlace } from "../durability/KillableServe.ts"
import { csvRecordsOf, textOf } from "../../src/conformance/jobs/ExportedFile.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

/** Two processes, and a connection beside them. */
const served = Effect.gen(function* () {
  const database = yield* freshDatabase
  const place = yield* servePlace
  const first = yield* killableServe(place, { database })
  const second = yield* killableServe(place, { database })
  return { first, second, sql: yield* PostgresClient.make({ url: database }) }
})

const read = <A>(schema: Schema.Codec<A, unknown>, { text }: { readonly text: string }) =>
  Schema.decodeEffect(Schema.fromJsonString(schema))(text)

const Token = Schema.Struct({ Token: Schema.String })
const Export = Schema.Struct({ Link: Schema.String, PublicExportID: Schema.String })

const withKey = (process: KillableServe, apiKey: string): KillableServe => ({ ...process, apiKey })

describePostgres("two processes on one PostgreSQL", () => {
  it.live("give one answer to a call with an idempotency key, and hand out the same export", () =>
    Effect.gen(function* () {
      const { first, second, sql } = yield* served
      const ann = [{ Email: "ann@example.com", FirstName: "Ann" }]
      const added = yield* askServe(first, "POST", "/contacts", ann, "one")
      assert.strictEqual(added.status, 200)
      assert.strictEqual((yield* askServe(second, "DELETE", "/contacts/ann@example.com")).status, 200)
      assert.deepStrictEqual(yield* askServe(second, "POST", "/contacts", ann, "one"), added)
      assert.strictEqual((yield* askServe(first, "GET", "/contacts/ann@example.com")).status, 404)
      const other = yield* askServe(second, "POST", "/contacts", [{ Email: "bo@example.com" }], "one")
      assert.strictEqual(other.status, 409)

      yield* askServe(second, "POST", "/contacts", ann)
      const asked = yield* Effect.forEach(
        [first, second, first, second],
        (process) => askServe(process, "POST", "/contacts/export", undefined, "two"),
        { concurrency: "unbounded" }
      )
      const exports = yield* Effect.forEach(asked, (answer) => read(Export, answer))
      // Each answer has a link of its own, of which the newest works.
      const made = yield* read(Export, yield* askServe(first, "POST", "/contacts/export", undefined, "two"))
      exports.push(made)
      assert.strictEqual(new Set(exports.map(({ PublicExportID }) => PublicExportID)).size, 1)
      const ready = (process: KillableServe) =>
        eventually(
          askServe(process, "GET", `/contacts/export/${made.PublicExportID}/status`),
          ({ text }) => text === `"Ready"`
        )
      const { pathname, search } = new URL(made.Link)
      for (const process of [first, second]) {
        yield* ready(process)
        const file = yield* download(new URL(pathname + search, process.baseUrl).href)
        assert.deepStrictEqual(
          csvRecordsOf(textOf(file)).map((record) => record.get("Email")),
          ["ann@example.com"]
        )
      }
      assert.deepStrictEqual(yield* sql`SELECT count(*) AS jobs FROM jobs`, [{ jobs: 1 }])
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("leave a key that manages keys, whichever two of them delete each other at once", () =>
    Effect.gen(function* () {
      const { first, second } = yield* served
      const names = ["one", "two"] as const
      const make = (by: KillableServe, name: string) =>
        askServe(by, "POST", "/security/apikeys", { Name: name, AccessLevel: ["ModifyAccessTokens", "Security"] }).pipe(
          Effect.flatMap((answer) => read(Token, answer)),
          Effect.map(({ Token }) => Token)
        )
      let keys = [yield* make(first, "one"), yield* make(first, "two")] as const
      assert.strictEqual((yield* askServe(first, "DELETE", "/security/apikeys/administrator")).status, 200)
      for (let round = 0; round < 5; round++) {
        const [one, two] = [withKey(first, keys[0]), withKey(second, keys[1])]
        const answers = yield* Effect.all(
          [askServe(one, "DELETE", "/security/apikeys/two"), askServe(two, "DELETE", "/security/apikeys/one")],
          { concurrency: "unbounded" }
        )
        const statuses = answers.map(({ status }) => status)
        // Whoever comes second is refused, or has no key any more.
        assert.strictEqual(statuses.filter((status) => status === 200).length, 1, JSON.stringify(answers))
        const isFirst = statuses[0] === 200
        const [left, gone] = isFirst ? [one, names[1]] : [two, names[0]]
        const made = yield* make(left, gone)
        keys = isFirst ? [keys[0], made] : [made, keys[1]]
      }
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("make 1000 changes of the credentials of an account in an hour, and no more but deletions", () =>
    Effect.gen(function* () {
      const { first, second, sql } = yield* served
      // One more is the key of the administrator.
      yield* sql`
        INSERT INTO audit_entries (time, account, actor, actor_name, actor_hint, operation, outcome, details)
        SELECT floor(extract(epoch FROM now()))::bigint, '', 'Owner', '', '', 'securityApikeysPost', 'Done', '{}'
        FROM generate_series(1, 998)`
      const make = (by: KillableServe, name: string) =>
        askServe(by, "POST", "/security/apikeys", { Name: name, AccessLevel: ["ViewContacts"] })
      assert.strictEqual((yield* make(first, "one")).status, 201)
      const refused = yield* make(second, "two")
      assert.strictEqual(refused.status, 429)
      assert.include(refused.text, "changed 1000 times within an hour")
      assert.strictEqual((yield* askServe(second, "DELETE", "/security/apikeys/one")).status, 200)
      assert.strictEqual((yield* make(first, "two")).status, 429)
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("count the wrong keys of a caller together, and go on without their table", () =>
    Effect.gen(function* () {
      const { first, second, sql } = yield* served
      const wrong = (process: KillableServe) => askServe(withKey(process, "wrong"), "GET", "/contacts")
      const counts = sql<{ readonly count: number }>`SELECT count FROM wrong_keys`
      /** Asks until that is counted: a process goes on without a count that takes too long. */
      const wrongUntil = (process: KillableServe, isCounted: (count: number) => boolean) =>
        eventually(Effect.andThen(wrong(process), counts), ([row, ...others]) =>
          row === undefined || others.length > 0 ? false : isCounted(row.count)
        )
      // The forgotten count of another network goes.
      yield* sql`INSERT INTO wrong_keys VALUES ('192.0.2.1', 3, 0)`
      const [first7] = yield* wrongUntil(first, (count) => count >= 7)
      const begun = performance.now()
      assert.strictEqual((yield* wrong(second)).status, 401)
      assert.isAtLeast(performance.now() - begun, 900)
      yield* wrongUntil(second, (count) => count > (first7?.count ?? 0))
      const before = yield* counts
      assert.strictEqual((yield* askServe(second, "GET", "/contacts")).status, 200)
      assert.deepStrictEqual(yield* counts, before)
      yield* sql`UPDATE wrong_keys SET last = last - 60`
      yield* wrongUntil(second, (count) => count < 7)
      yield* sql`DROP TABLE wrong_keys`
      assert.strictEqual((yield* wrong(second)).status, 401)
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )
})
