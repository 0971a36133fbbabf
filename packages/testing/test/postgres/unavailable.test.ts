/** What a service answers while its PostgreSQL is busy or restarts, and that it goes on afterwards. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { RosterServer } from "@roster/server"
import { Context, Deferred, Effect, Fiber, Layer, Metric, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { readExposition, sampleOf } from "../observability/Exposition.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

/** A service, and a connection beside it. */
const served = Effect.gen(function* () {
  const url = yield* freshDatabase
  let key = ""
  const server = yield* Layer.build(
    RosterServer.layer({
      port: 0,
      metrics: { port: 0 },
      store: { postgres: { url, maxConnections: 8, acquireTimeout: "1 second", statementMillis: 2000 } },
      onAdministratorKey: (secret) =>
        Effect.sync(() => {
          key = Redacted.value(secret)
        })
    })
  )
  const { address, metricsAddress = "", superseded } = Context.get(server, RosterServer.RosterServer)
  // Of two pools in one registry, the later one would be shown.
  const sql = yield* Effect.provideService(PostgresClient.make({ url }), Metric.MetricRegistry, new Map())
  const headers = () => ({ "X-Service-ApiKey": key, "content-type": "application/json" })
  const ask = (method: string, body?: string) =>
    Effect.promise(async () => {
      const response = await fetch(`${address}/contacts`, {
        method,
        headers: headers(),
        ...(body === undefined ? {} : { body })
      })
      return { status: response.status, retryAfter: response.headers.get("retry-after"), text: await response.text() }
    })
  return {
    address,
    metricsAddress,
    superseded,
    sql,
    list: ask("GET"),
    add: ask("POST", `[{"Email":"ann@example.com"}]`)
  }
})

/** Holds the table of contacts while an effect runs. */
const whileHeld = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  Effect.gen(function* () {
    const held = yield* Deferred.make<void>()
    const holder = yield* Effect.forkChild(
      sql.withTransaction(
        sql`LOCK TABLE contacts`.pipe(Effect.andThen(Deferred.succeed(held, undefined)), Effect.andThen(Effect.never))
      )
    )
    yield* Deferred.await(held)
    return yield* Effect.ensuring(effect, Fiber.interrupt(holder))
  })

const get = (url: URL | string) =>
  Effect.promise(async () => {
    const response = await fetch(url)
    return { status: response.status, text: await response.text() }
  })

