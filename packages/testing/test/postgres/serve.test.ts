/** `roster serve` and `roster doctor` on PostgreSQL, as processes. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { killableServe, servePlace } from "../durability/KillableServe.ts"
import { runRoster } from "../durability/RosterCommand.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

/** The address of a database without its password, and the password. */
const split = (database: Redacted.Redacted<string>) => {
  const url = new URL(Redacted.value(database))
  const { password } = url
  url.password = ""
  return { address: url.href, password }
}

describePostgres("roster on PostgreSQL", () => {
  it.live("serves with the password from the environment, and prints it nowhere", () =>
    Effect.gen(function* () {
      const database = yield* freshDatabase
      const place = yield* servePlace
      const { address, password } = split(database)
      const doctor = (url: string, given: string) =>
        runRoster(place, ["doctor", "--output", "json", "--database-url", url], {
          environment: { ROSTER_DATABASE_PASSWORD: given }
        })
      const before = yield* doctor(address, password)
      assert.strictEqual(before.code, 0, before.stdout + before.stderr)
      for (const check of ["version", "encoding", "extensions", "writes", "rights", "tables", "clock"]) {
        assert.include(before.stdout, `{"Check":"${check}","Result":"ok"`)
      }
      const wrong = yield* doctor(address, "another one")
      assert.strictEqual(wrong.code, 8)
      assert.include(wrong.stdout, "it refuses the user or the password of the service")
      const nowhere = yield* doctor("postgres://roster@127.0.0.1:1/roster", password)
      assert.include(nowhere.stdout, "postgres://127.0.0.1:1/roster: nothing listens at its address")
      const warned = yield* doctor(Redacted.value(database), "")
      assert.include(warned.stderr, "other users of this machine can read the password")

      const served = yield* killableServe(place, { database })
      const headers = { "X-Service-ApiKey": served.apiKey }
      const found = yield* Effect.promise(() => fetch(`${served.baseUrl}/contacts`, { headers }))
      assert.strictEqual(found.status, 200)
      yield* served.stop
      for (const text of [before, wrong, nowhere, warned].map(({ stderr, stdout }) => stdout + stderr)) {
        assert.notInclude(text, password)
      }
      assert.notInclude(served.output(), password)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("opens no more connections than --database-connections allows", () =>
    Effect.gen(function* () {
      const database = yield* freshDatabase
      const place = yield* servePlace
      const few = yield* runRoster(place, ["serve", "--database-connections", "7"], {
        environment: { ROSTER_DATABASE_URL: Redacted.value(database) }
      })
      assert.strictEqual(few.code, 2)
      assert.include(few.stderr, "database-connections")
      const { apiKey, baseUrl } = yield* killableServe(place, { database, args: ["--database-connections", "8"] })
      const sql = yield* PostgresClient.make({ url: database, maxConnections: 1 })
      const holder = yield* PostgresClient.make({ url: database, maxConnections: 1 })
      const ask = (path: string) =>
        Effect.promise(() => fetch(`${baseUrl}${path}`, { headers: { "X-Service-ApiKey": apiKey } }))
      const seen = sql<{ readonly open: number; readonly waiting: number }>`
        SELECT count(*) - 2 AS open, count(*) FILTER (WHERE wait_event_type = 'Lock') AS waiting FROM pg_stat_activity
        WHERE datname = current_database()`
      const calls = yield* holder.withTransaction(
        Effect.gen(function* () {
          yield* holder`LOCK TABLE contacts`
          const asked = (path: string) =>
            Effect.forkScoped(Effect.replicateEffect(ask(path), 30, { concurrency: "unbounded", discard: true }))
          const waits = (least: number) => eventually(seen, ([row]) => (row?.waiting ?? 0) >= least)
          // The reads of keys wait behind a contact, so that lists would not be asked for after it.
          const lists = yield* asked("/contacts")
          yield* waits(1)
          const gets = yield* asked("/contacts/ann%40example.com")
          // Four of the eight are for jobs, one is kept for short writes, and one for another account.
          const [row] = yield* waits(2)
          assert.strictEqual(row?.waiting, 2)
          assert.isAtMost(row?.open ?? 9, 8)
          return [lists, gets]
        })
      )
      yield* Fiber.joinAll(calls)
      const [row] = yield* seen
      assert.isAtMost(row?.open ?? 0, 8)
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("refuses what is no address of PostgreSQL without repeating it, and a file beside one", () =>
    Effect.gen(function* () {
      const place = yield* servePlace
      const noAddress = yield* runRoster(place, ["serve", "--database-url", "mysql://roster:secret-word@host/db"], {
        environment: {}
      })
      assert.strictEqual(noAddress.code, 2)
      assert.notInclude(noAddress.stdout + noAddress.stderr, "secret-word")
      const both = yield* runRoster({ ...place, filename: "roster.db" }, [
        "serve",
        "--database-url",
        "postgres://host/db"
      ])
      assert.include(both.stderr, "A PostgreSQL and a store file are both set")
      // Fewer would leave requests none beside the jobs.
      const few = yield* runRoster(
        place,
        ["serve", "--database-url", "postgres://host/db", "--database-connections", "7"],
        { environment: {} }
      )
      assert.strictEqual(few.code, 2)
      assert.include(few.stderr, "8")
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )
})
