import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { execFile } from "node:child_process"
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync
} from "node:fs"
import { dirname, join } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { promisify } from "node:util"
import { isDamage, isReadOnly } from "../../../src/store/sqlite/SqliteError.ts"
import { isSupported } from "../../../src/store/sqlite/StoreFile.ts"
import * as LockContention from "../../../src/store/sqlite/LockContention.ts"
import { freshPath, openSql, useSql } from "./Store.ts"

const fill = (filename: string, rows = 200, length = 100) =>
  useSql({ filename }, (sql) =>
    sql.withTransaction(
      Effect.gen(function* () {
        yield* sql`CREATE TABLE people (email TEXT PRIMARY KEY, name TEXT)`
        yield* sql`INSERT INTO people
        WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${rows})
        SELECT i || '@example.com', ${"x".repeat(length)} FROM n`
      })
    )
  )

const count = (filename: string) =>
  useSql({ filename }, (sql) => Effect.map(sql<{ n: number }>`SELECT count(*) AS n FROM people`, (rows) => rows[0]?.n))

const refusal = (filename: string) => Effect.flip(useSql({ filename }, () => Effect.void))

const mode = (path: string) => statSync(path).mode & 0o777

describe("a new store", () => {
  it.effect("is readable by its owner alone, with its -wal and -shm", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      const sql = yield* openSql({ filename })
      yield* sql`CREATE TABLE t (x)`
      assert.deepStrictEqual(readdirSync(dirname(filename)).toSorted(), ["roster.db", "roster.db-shm", "roster.db-wal"])
      for (const suffix of ["", "-wal", "-shm"]) assert.strictEqual(mode(filename + suffix), 0o600)
    })
  )

  it.effect("may begin as a file of zero bytes", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      writeFileSync(filename, "")
      yield* fill(filename)
      assert.strictEqual(yield* count(filename), 200)
    })
  )

  it.effect("leaves one file behind when it is closed", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      yield* fill(filename)
      assert.deepStrictEqual(readdirSync(dirname(filename)), ["roster.db"])
    })
  )

  it.effect("is always a file, whatever its name", () =>
    Effect.gen(function* () {
      assert.match((yield* refusal("")).message, /is a directory/)
      assert.match((yield* refusal(`file:${yield* freshPath}?mode=memory`)).message, /no folder/)
    })
  )
})

describe("settings", () => {
  const settings = (sql: Effect.Success<ReturnType<typeof openSql>>) =>
    Effect.gen(function* () {
      const read: Record<string, unknown> = {}
      for (const name of Object.keys(expected)) {
        const rows = yield* sql.unsafe(`PRAGMA ${name}`).values
        read[name] = rows[0]?.[0]
      }
      return read
    })

  const expected = {
    journal_mode: "wal",
    synchronous: 2,
    foreign_keys: 1,
    busy_timeout: 2,
    wal_autocheckpoint: 8000,
    cache_size: -16_384
  }

  it.effect("S60 hold when the file is opened again", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      assert.deepStrictEqual(yield* useSql({ filename }, settings), expected)
      assert.deepStrictEqual(yield* useSql({ filename }, settings), expected)
    })
  )

  it.effect("hold in memory, where there is no journal to write", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* useSql({ filename: ":memory:" }, settings), { ...expected, journal_mode: "memory" })
    })
  )

  for (const [name, weaker] of [
    ["synchronous", "synchronous = NORMAL"],
    ["foreign_keys", "foreign_keys = OFF"],
    ["busy_timeout", "busy_timeout = 0"],
    ["journal_mode", "journal_mode = DELETE"]
  ] as const) {
    it.effect(`S60 that did not take are refused: ${weaker}`, () =>
      Effect.gen(function* () {
        const filename = yield* freshPath
        yield* fill(filename)
        const prepare = (database: DatabaseSync) => database.exec(`PRAGMA ${weaker}`)
        const error = yield* Effect.flip(useSql({ filename, prepare }, () => Effect.void))
        assert.strictEqual(error._tag, "StoreUnavailable")
        assert.include(error.message, `SQLite keeps the setting ${name}`)
        assert.strictEqual(yield* count(filename), 200)
      })
    )
  }

  it("S65 need a version of SQLite without the WAL-reset bug", () => {
    assert.isTrue(isSupported(process.versions["sqlite"] ?? ""))
    assert.isTrue(isSupported("3.51.3"))
    assert.isTrue(isSupported("3.100.0"))
    assert.isFalse(isSupported("3.51.2"))
    assert.isFalse(isSupported("3.9.10"))
  })
})

