/** A service whose PostgreSQL hangs: nobody is kept waiting, no connection stays, and all works again when it answers. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { connect, createServer, type Socket } from "node:net"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { CommitLost } from "../../../server/src/store/postgres/PostgresError.ts"
import { eventually } from "../../src/conformance/cases/Eventually.ts"
import { served } from "../wire/LargeRequests.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

/** Passes bytes on until it stalls: then it passes nothing on of what is open, nor of what is opened until it goes on. */
const stallingProxy = Effect.fnUntraced(function* (url: Redacted.Redacted<string>) {
  const to = new URL(Redacted.value(url))
  const { hostname, port } = to
  const clients = new Set<Socket>()
  const upstreams = new Set<Socket>()
  let isStalled = false
  /** Reads what comes, so that it learns of the end. */
  const swallow = (socket: Socket): void => void socket.unpipe().removeAllListeners("end").resume()
  const server = createServer((client) => {
    clients.add(client)
    client.on("error", () => {}).on("close", () => clients.delete(client))
    if (isStalled) return swallow(client)
    const upstream = connect(Number(port), hostname)
    upstreams.add(upstream)
    upstream.on("error", () => client.destroy()).on("close", () => upstreams.delete(upstream))
    client.pipe(upstream)
    upstream.pipe(client)
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        for (const socket of [...clients, ...upstreams]) socket.destroy()
        server.close()
      })
  )
  const address = server.address()
  to.port = `${typeof address === "object" ? address?.port : 0}`
  return {
    url: Redacted.make(to.href),
    stall: Effect.sync(() => {
      isStalled = true
      for (const socket of [...clients, ...upstreams]) swallow(socket)
    }),
    goOn: Effect.sync(() => {
      isStalled = false
    }),
    /** The connections that a client has not closed. */
    open: () => clients.size
  }
})

describePostgres("a PostgreSQL that hangs", () => {
  it.live("keeps nobody waiting, is given up with its connections, and is used again when it answers", () =>
    Effect.gen(function* () {
      const proxy = yield* stallingProxy(yield* freshDatabase)
      const { ask, origin } = yield* served({
        postgres: { url: proxy.url, maxConnections: 8, acquireTimeout: "1 second", statementMillis: 1500 }
      })
      const health = (path: string) =>
        Effect.promise(async () => {
          const response = await fetch(`${origin}/health/${path}`)
          return { status: response.status, text: await response.text() }
        })
      const add = ask("POST", "/contacts", '[{"Email":"ann@example.com"}]')
      const one = ask("GET", "/contacts/ann%40example.com")
      assert.strictEqual((yield* add).status, 200)
      assert.strictEqual((yield* one).status, 200)
      yield* proxy.stall
      const answers = yield* Effect.all(
        [health("ready"), one, add, ask("GET", "/contacts"), ...Array.from({ length: 20 }, () => one)],
        { concurrency: "unbounded" }
      )
      for (const { status, text } of answers) {
        assert.strictEqual(status, 503)
        assert.match(text, /does not answer|all its connections are in use/)
      }
      assert.strictEqual((yield* health("live")).status, 200)
      // Those of jobs as well. What is connecting is given up too.
      yield* eventually(Effect.sync(proxy.open), (open) => open === 0)
      yield* proxy.goOn
      yield* eventually(health("ready"), ({ status }) => status === 200)
      assert.strictEqual((yield* one).status, 200)
      assert.strictEqual((yield* add).status, 200)
    }).pipe(Effect.scoped, Effect.provide(NodeServices.layer))
  )

  it.live("leaves open whether a transaction was committed whose COMMIT it did not answer, and nothing else", () =>
    Effect.gen(function* () {
      const proxy = yield* stallingProxy(yield* freshDatabase)
      const sql = yield* PostgresClient.make({ url: proxy.url, statementMillis: 500 })
      yield* sql`CREATE TABLE written (number INTEGER)`
      const write = sql`INSERT INTO written VALUES (1)`
      const committed = yield* Effect.flip(sql.withTransaction(Effect.andThen(write, proxy.stall)))
      assert.instanceOf(committed.reason.cause, CommitLost)
      yield* proxy.goOn
      assert.deepStrictEqual(yield* sql`SELECT count(*) AS count FROM written`, [{ count: 0 }])
      const alone = yield* Effect.flip(Effect.andThen(proxy.stall, write))
      assert.instanceOf(alone.reason.cause, CommitLost)
      yield* proxy.goOn
      yield* sql`SELECT 1`
      const within = yield* Effect.flip(
        sql.withTransaction(Effect.andThen(sql`SELECT 1`, Effect.andThen(proxy.stall, write)))
      )
      assert.notInstanceOf(within.reason.cause, CommitLost)
      assert.strictEqual(within.reason._tag, "ConnectionError")
    }).pipe(Effect.scoped, Effect.provide(Reactivity.layer))
  )
})
