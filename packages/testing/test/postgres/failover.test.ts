/**
 * A service while its PostgreSQL is replaced by a standby: what was acknowledged is there, what was refused is not, and it
 * goes on without a restart.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Fiber, Redacted } from "effect"
import { platform } from "node:os"
import { faultProxy } from "../faults/server/FaultProxy.ts"
import { longRun } from "../../src/simulation/LongRun.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { served } from "../wire/LargeRequests.ts"
import { hasPgbouncer, pooled } from "./Pgbouncer.ts"
import { startServer, testSettings } from "./PostgresServer.ts"
import { describePostgres, restartPostgres, runOn, signalPostgres } from "./TestPostgres.ts"

const settings = [...testSettings(true), "wal_level=replica", "hot_standby=on"]

/** Contacts that are written before, and then after the primary has gone. */
const writes = 50

describePostgres("a PostgreSQL that is replaced by its standby on Linux (nightly)", () => {
  for (const [how, pooler] of [
    ["is killed", false],
    ["hangs", false],
    ["is demoted", false],
    ["is killed", true],
    ["is demoted", true]
  ] as const) {
    const missing = pooler && !hasPgbouncer
    const through = pooler ? ` behind pgbouncer in session mode${missing ? " (it is not installed)" : ""}` : ""
    it.live.skipIf(!longRun || platform() !== "linux" || restartPostgres === undefined || missing)(
      `when it ${how}${through} loses nothing that was acknowledged, and the service goes on`,
      () =>
        Effect.gen(function* () {
          const primary = yield* Effect.acquireRelease(
            Effect.promise(() => startServer({ settings })),
            (server) =>
              Effect.promise(async () => {
                if (how === "hangs") signalPostgres(server, "SIGCONT")
                await server.stop()
              })
          )
          const standby = yield* Effect.acquireRelease(
            Effect.promise(() => primary.standby()),
            (server) => Effect.promise(() => server.stop())
          )
          // A COMMIT is answered when the standby has it.
          yield* runOn(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
          yield* runOn(primary.url, "SELECT pg_reload_conf()")
          yield* eventually(
            runOn(primary.url, "SELECT 1 FROM pg_stat_replication WHERE sync_state = 'sync'"),
            (rows) => rows.length === 1
          )
          const proxy = yield* faultProxy({ random: Math.random, rate: 0 })
          yield* proxy.leadTo(Number(primary.url.port))
          const url = new URL(primary.url)
          url.port = `${proxy.port}`
          const address = pooler ? yield* pooled(url) : url
          const { ask, origin } = yield* served({
            postgres: { url: Redacted.make(address.href), statementMillis: 2000, acquireTimeout: "1 second" }
          })
          const ready = Effect.promise(async () => {
            const response = await fetch(`${origin}/health/ready`)
            return { status: response.status, text: await response.text() }
          })
          const answers = new Map<string, number>()
          const write = Effect.suspend(() => {
            const email = `w${answers.size}@example.com`
            answers.set(email, 0)
            return Effect.tap(ask("POST", "/contacts", JSON.stringify([{ Email: email }])), ({ status }) =>
              Effect.sync(() => answers.set(email, status))
            )
          })
          const acknowledged = () => [...answers].filter(([, status]) => status === 200).map(([email]) => email)
          const writing = yield* Effect.forkChild(
            Effect.all(
              Array.from({ length: 4 }, () => Effect.forever(write)),
              { concurrency: 4, discard: true }
            ),
            { startImmediately: true }
          )
          const writtenAlso = (more: number) =>
            Effect.suspend(() => {
              const before = acknowledged().length
              return eventually(Effect.sync(acknowledged), (all) => all.length >= before + more)
            })
          yield* writtenAlso(writes)
          if (how === "is demoted") {
            // Its sessions go on, and may no longer write.
            yield* runOn(primary.url, "ALTER SYSTEM SET default_transaction_read_only = on")
            yield* runOn(primary.url, "SELECT pg_reload_conf()")
          } else signalPostgres(primary, how === "hangs" ? "SIGSTOP" : "SIGKILL")
          // What is connected hangs on; only what connects now comes to the standby.
          yield* proxy.leadTo(Number(standby.url.port))
          const { text } = yield* eventually(ready, ({ text }) => text.includes("read-only"))
          assert.include(text, "read-only")
          yield* runOn(standby.url, "SELECT pg_promote()")
          yield* eventually(ready, ({ status }) => status === 200)
          yield* writtenAlso(writes)
          yield* Fiber.interrupt(writing)
          const rows = yield* runOn(standby.url, "SELECT email FROM contacts")
          const stored = new Set(rows.map((row) => String(Object(row).email)))
          for (const email of acknowledged()) assert.isTrue(stored.has(email), `${email} was acknowledged`)
          for (const [email, status] of answers) {
            if (status === 503) assert.isFalse(stored.has(email), `${email} was refused`)
            else assert.include([0, 200, 500], status)
          }
        }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
      // A busy machine takes a minute to start two servers.
      300_000
    )
  }
})