describe("a damaged file is refused and left as it is", () => {
  const flip = (offset: number) => (bytes: Buffer) => {
    bytes.writeUInt8(bytes.readUInt8(offset) ^ 0x40, offset)
    return bytes
  }
  const damages: Record<string, (bytes: Buffer) => Buffer> = {
    "a bit of the magic": flip(3),
    "a bit of the page size": flip(16),
    "a bit of the read version": flip(19),
    "a bit of the reserved space": flip(20),
    "a bit of the page count": flip(28),
    "a bit of the schema format": flip(47),
    "a bit of the schema's root": flip(100),
    "a zeroed page": (bytes) => bytes.fill(0, 8192, 12288),
    "a cut in the first page": (bytes) => bytes.subarray(0, 600),
    "a cut at half": (bytes) => bytes.subarray(0, bytes.length / 2),
    "a cut by one byte of the header": (bytes) => bytes.subarray(0, 99),
    "one byte": (bytes) => bytes.subarray(0, 1),
    "random bytes": (bytes) => Buffer.from(bytes.map((_, i) => (i * 7919 + 13) & 0xff)),
    text: () => Buffer.from("Email,Name\nann@example.com,Ann\n".repeat(300))
  }
  for (const [name, damage] of Object.entries(damages)) {
    it.effect(name, () =>
      Effect.gen(function* () {
        const filename = yield* freshPath
        yield* fill(filename)
        const bytes = damage(readFileSync(filename))
        writeFileSync(filename, bytes)
        const error = yield* refusal(filename)
        assert.strictEqual(error._tag, "StoreDamaged")
        assert.include(error.message, filename)
        assert.include(error.message, "roster restore FILE")
        assert.isTrue(readFileSync(filename).equals(bytes))
      })
    )
  }

  it.effect("a write version that would make the store read-only", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      yield* fill(filename)
      const bytes = flip(18)(readFileSync(filename))
      writeFileSync(filename, bytes)
      assert.strictEqual((yield* refusal(filename))._tag, "StoreUnavailable")
      assert.isTrue(readFileSync(filename).equals(bytes))
    })
  )

  it.effect("an empty file beside a WAL that holds data, which SQLite would delete", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      const wal = yield* useSql({ filename }, (sql) =>
        Effect.map(sql`CREATE TABLE t (x)`, () => readFileSync(`${filename}-wal`))
      )
      assert.isAbove(wal.length, 0)
      truncateSync(filename)
      writeFileSync(`${filename}-wal`, wal)
      assert.strictEqual((yield* refusal(filename))._tag, "StoreDamaged")
      assert.isTrue(readFileSync(`${filename}-wal`).equals(wal))
    })
  )

  it.effect(
    "beyond 64 MiB a query meets what the opening does not",
    () =>
      Effect.gen(function* () {
        const filename = yield* freshPath
        yield* fill(filename, 24_000, 3000)
        const bytes = readFileSync(filename)
        assert.isAbove(bytes.length, 64 * 1024 * 1024)
        writeFileSync(filename, bytes.fill(0, 20 * 4096, 2000 * 4096))
        const error = yield* Effect.flip(useSql({ filename }, (sql) => sql`SELECT count(name) FROM people`))
        assert(error._tag === "SqlError")
        assert.isTrue(isDamage(error.reason.cause))
      }),
    60_000
  )
})

