/** The client of PostgreSQL against a real server: what it repeats, what it does not, and what it tells. */
import { assert, it } from "@effect/vitest"
import { ContactsService, EmailAddress } from "@roster/domain"
import { SqlServices } from "@roster/server"
import { Deferred, Effect, Exit, Fiber, Redacted, Stream } from "effect"
import { Reactivity } from "effect/reactivity"
import { SqlClient, SqlError } from "effect/sql"
import { connect, createServer, type Socket } from "node:net"
import { latestMigration, migrateTo } from "../../../server/src/store/Migrations.ts"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { CommitLost } from "../../../server/src/store/postgres/PostgresError.ts"
import { ConnectionUse, withoutRepeat } from "../../../server/src/store/postgres/PostgresOptions.ts"
import * as Store from "../../../server/src/store/Store.ts"
import { amount } from "../../src/simulation/LongRun.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

const reactivity = Reactivity.layer

const tables = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) => sql`
    SELECT table_name AS name, column_name AS detail, data_type || is_nullable AS type FROM information_schema.columns
    WHERE table_schema = 'public'
    UNION ALL SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT event_object_table, trigger_name, action_statement FROM information_schema.triggers
    ORDER BY 1, 2, 3`
)

/** A number that transactions add to. */
const withCounter = Effect.fnUntraced(function* (sql: SqlClient.SqlClient) {
  yield* sql`CREATE TABLE counters (name TEXT PRIMARY KEY, number BIGINT NOT NULL)`
  yield* sql`INSERT INTO counters VALUES ('a', 0), ('b', 0)`
})

const numbers = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ readonly number: number }>`SELECT number FROM counters ORDER BY name`, (rows) =>
    rows.map(({ number }) => number)
  )

const add = (sql: SqlClient.SqlClient, name: string) =>
  sql`UPDATE counters SET number = number + 1 WHERE name = ${name} RETURNING number`