describePostgres("a service on PostgreSQL", () => {
  it.live(
    "answers 503 with Retry-After while others hold its tables, has done nothing, and works again afterwards",
    () =>
      Effect.gen(function* () {
        const { add, list, sql } = yield* served
        const refused = yield* whileHeld(sql, Effect.all([list, add], { concurrency: 2 }))
        for (const { retryAfter, status, text } of refused) {
          assert.deepStrictEqual([status, retryAfter], [503, "1"])
          assert.include(text, "for too long")
        }
        assert.strictEqual((yield* list).text, "[]")
        assert.strictEqual((yield* add).status, 200)
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("answers 503 to those that wait where no connection is left, and works again afterwards", () =>
    Effect.gen(function* () {
      const { list, sql } = yield* served
      const answers = yield* whileHeld(
        sql,
        Effect.all(
          Array.from({ length: 20 }, () => list),
          { concurrency: 20 }
        )
      )
      assert.deepStrictEqual(new Set(answers.map(({ status }) => status)), new Set([503]))
      assert.isTrue(answers.some(({ text }) => text.includes("all its connections are in use")))
      assert.strictEqual((yield* list).status, 200)
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("is alive and not ready while others hold its tables, and its metrics show it", () =>
    Effect.gen(function* () {
      const { address, list, metricsAddress, sql } = yield* served
      const metrics = Effect.map(get(metricsAddress), ({ text }) => readExposition(text))
      const calm = yield* metrics
      assert.strictEqual(sampleOf(calm, "roster_store_up"), 1)
      assert.isAtLeast(sampleOf(calm, "roster_store_bytes") ?? NaN, 1e6)
      assert.isAtMost(Math.abs(sampleOf(calm, "roster_clock_ahead_seconds") ?? NaN), 1)
      assert.strictEqual(sampleOf(calm, "roster_pool_waiting"), 0)
      assert.strictEqual((yield* get(new URL("/health/ready", address))).status, 200)
      yield* whileHeld(
        sql,
        Effect.gen(function* () {
          yield* eventually(get(new URL("/health/ready", address)), ({ status }) => status === 503)
          assert.strictEqual((yield* get(new URL("/health/live", address))).status, 200)
          const calls = yield* Effect.forkChild(
            Effect.all(
              Array.from({ length: 20 }, () => Effect.forever(list)),
              { concurrency: 20, discard: true }
            )
          )
          // Four are for jobs, two are kept for short calls, and one for another account.
          yield* eventually(
            metrics,
            (samples) =>
              sampleOf(samples, "roster_pool_connections_used") === 1 &&
              (sampleOf(samples, "roster_pool_waiting") ?? 0) > 0
          )
          yield* Fiber.interrupt(calls)
        })
      )
      const after = yield* eventually(metrics, (samples) => sampleOf(samples, "roster_pool_connections_used") === 0)
      assert.strictEqual(sampleOf(after, "roster_store_up"), 1)
    }).pipe(
      Effect.scoped,
      Effect.provideService(Metric.MetricRegistry, new Map()),
      Effect.provide([NodeServices.layer, Reactivity.layer])
    )
  )

  it.live("is not ready while its database is read-only, says so, and reconnects until it is not", () =>
    Effect.gen(function* () {
      const { add, address, sql } = yield* served
      const ready = get(new URL("/health/ready", address))
      const [row] = yield* sql<{ readonly name: string }>`SELECT current_database() AS name`
      for (const [value, status] of [
        ["on", 503],
        ["off", 200]
      ] as const) {
        yield* sql.unsafe(`ALTER DATABASE ${row?.name} SET default_transaction_read_only = ${value}`)
        // The setting is that of new connections, and nobody ends those that are read-only.
        if (value === "on")
          yield* Effect.ignore(sql`
            SELECT pg_terminate_backend(pid) FROM pg_stat_activity
            WHERE datname = current_database() AND pid <> pg_backend_pid()`)
        const { text } = yield* eventually(ready, (answer) => answer.status === status)
        assert.include(text, status === 503 ? "read-only" : "ready")
        const added = yield* add
        assert.strictEqual(added.status, status)
        if (status === 503) assert.include(added.text, "it is read-only")
      }
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("refuses every request once a newer version has migrated its store, and says so", () =>
    Effect.gen(function* () {
      const { add, address, list, sql, superseded } = yield* served
      assert.strictEqual((yield* add).status, 200)
      yield* sql`INSERT INTO migrations (migration_id, name) VALUES (1000, 'later')`
      const error = yield* Effect.flip(superseded)
      assert.include(error.message, "its tables are at step 1000")
      for (const answer of yield* Effect.all([add, list, get(new URL("/health/ready", address))])) {
        assert.strictEqual(answer.status, 503)
        assert.include(answer.text, "A newer version of Roster")
      }
      assert.strictEqual((yield* get(new URL("/health/live", address))).status, 200)
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("answers the next call after PostgreSQL has ended all of its connections", () =>
    Effect.gen(function* () {
      const { add, list, sql } = yield* served
      const ended = sql`
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`
      assert.strictEqual((yield* add).status, 200)
      for (let round = 0; round < 5; round++) {
        yield* ended
        assert.strictEqual((yield* list).status, 200)
        yield* ended
        assert.strictEqual((yield* add).status, 200)
      }
      yield* eventually(list, ({ text }) => text.includes("ann@example.com"))
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )
})
