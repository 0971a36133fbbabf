/** What one client costs others, on PostgreSQL, with the least number of connections. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { maximumAccountScans } from "@roster/server/RuleScans"
import { Deferred, Effect, Fiber } from "effect"
import { Reactivity } from "effect/reactivity"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { eventually } from "../../src/index.ts"
import { boundsCases } from "../wire/Bounds.ts"
import { served } from "../wire/LargeRequests.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

describePostgres("on PostgreSQL", () => {
  boundsCases(
    "on PostgreSQL",
    Effect.map(freshDatabase, (url) => ({ postgres: { url, maxConnections: 8 } })),
    ({ postgres: { url } }) =>
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
