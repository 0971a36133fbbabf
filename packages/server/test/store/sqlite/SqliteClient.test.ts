import { assert, describe, it, vi } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, References, Stream } from "effect"
import { Migrator, SqlClient } from "effect/sql"
import { readdirSync, readlinkSync, statSync } from "node:fs"
import { DatabaseSync } from "node:sqlite"
import { dialect } from "../../../src/store/SqlDialect.ts"
import { isDiskFull } from "../../../src/store/sqlite/SqliteError.ts"
import * as LockContention from "../../../src/store/sqlite/LockContention.ts"
import * as SqliteStatements from "../../../src/store/sqlite/SqliteStatements.ts"
import { freshPath, openSql, useSql } from "./Store.ts"

const memory = { filename: ":memory:" }

const numbers = (n: number) => (sql: SqlClient.SqlClient) =>
  sql`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${n}) SELECT i FROM n`

const opened = Effect.gen(function* () {
  const filename = yield* freshPath
  const sql = yield* openSql({ filename })
  yield* sql`CREATE TABLE t (x)`
  return { filename, sql }
})

const values = (sql: SqlClient.SqlClient) => sql`SELECT x FROM t ORDER BY x`.values

describe("parameters and values", () => {
  it.effect("keep their types in SQLite", () =>
    useSql(memory, (sql) =>
      Effect.gen(function* () {
        const cases: ReadonlyArray<readonly [input: unknown, type: string, output: unknown]> = [
          [true, "integer", 1],
          [false, "integer", 0],
          [undefined, "null", null],
          [null, "null", null],
          [new Date(0), "text", "1970-01-01T00:00:00.000Z"],
          [42, "integer", 42],
          [1.5, "real", 1.5],
          [7n, "integer", 7],
          ["ünï\0code", "text", "ünï\0code"],
          [new Uint8Array([1, 2]), "blob", new Uint8Array([1, 2])],
          [new Uint8Array([3, 4]).buffer, "blob", new Uint8Array([3, 4])]
        ]
        for (const [input, type, output] of cases) {
          const rows = yield* sql.unsafe("SELECT typeof(?), ?", [input, input]).values
          assert.deepStrictEqual(rows, [[type, output]])
        }
        assert.deepStrictEqual(yield* sql`SELECT 'x' || ${1}`.values, [["x1"]])
      })
    )
  )

  it.effect("are refused without being shown if SQL has no meaning for them", () =>
    useSql(memory, (sql) =>
      Effect.gen(function* () {
        for (const input of [{ secret: 1 }, ["secret"], Symbol("secret"), new Date(Number.NaN), 2n ** 70n]) {
          const error = yield* Effect.flip(sql.unsafe("SELECT ?", [input]))
          assert.strictEqual(error._tag, "SqlError")
          assert.notInclude(error.message, "secret")
        }
      })
    )
  )

  it.effect("come as rows, arrays, raw results and without the cache", () =>
    useSql(memory, (sql) =>
      Effect.gen(function* () {
        yield* sql`CREATE TABLE t (id INTEGER PRIMARY KEY, x)`
        assert.deepStrictEqual(yield* sql`INSERT INTO t (x) VALUES (${1})`, [])
        assert.deepStrictEqual(yield* sql`INSERT INTO t (x) VALUES (2), (3)`.raw, { changes: 2, lastInsertRowid: 3n })
        assert.deepStrictEqual(yield* sql`INSERT INTO t (x) VALUES (4)`.values, [])
        assert.deepStrictEqual(yield* sql`INSERT INTO t (x) VALUES (5) RETURNING x`.values, [[5]])
        const query = sql<{ x: number }>`SELECT x FROM t WHERE id < 3`
        for (const _ of [1, 2]) {
          assert.deepStrictEqual(
            (yield* query).map((row) => row.x),
            [1, 2]
          )
          assert.deepStrictEqual(yield* query.values, [[1], [2]])
          assert.deepStrictEqual(
            (yield* query.unprepared).map((row) => row.x),
            [1, 2]
          )
          assert.deepStrictEqual(yield* query.valuesUnprepared, [[1], [2]])
        }
      })
    )
  )

  it.effect("see a changed table through a cached statement", () =>
    useSql(memory, (sql) =>
      Effect.gen(function* () {
        yield* sql`CREATE TABLE t (x)`
        yield* sql`INSERT INTO t VALUES (1)`
        assert.deepStrictEqual(Object.keys((yield* sql`SELECT * FROM t`)[0] ?? {}), ["x"])
        yield* sql`ALTER TABLE t ADD COLUMN y`
        assert.deepStrictEqual(Object.keys((yield* sql`SELECT * FROM t`)[0] ?? {}), ["x", "y"])
      })
    )
  )

  it("come from cached statements", () => {
    using database = new DatabaseSync(":memory:")
    const prepare = vi.spyOn(database, "prepare")
    const statements = SqliteStatements.make(database)
    const run = (sql: string) => statements.run(sql, [], { arrays: true, bigints: false })
    const prepared = (sql: string) => prepare.mock.calls.filter(([text]) => text === sql).length
    run("SELECT 'rare'")
    for (let i = 0; i < 1000; i++) {
      assert.deepStrictEqual(run(`SELECT ${i}`), [[i]])
      assert.deepStrictEqual(run("SELECT 'often'"), [["often"]])
    }
    run("SELECT 'rare'")
    assert.strictEqual(prepared("SELECT 'often'"), 1)
    assert.strictEqual(prepared("SELECT 'rare'"), 2)
  })

  it.effect("refuse a text with a second statement, which would be skipped silently", () =>
    useSql(memory, (sql) =>
      Effect.gen(function* () {
        const error = yield* Effect.flip(sql`CREATE TABLE a (x); CREATE TABLE b (x)`)
        assert.include(error.message, "several statements")
        assert.deepStrictEqual(yield* sql`SELECT name FROM sqlite_schema`, [])
        yield* sql`CREATE TABLE a (x); -- the end
          /* truly; */ ;`
      })
    )
  )

  it.effect("beyond 2^53: the last rowid breaks neither an update nor a transaction", () =>
    useSql(memory, (sql) =>
      Effect.gen(function* () {
        const big = 2n ** 53n + 1n
        yield* sql`CREATE TABLE t (id INTEGER PRIMARY KEY, x)`
        yield* sql.withTransaction(sql`INSERT INTO t VALUES (${big}, 1)`)
        yield* sql.withTransaction(sql`UPDATE t SET x = 2`)
        assert.deepStrictEqual(yield* sql`UPDATE t SET x = 3`.raw, { changes: 1, lastInsertRowid: big })
        const error = yield* Effect.flip(sql`SELECT id FROM t`)
        assert.include(error.message, "SafeIntegers")
        const rows = yield* sql`SELECT id FROM t`.values.pipe(Effect.provideService(SqlClient.SafeIntegers, true))
        assert.deepStrictEqual(rows, [[big]])
        const streamed = yield* sql`SELECT id FROM t`.stream.pipe(
          Stream.runCollect,
          Effect.provideService(SqlClient.SafeIntegers, true)
        )
        assert.deepStrictEqual(
          streamed.map((row) => Object.values(row)),
          [[big]]
        )
        assert.deepStrictEqual(yield* sql`SELECT x FROM t`.values, [[3]])
      })
    )
  )
})

