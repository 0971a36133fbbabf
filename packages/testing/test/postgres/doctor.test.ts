/** What `roster doctor` says of a database that lacks something: each is made so first. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { checkPostgres, type PostgresFinding, type PostgresOptions } from "@roster/server"
import { Effect, Layer, Redacted } from "effect"
import { Reactivity } from "effect/reactivity"
import { connect, createServer, type Socket } from "node:net"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import * as Store from "../../../server/src/store/Store.ts"
import { servePlace } from "../durability/KillableServe.ts"
import { runRoster } from "../durability/RosterCommand.ts"
import { ShiftedClock } from "../jobs/ShiftedClock.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

/** A database, and a way to change it. */
const database = Effect.gen(function* () {
  const url = yield* freshDatabase
  const sql = yield* PostgresClient.make({ url })
  const run = (...statements: ReadonlyArray<string>) =>
    Effect.forEach(statements, (statement) => sql.unsafe(statement), { discard: true })
  return { url, run, name: new URL(Redacted.value(url)).pathname.slice(1) }
})

/** The findings that are not good, by their check. */
const lacking = (options: PostgresOptions) =>
  Effect.map(checkPostgres(options), (findings) =>
    Object.fromEntries(
      findings.flatMap(({ check, detail, result }) =>
        // Those that the servers of tests lack on purpose.
        result === "ok" || check === "fsync" || check === "superuser" ? [] : [[check, `${result}: ${detail}`]]
      )
    )
  )

/** A user of its own, who may do nothing but connect. */
const asUser = Effect.fnUntraced(function* ({ name, run, url }: Effect.Success<typeof database>) {
  const user = `user_${name}`
  const password = crypto.randomUUID()
  yield* Effect.acquireRelease(run(`CREATE ROLE ${user} LOGIN PASSWORD '${password}'`), () =>
    Effect.ignore(run(`REASSIGN OWNED BY ${user} TO CURRENT_USER`, `DROP OWNED BY ${user}`, `DROP ROLE ${user}`))
  )
  const address = new URL(Redacted.value(url))
  address.username = user
  address.password = ""
  return { user, options: { url: Redacted.make(address.href), password: Redacted.make(password) } }
})

/** What ends an answer outside of a transaction. */
const isIdle = Buffer.from([0x5a, 0, 0, 0, 5, 0x49])

/** A pooler in transaction mode: a client has a session for a transaction, the one that was given back last. */
const transactionPooler = Effect.fnUntraced(function* (url: Redacted.Redacted<string>) {
  const to = new URL(Redacted.value(url))
  const { hostname, port } = to
  const free: Array<Socket> = []
  /** The client that has a session. */
  const clients = new Map<Socket, Socket>()
  const sockets = new Set<Socket>()
  const noted = (socket: Socket) => {
    sockets.add(socket.on("error", () => {}))
    return socket
  }
  const server = createServer((client) => {
    // Each logs in by a session of its own.
    const session = noted(connect(Number(port), hostname))
    clients.set(session, noted(client))
    session.on("data", (bytes: Buffer) => {
      clients.get(session)?.write(bytes)
      if (bytes.subarray(-isIdle.length).equals(isIdle)) {
        clients.delete(session)
        free.push(session)
      }
    })
    client.on("data", (bytes) => {
      const [held] = [...clients].find(([, other]) => other === client) ?? [free.pop()]
      if (held === undefined) return
      clients.set(held, client)
      held.write(bytes)
    })
  })
  yield* Effect.acquireRelease(
    Effect.callback<void>((resume) => void server.listen(0, "127.0.0.1", () => resume(Effect.void))),
    () =>
      Effect.sync(() => {
        for (const socket of sockets) socket.destroy()
        server.close()
      })
  )
  const address = server.address()
  to.port = `${typeof address === "object" ? address?.port : 0}`
  return Redacted.make(to.href)
})

const inDatabase = <A, E, R>(test: Effect.Effect<A, E, R>) =>
  test.pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer]))

