import { assert, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { copyTo } from "../../../src/store/sqlite/StoreCopy.ts"
import { freshPath, openSql, useSql } from "./Store.ts"

const copyOf = (filename: string, target: string) => copyTo(filename, { draft: `${target}.partial`, target })

it.live("a copy holds everything written before it began, during further writes", () =>
  Effect.gen(function* () {
    const filename = yield* freshPath
    const copy = `${filename}.backup`
    const sql = yield* openSql({ filename })
    yield* sql`CREATE TABLE t (x)`
    yield* sql`INSERT INTO t
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100000) SELECT i FROM n`
    const writer = yield* sql`INSERT INTO t VALUES (0)`.pipe(
      Effect.andThen(Effect.yieldNow),
      Effect.forever,
      Effect.forkChild
    )
    yield* copyOf(filename, copy)
    yield* Fiber.interrupt(writer)
    assert.strictEqual(statSync(copy).mode & 0o777, 0o600)
    assert.isFalse(existsSync(`${copy}.partial`))
    const restored = yield* openSql({ filename: copy })
    assert.deepStrictEqual(yield* restored`PRAGMA integrity_check`.values, [["ok"]])
    assert.deepStrictEqual(yield* restored`SELECT count(*) FROM t WHERE x > 0`.values, [[100_000]])
  })
)

it.live("a copy replaces no file and needs its folder", () =>
  Effect.gen(function* () {
    const filename = yield* freshPath
    yield* openSql({ filename })
    const taken = `${filename}.backup`
    writeFileSync(taken, "precious")
    assert.strictEqual((yield* Effect.flip(copyOf(filename, taken)))._tag, "StoreUnavailable")
    assert.strictEqual(readFileSync(taken, "utf8"), "precious")
    assert.isFalse(existsSync(`${taken}.partial`))
    assert.match((yield* Effect.flip(copyOf(filename, `${filename}/x`))).message, /no folder/)
  })
)

it.live("a damaged index fails the copy", () =>
  Effect.gen(function* () {
    const filename = yield* freshPath
    yield* useSql({ filename }, (sql) =>
      Effect.andThen(
        sql`CREATE TABLE t (x)`,
        Effect.andThen(sql`CREATE INDEX i ON t (x)`, sql`INSERT INTO t VALUES ('word')`)
      )
    )
    const bytes = readFileSync(filename)
    bytes.write("lost", bytes.lastIndexOf("word"))
    writeFileSync(filename, bytes)
    const error = yield* Effect.flip(copyOf(filename, `${filename}.backup`))
    assert.strictEqual(error._tag, "StoreDamaged", error.message)
    assert.include(error.message, filename)
    assert.deepStrictEqual(readdirSync(dirname(filename)), ["roster.db"])
  })
)