describe("errors", () => {
  it.effect("report conflicts of a primary key, a rowid and a unique index alike", () =>
    useSql(memory, (sql) =>
      Effect.gen(function* () {
        yield* sql`CREATE TABLE t (email TEXT PRIMARY KEY, n INTEGER UNIQUE)`
        yield* sql`CREATE TABLE u (id INTEGER PRIMARY KEY)`
        yield* sql`INSERT INTO t (rowid, email, n) VALUES (1, 'ann@example.com', 1)`
        yield* sql`INSERT INTO u VALUES (1)`
        const conflicts = [
          [sql`INSERT INTO t VALUES ('ann@example.com', 2)`, "t.email"],
          [sql`INSERT INTO t VALUES ('bob@example.com', 1)`, "t.n"],
          [sql`INSERT INTO t (rowid, email, n) VALUES (1, 'cid@example.com', 3)`, "t.rowid"],
          [sql`INSERT INTO u VALUES (1)`, "u.id"]
        ] as const
        for (const [insert, constraint] of conflicts) {
          const { message, reason } = yield* Effect.flip(insert)
          assert(reason._tag === "UniqueViolation")
          assert.strictEqual(reason.constraint, constraint)
          assert.notInclude(message, "example.com")
        }
        yield* sql`CREATE TABLE v (x NOT NULL)`
        const notNull = yield* Effect.flip(sql`INSERT INTO v VALUES (NULL)`)
        assert.strictEqual(notNull.reason._tag, "ConstraintError")
        assert.include((yield* Effect.flip(sql`SELEC 1`)).message, "syntax error")
      })
    )
  )

  it.effect("report a full disk, after which the store works again", () =>
    Effect.gen(function* () {
      const { sql } = yield* opened
      yield* sql`INSERT INTO t VALUES ('before')`
      yield* sql`PRAGMA max_page_count = 10`
      const write = sql`INSERT INTO t VALUES (${"x".repeat(1_000_000)})`
      const exit = yield* Effect.exit(sql.withTransaction(Effect.andThen(sql`INSERT INTO t VALUES ('half')`, write)))
      assert(Exit.isFailure(exit))
      assert.deepStrictEqual(
        exit.cause.reasons.map((reason) => reason._tag),
        ["Fail"]
      )
      const error = yield* Effect.flip(sql.withTransaction(sql.withTransaction(write)))
      assert.isTrue(isDiskFull(error))
      assert.include(error.message, "full")
      yield* sql`PRAGMA max_page_count = 100000`
      yield* sql.withTransaction(write)
      assert.deepStrictEqual(yield* sql`SELECT length(x) FROM t`.values, [[6], [1_000_000]])
    })
  )

  it.effect("prevent writes outside the transaction after an ignored full disk", () =>
    Effect.gen(function* () {
      const { sql } = yield* opened
      yield* sql`PRAGMA max_page_count = 10`
      const error = yield* sql
        .withTransaction(
          Effect.gen(function* () {
            yield* sql`INSERT INTO t VALUES ('first')`
            yield* Effect.ignore(sql`INSERT INTO t VALUES (${"x".repeat(1_000_000)})`)
            yield* Effect.ignore(sql`INSERT INTO t VALUES ('after')`)
          })
        )
        .pipe(Effect.flip)
      assert.isTrue(isDiskFull(error))
      assert.deepStrictEqual(yield* values(sql), [])
      yield* sql.withTransaction(sql`INSERT INTO t VALUES ('later')`)
      assert.deepStrictEqual(yield* values(sql), [["later"]])
    })
  )

  it.effect("a COMMIT that fails leaves no transaction behind", () =>
    useSql(memory, (sql) =>
      Effect.gen(function* () {
        yield* sql`CREATE TABLE parent (id INTEGER PRIMARY KEY)`
        yield* sql`CREATE TABLE child (id INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`
        const error = yield* Effect.flip(sql.withTransaction(sql`INSERT INTO child VALUES (1)`))
        assert.strictEqual(error.reason._tag, "ConstraintError")
        assert.deepStrictEqual(yield* sql`SELECT * FROM child`, [])
        yield* sql.withTransaction(sql`INSERT INTO parent VALUES (1)`)
      })
    )
  )

  it.effect("a store opened for reading refuses to write, and reads", () =>
    Effect.gen(function* () {
      const { filename, sql } = yield* opened
      yield* sql`INSERT INTO t VALUES (1)`
      const reader = yield* openSql({ filename, readonly: true })
      assert.deepStrictEqual(yield* reader.withTransaction(values(reader)), [[1]])
      assert.include((yield* Effect.flip(reader`INSERT INTO t VALUES (2)`)).message, "readonly")
    })
  )
})