describePostgres("doctor, on PostgreSQL, finds", () => {
  it.live("nothing amiss before and after its first use", () =>
    Effect.gen(function* () {
      const { url } = yield* database
      assert.deepStrictEqual(yield* lacking({ url }), {})
      yield* Effect.scoped(Layer.build(Store.layerPostgres({ url })))
      assert.deepStrictEqual(yield* lacking({ url }), {})
    }).pipe(inDatabase)
  )

  it.live(
    "how private the connection is, whether commits wait for the disk, and whether its user may do everything",
    () =>
      Effect.gen(function* () {
        const { name, run, url } = yield* database
        const { options } = yield* asUser({ name, run, url })
        const all = (options: PostgresOptions) =>
          Effect.map(checkPostgres(options), (findings) => new Map(findings.map((finding) => [finding.check, finding])))
        const found = yield* all({ url })
        assert.deepInclude(found.get("tls"), { result: "ok", detail: "without TLS, on this machine" })
        assert.strictEqual(found.get("fsync")?.result, "warning")
        assert.strictEqual(found.get("superuser")?.result, "warning")
        assert.strictEqual((yield* all(options)).get("superuser")?.result, "ok")
        const query = new URL(Redacted.value(url))
        query.searchParams.set("sslmod", "disable")
        const warned = (yield* all({ url: Redacted.make(query.href) })).get("tls")
        assert.deepInclude(warned, { result: "warning" })
        assert.include(warned?.detail, "the parameter sslmod")
      }).pipe(inDatabase)
  )

  it.live("that a pooler gives each transaction another session, and the service does not start behind it", () =>
    Effect.gen(function* () {
      const url = yield* transactionPooler((yield* database).url)
      const { sessions } = yield* lacking({ url })
      assert.include(sessions, "failed: a pooler gives each transaction another session")
      const refused = yield* Effect.flip(Effect.scoped(Layer.build(Store.layerPostgres({ url }))))
      assert.include(refused.message, "pool_mode = session")
    }).pipe(inDatabase)
  )

  it.live("that there is no database of this name", () =>
    Effect.gen(function* () {
      const { url } = yield* database
      const address = new URL(Redacted.value(url))
      address.pathname = "/nowhere"
      assert.deepStrictEqual(yield* lacking({ url: Redacted.make(address.href) }), {
        database: `failed: postgres://${address.host}/nowhere: there is no database of this name`
      })
    }).pipe(inDatabase)
  )

  it.live("that PostgreSQL is too old, by the version that it names", () =>
    Effect.gen(function* () {
      const { name, run, url } = yield* database
      yield* run(
        "CREATE SCHEMA old",
        `CREATE FUNCTION old.current_setting(text) RETURNS text LANGUAGE sql AS
          $$SELECT CASE $1 WHEN 'server_version' THEN '13.22' ELSE pg_catalog.current_setting($1) END$$`,
        `ALTER DATABASE ${name} SET search_path = old, pg_catalog`
      )
      assert.deepStrictEqual(yield* lacking({ url }), { version: "failed: PostgreSQL 13.22: Roster needs 14 or newer" })
    }).pipe(inDatabase)
  )

  it.live("that the encoding is not UTF-8", () =>
    Effect.gen(function* () {
      const { name, run, url } = yield* database
      const latin = `${name}_latin`
      yield* Effect.acquireRelease(
        run(`CREATE DATABASE ${latin} ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0`),
        () => Effect.ignore(run(`DROP DATABASE ${latin} WITH (FORCE)`))
      )
      const address = new URL(Redacted.value(url))
      address.pathname = `/${latin}`
      assert.deepStrictEqual(yield* lacking({ url: Redacted.make(address.href) }), {
        encoding: "failed: LATIN1: create the database with ENCODING 'UTF8'"
      })
    }).pipe(inDatabase)
  )

  it.live("that the language of the triggers is missing", () =>
    Effect.gen(function* () {
      const { run, url } = yield* database
      yield* run("DROP EXTENSION plpgsql")
      assert.deepStrictEqual(yield* lacking({ url }), {
        extensions: "failed: plpgsql is missing, which keeps the audit trail: CREATE EXTENSION plpgsql"
      })
    }).pipe(inDatabase)
  )

  it.live("that the database takes no writes", () =>
    Effect.gen(function* () {
      const { name, run, url } = yield* database
      yield* run(`ALTER DATABASE ${name} SET default_transaction_read_only = on`)
      assert.deepStrictEqual(yield* lacking({ url }), {
        writes: "failed: it is a replica or read-only: name the primary"
      })
    }).pipe(inDatabase)
  )

  it.live("which right the user lacks, and nothing once its advice was followed", () =>
    Effect.gen(function* () {
      const { name, run, url } = yield* database
      const { options, user } = yield* asUser({ name, run, url })
      yield* run("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
      const place = yield* servePlace
      const doctor = runRoster(place, ["doctor"], {
        environment: {
          ROSTER_DATABASE_URL: Redacted.value(options.url),
          ROSTER_DATABASE_PASSWORD: Redacted.value(options.password)
        }
      })
      const told = yield* doctor
      assert.strictEqual(told.code, 8)
      assert.include(told.stdout, "its user may not create tables: GRANT CREATE ON SCHEMA public TO that user")
      yield* run(`GRANT CREATE ON SCHEMA public TO ${user}`)
      assert.deepStrictEqual(yield* lacking(options), {})

      // The tables of another user.
      yield* Effect.scoped(Layer.build(Store.layerPostgres({ url })))
      assert.deepStrictEqual(yield* lacking(options), {
        rights:
          "failed: its user may not read and write the table account_locks: " +
          "GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO that user, or make it their owner"
      })
      yield* run(`GRANT SELECT, INSERT, UPDATE ON ALL TABLES IN SCHEMA public TO ${user}`)
      assert.deepStrictEqual(Object.keys(yield* lacking(options)), ["rights"])
      yield* run(
        `GRANT DELETE ON ALL TABLES IN SCHEMA public TO ${user}`,
        `REVOKE CREATE ON SCHEMA public FROM ${user}`
      )
      assert.deepStrictEqual(yield* lacking(options), {})
      // Its processes then count wrong keys each alone.
      yield* run("DROP TABLE wrong_keys")
      yield* Effect.scoped(Layer.build(Store.layerPostgres(options)))
      yield* run("DELETE FROM migrations WHERE migration_id = (SELECT max(migration_id) FROM migrations)")
      assert.include((yield* lacking(options))["rights"], "upgrade them as their owner")

      yield* run(`ALTER ROLE ${user} SET search_path = nowhere`)
      assert.deepStrictEqual(yield* lacking(options), {
        rights: "failed: there is no schema for its tables: CREATE SCHEMA public AUTHORIZATION that user"
      })
    }).pipe(inDatabase)
  )

  it.live("that the clocks differ, and that the tables are of a later version", () =>
    Effect.gen(function* () {
      const { run, url } = yield* database
      const clock = yield* ShiftedClock
      const found = (findings: ReadonlyArray<PostgresFinding>) => findings.find(({ check }) => check === "clock")
      assert.strictEqual(found(yield* checkPostgres({ url }))?.result, "ok")
      yield* clock.advance("1 minute")
      const { detail, result } = found(yield* checkPostgres({ url })) ?? {}
      assert.strictEqual(result, "warning")
      assert.match(detail ?? "", /^this machine is \d+ s ahead of the database$/)
      yield* clock.advance("-1 minute")

      yield* Effect.scoped(Layer.build(Store.layerPostgres({ url })))
      yield* run("INSERT INTO migrations (migration_id, name) VALUES (1000, 'later')")
      const lacks = yield* lacking({ url })
      assert.match(
        lacks["tables"] ?? "",
        /^failed: at step 1000, and this version of Roster knows \d+: use a newer one$/
      )
    }).pipe(Effect.provide(ShiftedClock.layer), inDatabase)
  )
})