/** Passes bytes on, and breaks the connection once the server was sent a text; or sends another text in place of it. */
const cutAfter = Effect.fnUntraced(function* (url: Redacted.Redacted<string>, text: string, instead?: string) {
  const to = new URL(Redacted.value(url))
  const { hostname, port } = to
  const sockets = new Set<Socket>()
  let cuts = 0
  const server = createServer((client) => {
    const upstream = connect(Number(port), hostname)
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on("error", () => {})
      socket.on("close", () => {
        client.destroy()
        upstream.destroy()
      })
    }
    upstream.on("data", (bytes) => client.write(bytes))
    client.on("data", (bytes) => {
      if (cuts > 0 || !bytes.includes(text)) return void upstream.write(bytes)
      cuts++
      if (instead !== undefined) {
        return void upstream.write(Buffer.from(bytes.toString("latin1").replaceAll(text, instead), "latin1"))
      }
      client.destroy()
      // The server reads what was sent before the end.
      upstream.end(bytes)
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
  return { url: Redacted.make(to.href), cuts: () => cuts }
})

describePostgres("the client of PostgreSQL", () => {
  it.live("runs each migration, and those that follow it", () =>
    Effect.gen(function* () {
      const ofNew = yield* Effect.provide(tables, Store.layerPostgres({ url: yield* freshDatabase }))
      assert.isAbove(ofNew.length, 100)
      for (let migration = 1; migration <= latestMigration; migration += amount({ ci: 4, long: 1 })) {
        const url = yield* freshDatabase
        yield* Effect.provide(migrateTo(migration), PostgresClient.layer({ url }))
        assert.deepStrictEqual(yield* Effect.provide(tables, Store.layerPostgres({ url })), ofNew)
      }
    }).pipe(Effect.scoped)
  )

  it.live("opens a new database by two processes at once", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const opened = Effect.provide(tables, Store.layerPostgres({ url }))
      const [one, ...others] = yield* Effect.all([opened, opened, opened, opened], { concurrency: "unbounded" })
      for (const other of others) assert.deepStrictEqual(other, one)
    }).pipe(Effect.scoped)
  )

  it.live("repeats both transactions of a deadlock until both are done", () =>
    Effect.gen(function* () {
      const sql = yield* PostgresClient.make({ url: yield* freshDatabase })
      yield* withCounter(sql)
      const met = yield* Deferred.make<void>()
      let begun = 0
      let attempts = 0
      const both = (first: string, second: string) =>
        sql.withTransaction(
          Effect.gen(function* () {
            attempts++
            yield* add(sql, first)
            if (++begun === 2) yield* Deferred.succeed(met, undefined)
            yield* Deferred.await(met)
            yield* add(sql, second)
          })
        )
      yield* Effect.all([both("a", "b"), both("b", "a")], { concurrency: 2 })
      assert.deepStrictEqual(yield* numbers(sql), [2, 2])
      // On a busy machine they can meet once more.
      assert.isAtLeast(attempts, 3)
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("repeats a transaction whose conflict became another error on its way", () =>
    Effect.gen(function* () {
      const sql = yield* PostgresClient.make({ url: yield* freshDatabase })
      yield* withCounter(sql)
      const conflict = sql`DO 'BEGIN RAISE EXCEPTION ''conflict'' USING ERRCODE = ''serialization_failure''; END'`
      let attempts = 0
      const transaction = Effect.gen(function* () {
        yield* add(sql, "a")
        if (++attempts < 3) yield* Effect.mapError(conflict, () => "another error" as const)
      })
      yield* sql.withTransaction(transaction)
      assert.deepStrictEqual(yield* numbers(sql), [1, 0])
      assert.strictEqual(attempts, 3)
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("gives up after ten conflicts, and repeats nothing that failed for another reason", () =>
    Effect.gen(function* () {
      const sql = yield* PostgresClient.make({ url: yield* freshDatabase })
      let attempts = 0
      const failing = (state: string) =>
        sql.withTransaction(
          Effect.andThen(
            Effect.sync(() => attempts++),
            sql.unsafe(`DO 'BEGIN RAISE EXCEPTION ''no'' USING ERRCODE = ''${state}''; END'`)
          )
        )
      const conflict = yield* Effect.flip(failing("serialization_failure"))
      assert.strictEqual(conflict.reason._tag, "SerializationError")
      assert.strictEqual(attempts, PostgresClient.maximumTransactionAttempts)
      attempts = 0
      yield* Effect.flip(failing("raise_exception"))
      assert.strictEqual(attempts, 1)
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("gives its connection to others while it waits for a lock, and is done when it is free", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const holder = yield* PostgresClient.make({ url })
      yield* withCounter(holder)
      // With one that is kept for short calls there is one for all others.
      const sql = yield* PostgresClient.make({ url, maxConnections: 2, acquireTimeout: "1 minute" }, 1)
      const isHeld = yield* Deferred.make<void>()
      const release = yield* Deferred.make<void>()
      yield* Effect.forkScoped(
        holder.withTransaction(
          add(holder, "a").pipe(
            Effect.andThen(Deferred.succeed(isHeld, undefined)),
            Effect.andThen(Deferred.await(release))
          )
        )
      )
      yield* Deferred.await(isHeld)
      let attempts = 0
      const counted = Effect.andThen(
        Effect.sync(() => attempts++),
        add(sql, "a")
      )
      const waiting = yield* Effect.forkChild(
        Effect.all([sql.withTransaction(counted), add(sql, "a")], { concurrency: 2 }),
        { startImmediately: true }
      )
      const other = Effect.provideService(add(sql, "b"), ConnectionUse, { account: "other", isShort: false })
      yield* Effect.repeat(other, { until: () => attempts >= 3 })
      yield* Deferred.succeed(release, undefined)
      yield* Fiber.join(waiting)
      const [ofA = 0] = yield* numbers(holder)
      assert.strictEqual(ofA, 3)
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("uses no connection again whose ROLLBACK failed", () =>
    Effect.gen(function* () {
      const { cuts, url } = yield* cutAfter(yield* freshDatabase, "ROLLBACK", "ROLLBOCK")
      const sql = yield* PostgresClient.make({ url, maxConnections: 1 })
      yield* withCounter(sql)
      const failed = yield* Effect.exit(sql.withTransaction(Effect.andThen(add(sql, "a"), Effect.fail("no"))))
      assert.isTrue(Exit.isFailure(failed))
      assert.strictEqual(cuts(), 1)
      assert.deepStrictEqual(yield* numbers(sql), [0, 0])
      yield* sql.withTransaction(add(sql, "b"))
      assert.deepStrictEqual(yield* numbers(sql), [0, 1])
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("survives the loss of its connection before a commit, and of an idle one", () =>
    Effect.gen(function* () {
      const sql = yield* PostgresClient.make({ url: yield* freshDatabase, maxConnections: 1 })
      yield* withCounter(sql)
      let attempts = 0
      const transaction = Effect.gen(function* () {
        yield* add(sql, "a")
        if (++attempts === 1) yield* sql`SELECT pg_terminate_backend(pg_backend_pid())`
      })
      yield* sql.withTransaction(transaction)
      assert.deepStrictEqual(yield* numbers(sql), [1, 0])
      yield* Effect.ignore(sql`SELECT pg_terminate_backend(pg_backend_pid())`)
      assert.deepStrictEqual(yield* numbers(sql), [1, 0])
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live(
    "fails a transaction that is not repeated with the loss of its connection, not with that of its ROLLBACK",
    () =>
      Effect.gen(function* () {
        const sql = yield* PostgresClient.make({ url: yield* freshDatabase })
        yield* withCounter(sql)
        const lost = sql`SELECT pg_terminate_backend(pg_backend_pid())`
        const error = yield* Effect.flip(withoutRepeat(sql.withTransaction(Effect.andThen(add(sql, "a"), lost))))
        assert.strictEqual(error.reason._tag, "ConnectionError")
        assert.isTrue(error.isRetryable)
        assert.deepStrictEqual(yield* numbers(sql), [0, 0])
      }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live.each(["SAVEPOINT", "INSERT", "ROLLBACK TO", "RELEASE", "number + 10"])(
    "loses its connection at %s beside a conflict that was recovered from, and is retried or says so",
    (statement) =>
      Effect.gen(function* () {
        const direct = yield* freshDatabase
        const checked = yield* PostgresClient.make({ url: direct })
        yield* withCounter(checked)
        const transaction = (sql: SqlClient.SqlClient) =>
          sql.withTransaction(
            Effect.gen(function* () {
              yield* add(sql, "a")
              yield* Effect.catchIf(
                sql.withTransaction(sql`INSERT INTO counters VALUES ('a', 1)`),
                ({ reason }) => reason._tag === "UniqueViolation",
                () => add(sql, "b")
              )
              yield* sql`UPDATE counters SET number = number + 10`
            })
          )
        const once = yield* cutAfter(direct, statement)
        const repeating = yield* PostgresClient.make({ url: once.url })
        yield* transaction(repeating)
        assert.deepStrictEqual([once.cuts(), ...(yield* numbers(checked))], [1, 11, 11])
        const job = yield* cutAfter(direct, statement)
        const sql = yield* PostgresClient.make({ url: job.url })
        const error = yield* Effect.flip(withoutRepeat(transaction(sql)))
        assert.strictEqual(error.reason._tag, "ConnectionError")
        assert.deepStrictEqual(yield* numbers(checked), [11, 11])
      }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("gives the refusal of a transaction whose ROLLBACK was lost, or says that its connection was", () =>
    Effect.gen(function* () {
      const refused = (sql: SqlClient.SqlClient) =>
        Effect.flip(sql.withTransaction(Effect.andThen(sql`SELECT 1`, Effect.fail("no" as const))))
      const { cuts, url } = yield* cutAfter(yield* freshDatabase, "ROLLBACK")
      assert.strictEqual(yield* refused(yield* PostgresClient.make({ url })), "no")
      const job = yield* cutAfter(yield* freshDatabase, "ROLLBACK")
      const error = yield* withoutRepeat(refused(yield* PostgresClient.make({ url: job.url })))
      assert.strictEqual(error === "no" ? error : error.reason._tag, "ConnectionError")
      assert.deepStrictEqual([cuts(), job.cuts()], [1, 1])
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("fails a stream whose connection breaks with its loss", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const sql = yield* PostgresClient.make({ url })
      const other = yield* PostgresClient.make({ url })
      const ended = other`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND pid <> pg_backend_pid()`
      const rows = sql`SELECT number, repeat('x', 100) FROM generate_series(1, 20000) AS numbers (number)`.stream
      const error = yield* Effect.flip(Stream.runForEachArray(rows, () => ended))
      assert.strictEqual(error.reason._tag, "ConnectionError")
      assert.isTrue(error.isRetryable)
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("says of a COMMIT whose answer was lost that nobody knows, and does not repeat it", () =>
    Effect.gen(function* () {
      const direct = yield* freshDatabase
      const { cuts, url } = yield* cutAfter(direct, "COMMIT")
      const sql = yield* PostgresClient.make({ url })
      yield* withCounter(sql)
      let attempts = 0
      const error = yield* Effect.flip(
        sql.withTransaction(
          Effect.andThen(
            Effect.sync(() => attempts++),
            add(sql, "a")
          )
        )
      )
      assert.instanceOf(error.reason.cause, CommitLost)
      assert.deepStrictEqual([attempts, cuts()], [1, 1])
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("answers OutcomeUnknown for an add whose COMMIT was lost", () =>
    Effect.gen(function* () {
      const direct = yield* freshDatabase
      // The tables are there before the proxy counts.
      yield* Effect.scoped(Effect.provide(tables, Store.layerPostgres({ url: direct })))
      const { url } = yield* cutAfter(direct, "COMMIT")
      const error = yield* Effect.flip(
        Effect.flatMap(ContactsService, (contacts) =>
          contacts.add([{ email: EmailAddress.make("ann@example.com") }])
        ).pipe(Effect.provide(SqlServices.layerPostgres({ postgres: { url } })))
      )
      assert.strictEqual(error._tag === "ServiceError" ? error.reason._tag : error._tag, "OutcomeUnknown")
    }).pipe(Effect.scoped)
  )

  it.live("fails fast when all connections are in use, and when a statement takes too long", () =>
    Effect.gen(function* () {
      const url = yield* freshDatabase
      const options = { url, maxConnections: 1, acquireTimeout: "1 second" as const, statementMillis: 1500 }
      const sql = yield* PostgresClient.make(options)
      const held = yield* Deferred.make<void>()
      const holder = yield* Effect.forkScoped(
        sql.withTransaction(Effect.andThen(Deferred.succeed(held, undefined), Effect.never))
      )
      yield* Effect.raceFirst(Deferred.await(held), Fiber.join(holder))
      const full = yield* Effect.flip(sql`SELECT 1`)
      assert.strictEqual(String(full.reason.cause), "PoolExhausted: all connections to PostgreSQL are in use")
      yield* Fiber.interrupt(holder)
      const slow = yield* Effect.flip(sql`SELECT pg_sleep(10)`)
      assert.strictEqual(slow.reason._tag, "StatementTimeoutError")
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("quotes no value in the error of a statement", () =>
    Effect.gen(function* () {
      const sql = yield* PostgresClient.make({ url: yield* freshDatabase })
      yield* sql`CREATE TABLE people (email TEXT PRIMARY KEY, age INTEGER)`
      yield* sql`INSERT INTO people VALUES ('ann@example.com', 1)`
      const taken = yield* Effect.flip(sql`INSERT INTO people VALUES ('ann@example.com', 1)`)
      const noNumber = yield* Effect.flip(sql`SELECT 'ann@example.com'::int`)
      assert.isTrue(SqlError.isSqlError(taken))
      assert.strictEqual(taken.reason._tag, "UniqueViolation")
      for (const { message, reason } of [taken, noNumber]) {
        const shown = [message, String(reason.cause), JSON.stringify(reason), JSON.stringify(reason.cause)].join("\n")
        assert.notInclude(shown, "ann@example.com")
      }
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )

  it.live("reads whole numbers as numbers, and refuses those that are none", () =>
    Effect.gen(function* () {
      const sql = yield* PostgresClient.make({ url: yield* freshDatabase })
      const [row] = yield* sql`SELECT ${2 ** 53 - 1} AS largest, count(*) AS counted, ARRAY[1::bigint] AS list`
      assert.deepStrictEqual(row, { largest: 2 ** 53 - 1, counted: 1, list: [1] })
      yield* Effect.flip(sql`SELECT 9007199254740993 AS beyond`)
    }).pipe(Effect.scoped, Effect.provide(reactivity))
  )
})
