/** What a service answers while its PostgreSQL is busy or restarts, and that it goes on afterwards. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { RosterServer } from "@roster/server"
import { Context, Deferred, Effect, Fiber, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import type { SqlClient } from "effect/sql"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { eventually } from "../../src/index.ts"
import { freshDatabase, noPostgres, startPostgres } from "./TestPostgres.ts"

startPostgres()

/** A service, and a connection beside it. */
const served = Effect.gen(function* () {
  const url = yield* freshDatabase
  let key = ""
  const server = yield* Layer.build(
    RosterServer.layer({
      port: 0,
      store: { postgres: { url, maxConnections: 8, acquireTimeout: "1 second", statementMillis: 2000 } },
      onAdministratorKey: (secret) =>
        Effect.sync(() => {
          key = Redacted.value(secret)
        })
    })
  )
  const { address } = Context.get(server, RosterServer.RosterServer)
  const sql = yield* PostgresClient.make({ url })
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
  return { sql, list: ask("GET"), add: ask("POST", `[{"Email":"ann@example.com"}]`) }
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

describe.skipIf(noPostgres !== undefined)("a service whose PostgreSQL", () => {
  it.live("is held by others answers 503 with Retry-After, has done nothing, and goes on", () =>
    Effect.gen(function* () {
      const { add, list, sql } = yield* served
      const refused = yield* whileHeld(sql, Effect.all([list, add], { concurrency: 2 }))
      for (const { retryAfter, status, text } of refused) {
        assert.deepStrictEqual([status, retryAfter], [503, "1"])
        assert.include(text, "a statement took too long")
      }
      assert.strictEqual((yield* list).text, "[]")
      assert.strictEqual((yield* add).status, 200)
    }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))
  )

  it.live("has no connection left says so to those that wait, and answers again afterwards", () =>
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

  it.live("ends all its connections answers the next call", () =>
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