describe("transactions", () => {
  it.effect("roll back to their own start", () =>
    Effect.gen(function* () {
      const { sql } = yield* opened
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO t VALUES (1)`
          yield* sql
            .withTransaction(Effect.andThen(sql`INSERT INTO t VALUES (2)`, Effect.fail("no")))
            .pipe(Effect.ignore)
          yield* sql.withTransaction(sql`INSERT INTO t VALUES (3)`)
        })
      )
      assert.deepStrictEqual(yield* values(sql), [[1], [3]])
      yield* sql
        .withTransaction(sql`DELETE FROM t`)
        .pipe(Effect.andThen(Effect.fail("no")), sql.withTransaction, Effect.ignore)
      assert.deepStrictEqual(yield* values(sql), [[1], [3]])
    })
  )

  it.effect("roll back when they are interrupted", () =>
    Effect.gen(function* () {
      const { sql } = yield* opened
      const written = yield* Deferred.make<void>()
      const fiber = yield* sql`INSERT INTO t VALUES (1)`.pipe(
        Effect.andThen(Deferred.succeed(written, undefined)),
        Effect.andThen(Effect.never),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(written)
      yield* Fiber.interrupt(fiber)
      assert.deepStrictEqual(yield* values(sql), [])
    })
  )

  it.effect("are invisible to statements outside, which do not wait for their end", () =>
    Effect.gen(function* () {
      const { sql } = yield* opened
      const text = "SELECT x FROM t ORDER BY x"
      const asked = [values(sql), Effect.provideService(dialect(sql).ask(text, []), References.TracerEnabled, false)]
      for (const ask of asked) {
        const written = yield* Deferred.make<void>()
        const undone = yield* Deferred.make<void>()
        const transaction = yield* sql`INSERT INTO t VALUES (1)`.pipe(
          Effect.andThen(Deferred.succeed(written, undefined)),
          Effect.andThen(Deferred.await(undone)),
          Effect.andThen(ask),
          Effect.flatMap(Effect.fail),
          sql.withTransaction,
          Effect.flip,
          Effect.forkChild
        )
        yield* Deferred.await(written)
        const outside = yield* Effect.forkChild(ask)
        assert.deepStrictEqual(yield* Fiber.join(outside), [])
        yield* Deferred.succeed(undone, undefined)
        assert.deepStrictEqual(yield* Fiber.join(transaction), [[1]])
      }
    })
  )

  it.effect("of many fibers run one after another", () =>
    Effect.gen(function* () {
      const { sql } = yield* opened
      yield* sql`INSERT INTO t VALUES (0)`
      const add = sql.withTransaction(
        Effect.gen(function* () {
          const [row] = yield* sql<{ x: number }>`SELECT x FROM t`
          yield* Effect.yieldNow
          yield* sql`UPDATE t SET x = ${(row?.x ?? 0) + 1}`
        })
      )
      yield* Effect.all(
        Array.from({ length: 50 }, () => add),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(yield* values(sql), [[50]])
    })
  )

  it.live("of two clients on one thread wait for each other without blocking it", () =>
    Effect.gen(function* () {
      const { filename, sql } = yield* opened
      const contention = LockContention.make()
      const second = yield* openSql({ filename, contention })
      const locked = yield* Deferred.make<void>()
      const first = yield* sql`INSERT INTO t VALUES (1)`.pipe(
        Effect.andThen(Deferred.succeed(locked, undefined)),
        Effect.andThen(Effect.repeat(Effect.yieldNow, { until: contention.hasWaiter })),
        sql.withTransaction,
        Effect.forkChild
      )
      yield* Deferred.await(locked)
      yield* Effect.all([second.withTransaction(second`INSERT INTO t VALUES (2)`), second`INSERT INTO t VALUES (3)`], {
        concurrency: 2
      })
      yield* Fiber.join(first)
      assert.deepStrictEqual(yield* values(sql), [[1], [2], [3]])
    })
  )

  it.live("give up with LockTimeoutError when the time is up", () =>
    Effect.gen(function* () {
      const { filename, sql } = yield* opened
      const second = yield* openSql({ filename, busyTimeout: 100 })
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* sql`INSERT INTO t VALUES (1)`
          for (const write of [second`DELETE FROM t`, second.withTransaction(second`DELETE FROM t`)]) {
            const error = yield* Effect.flip(write)
            assert.strictEqual(error.reason._tag, "LockTimeoutError")
            assert.isTrue(error.isRetryable)
          }
        })
      )
      assert.deepStrictEqual(yield* values(second), [[1]])
    })
  )

  it.effect("carry migrations", () =>
    useSql(memory, (sql) =>
      Effect.gen(function* () {
        const migrate = Migrator.make({})({
          loader: Migrator.fromRecord({ "1_people": Effect.asVoid(sql`CREATE TABLE people (email TEXT)`) })
        }).pipe(Effect.provideService(SqlClient.SqlClient, sql))
        assert.deepStrictEqual(yield* migrate, [[1, "people"]])
        assert.deepStrictEqual(yield* migrate, [])
        assert.deepStrictEqual(yield* sql`SELECT * FROM people`, [])
      })
    )
  )
})

describe("streams", () => {
  for (const count of [0, 1, 499, 500, 501, 1200]) {
    it.effect(`${count} rows, each once`, () =>
      Effect.gen(function* () {
        const { filename, sql } = yield* opened
        yield* sql`INSERT INTO t ${numbers(count)(sql)}`.pipe(Effect.when(Effect.succeed(count > 0)))
        for (const client of [sql, yield* openSql({ filename, readonly: true })]) {
          const rows = yield* client<{ x: number }>`SELECT x FROM t ORDER BY x`.stream.pipe(Stream.runCollect)
          assert.deepStrictEqual(
            rows.map((row) => row.x),
            Array.from({ length: count }, (_, i) => i + 1)
          )
        }
      })
    )
  }

  for (const place of ["file", "memory"]) {
    it.effect(`writing while one is open, in a ${place}`, () =>
      Effect.gen(function* () {
        const filename = place === "file" ? yield* freshPath : ":memory:"
        const sql = yield* openSql({ filename })
        yield* sql`CREATE TABLE t (x)`
        yield* sql`INSERT INTO t ${numbers(600)(sql)}`
        const seen = yield* sql<{ x: number }>`SELECT x FROM t`.stream.pipe(
          Stream.mapEffect((row) => sql.withTransaction(sql`INSERT INTO t VALUES (${row.x + 10_000})`)),
          Stream.runCount
        )
        assert.strictEqual(seen, 600)
        assert.deepStrictEqual(yield* sql`SELECT count(*) FROM t`.values, [[1200]])
      })
    )

    it.effect(`in a transaction one sees what it wrote, in a ${place}`, () =>
      Effect.gen(function* () {
        const filename = place === "file" ? yield* freshPath : ":memory:"
        const sql = yield* openSql({ filename })
        yield* sql`CREATE TABLE t (x)`
        yield* sql`CREATE TABLE copies (x)`
        const count = yield* sql.withTransaction(
          Effect.gen(function* () {
            yield* sql`INSERT INTO t ${numbers(1200)(sql)}`
            return yield* sql<{ x: number }>`SELECT x FROM t`.stream.pipe(
              Stream.mapEffect((row) => sql`INSERT INTO copies VALUES (${row.x})`),
              Stream.take(600),
              Stream.runCount
            )
          })
        )
        assert.strictEqual(count, 600)
        assert.deepStrictEqual(yield* sql`SELECT count(*) FROM copies`.values, [[600]])
        // The read ended with the stream: nothing keeps the WAL from being emptied.
        const checkpoint = yield* sql`PRAGMA wal_checkpoint(TRUNCATE)`.values
        assert.deepStrictEqual(checkpoint, [place === "file" ? [0, 0, 0] : [0, -1, -1]])
      })
    )
  }

  it.effect("that are open keep the WAL from being reused, and only then does it count as long", () =>
    Effect.gen(function* () {
      const { filename, sql } = yield* opened
      const length = 40 * 1024 * 1024
      const { isWalLong } = dialect(sql)
      const writeMuch = sql`INSERT INTO t VALUES (zeroblob(${length}))`
      yield* sql`INSERT INTO t ${numbers(2000)(sql)}`
      assert.isFalse(yield* isWalLong)
      yield* writeMuch
      assert.isAbove(statSync(`${filename}-wal`).size, length)
      assert.isFalse(yield* isWalLong)
      const started = yield* Deferred.make<void>()
      const reading = yield* sql`SELECT rowid FROM t`.stream.pipe(
        Stream.tap(() => Deferred.succeed(started, undefined)),
        Stream.mapEffect(() => Effect.never),
        Stream.runDrain,
        Effect.forkChild
      )
      yield* Deferred.await(started)
      assert.isFalse(yield* isWalLong)
      yield* writeMuch
      assert.isTrue(yield* isWalLong)
      yield* Fiber.interrupt(reading)
      yield* sql`INSERT INTO t VALUES (1)`
      assert.isFalse(yield* isWalLong)
      assert.isAbove(statSync(`${filename}-wal`).size, length)
    })
  )

  it.effect("keep the snapshot while open, and close their connection when interrupted, cut short or failed", () =>
    Effect.gen(function* () {
      const { filename, sql } = yield* opened
      yield* sql`INSERT INTO t ${numbers(2000)(sql)}`
      const checkpoint = Effect.map(sql`PRAGMA wal_checkpoint(TRUNCATE)`.values, (rows) => rows[0]?.[0])
      // SQLite keeps a descriptor for the next connection while another holds locks, hence one more than at first.
      const descriptors = () =>
        process.platform === "linux"
          ? readdirSync("/proc/self/fd").filter((fd) => linkOf(fd)?.startsWith(filename)).length
          : 0
      const linkOf = (fd: string) => {
        try {
          return readlinkSync(`/proc/self/fd/${fd}`)
        } catch {
          return undefined
        }
      }
      const stream = sql`SELECT x FROM t`.stream
      const before = descriptors()
      for (let i = 0; i < 20; i++) {
        const started = yield* Deferred.make<void>()
        const fiber = yield* stream.pipe(
          Stream.tap(() => Deferred.succeed(started, undefined)),
          Stream.mapEffect(() => Effect.never),
          Stream.runDrain,
          Effect.forkChild
        )
        yield* Deferred.await(started)
        yield* sql`INSERT INTO t VALUES (0)`
        assert.strictEqual(yield* checkpoint, 1)
        yield* Fiber.interrupt(fiber)
        assert.strictEqual(yield* checkpoint, 0)
        yield* stream.pipe(Stream.take(1), Stream.runDrain)
        yield* stream.pipe(
          Stream.mapEffect(() => Effect.fail("no")),
          Stream.runDrain,
          Effect.ignore
        )
        assert.strictEqual(yield* checkpoint, 0)
      }
      assert.isAtMost(descriptors(), before + 2)
    })
  )

  it.effect("fail with SqlError, at the start and between rows", () =>
    Effect.gen(function* () {
      const { sql } = yield* opened
      assert.include((yield* Effect.flip(Stream.runDrain(sql`SELEC 1`.stream))).message, "syntax error")
      yield* sql`INSERT INTO t VALUES (1), (${2n ** 60n})`
      const stream = sql<{ x: unknown }>`SELECT x FROM t`.stream
      assert.include((yield* Effect.flip(Stream.runDrain(stream))).message, "SafeIntegers")
      const rows = yield* Effect.provideService(Stream.runCollect(stream), SqlClient.SafeIntegers, true)
      assert.deepStrictEqual(
        rows.map((row) => row.x),
        [1n, 2n ** 60n]
      )
    })
  )

  it.live("let other fibers run", () =>
    Effect.gen(function* () {
      const { sql } = yield* opened
      yield* sql`INSERT INTO t ${numbers(20_000)(sql)}`
      let turns = 0
      yield* Effect.forkChild(
        Effect.forever(
          Effect.andThen(
            Effect.sync(() => turns++),
            Effect.yieldNow
          )
        )
      )
      yield* Stream.runDrain(sql`SELECT x FROM t`.stream)
      assert.isAbove(turns, 20)
    })
  )
})

it.effect("closing updates the statistics of the planner", () =>
  Effect.gen(function* () {
    const filename = yield* freshPath
    yield* useSql({ filename }, (sql) =>
      Effect.gen(function* () {
        yield* sql`CREATE TABLE t (x)`
        yield* sql`CREATE INDEX t_x ON t (x)`
        yield* sql`INSERT INTO t ${numbers(5000)(sql)}`
        yield* sql`SELECT * FROM t WHERE x = 7`
      })
    )
    const database = new DatabaseSync(filename)
    assert.isDefined(database.prepare("SELECT name FROM sqlite_schema WHERE name = 'sqlite_stat1'").get())
    database.close()
  })
)