describe("a path that cannot be used names itself and what to do", () => {
  const unusable = (filename: string, advice: RegExp) =>
    Effect.gen(function* () {
      const error = yield* refusal(filename)
      assert.strictEqual(error._tag, "StoreUnavailable")
      assert.include(error.message, filename)
      assert.match(error.message, advice)
    })

  it.effect("a directory", () => Effect.flatMap(freshPath, (path) => unusable(dirname(path), /is a directory/)))

  it.effect("a missing folder, which stays missing", () =>
    Effect.gen(function* () {
      const filename = join(dirname(yield* freshPath), "missing", "roster.db")
      yield* unusable(filename, /no folder .*missing\. Create it/)
      assert.isFalse(existsSync(dirname(filename)))
    })
  )

  it.effect("a file where the folder should be", () =>
    Effect.gen(function* () {
      const file = yield* freshPath
      writeFileSync(file, "")
      yield* unusable(join(file, "roster.db"), /no folder/)
    })
  )

  it.effect("a missing file, opened for reading", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      const error = yield* Effect.flip(useSql({ filename, readonly: true }, () => Effect.void))
      assert.match(error.message, /no such file/)
      assert.isFalse(existsSync(filename))
    })
  )

  // Permissions do not bind root, so root steps down for the test.
  const asNobody = <A, E, R>(effect: Effect.Effect<A, E, R>) =>
    process.geteuid?.() === 0
      ? Effect.acquireUseRelease(
          Effect.sync(() => process.seteuid?.(65534)),
          () => effect,
          () => Effect.sync(() => process.seteuid?.(0))
        )
      : effect

  it.effect("a file that may only be read", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      yield* fill(filename)
      chmodSync(filename, 0o444)
      chmodSync(dirname(filename), 0o777)
      yield* asNobody(unusable(filename, /Change the permissions/))
    })
  )

  it.effect("a folder that may not be written", () =>
    Effect.gen(function* () {
      const filename = join(dirname(yield* freshPath), "locked", "roster.db")
      mkdirSync(dirname(filename))
      chmodSync(dirname(filename), 0o555)
      chmodSync(dirname(dirname(filename)), 0o755)
      yield* asNobody(unusable(filename, /Change the permissions/))
    })
  )

  it.live("a lock that is released in time, on the same thread too, is no problem", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      yield* fill(filename)
      const other = new DatabaseSync(filename)
      other.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE; UPDATE people SET name = 'y'")
      const counting = yield* Effect.forkChild(count(filename), { startImmediately: true })
      assert.isUndefined(counting.pollUnsafe())
      other.exec("COMMIT")
      assert.strictEqual(yield* Fiber.join(counting), 200)
      other.close()
    })
  )

  it.live("a file that another process has locked", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      const other = new DatabaseSync(filename)
      other.exec("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE; CREATE TABLE t (x)")
      const error = yield* Effect.flip(useSql({ filename, busyTimeout: 50 }, () => Effect.void))
      other.close()
      assert.strictEqual(error._tag, "StoreUnavailable")
      assert.match(error.message, /locked/)
    })
  )
})

describe("several processes", () => {
  it.live(
    "create one file at the same time and lose no write",
    () =>
      Effect.gen(function* () {
        const filename = yield* freshPath
        const script = join(import.meta.dirname, "Increment.ts")
        const run = Effect.promise(() => promisify(execFile)(process.execPath, [script, filename, "25"]))
        yield* Effect.all([run, run, run, run], { concurrency: "unbounded" })
        const rows = yield* useSql({ filename }, (sql) => sql`SELECT n FROM counter`.values)
        assert.deepStrictEqual(rows, [[100]])
      }),
    60_000
  )

  it.effect.skipIf(process.platform !== "linux")("keep their locks when another client opens and closes the file", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      const locks = () => {
        const inode = statSync(filename).ino
        // Number, kind, mode, access, process, file, first and last byte. Other devices have files of the same number.
        return readFileSync("/proc/locks", "utf8")
          .split("\n")
          .filter((line) => line.includes(` ${process.pid} `) && line.includes(`:${inode} `))
          .map((line) => line.replace(/^\d+: /, ""))
          .toSorted()
      }
      const sql = yield* openSql({ filename })
      yield* sql`CREATE TABLE t (x)`
      const held = locks()
      assert.isNotEmpty(held)
      yield* useSql({ filename }, (second) => second`SELECT * FROM t`)
      assert.deepStrictEqual(locks(), held)
    })
  )
})

describe("a sync that failed", () => {
  it.effect("S62 stops every connection of the process that shares the lock contention, and no other", () =>
    Effect.gen(function* () {
      const filename = yield* freshPath
      const contention = LockContention.make()
      const own = yield* openSql({ filename, contention })
      yield* own`CREATE TABLE t (x)`
      // As another thread has it.
      const other = yield* openSql({ filename, contention: LockContention.make(contention.shared) })
      const stranger = yield* openSql({ filename })
      yield* other`INSERT INTO t VALUES (1)`
      contention.reportSyncFailure()
      for (const sql of [own, other]) {
        assert.isTrue(isReadOnly(yield* Effect.flip(sql`INSERT INTO t VALUES (2)`)))
        assert.deepStrictEqual(yield* sql`SELECT x FROM t`.values, [[1]])
      }
      yield* stranger`INSERT INTO t VALUES (3)`
    })
  )
})
