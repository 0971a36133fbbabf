import { assert, describe, it } from "@effect/vitest"
import { Deferred, Effect, Exit, Fiber, Option, Scheduler } from "effect"
import type { SqlClient } from "effect/sql"
import { readFileSync } from "node:fs"
import { sharingCommit } from "../../../src/store/sqlite/GroupCommit.ts"
import { freshPath, openSql } from "./Store.ts"

const opened = Effect.gen(function* () {
  const filename = yield* freshPath
  const sql = yield* openSql({ filename })
  yield* sql`CREATE TABLE parents (id INTEGER PRIMARY KEY)`
  yield* sql`
    CREATE TABLE t (x INTEGER PRIMARY KEY, y TEXT, parent INTEGER REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)`
  return { filename, sql, reader: yield* openSql({ filename, readonly: true }) }
})

const insert = (sql: SqlClient.SqlClient, x: number) => sql`INSERT INTO t (x) VALUES (${x})`

const shared = <A, E, R>(sql: SqlClient.SqlClient, effect: Effect.Effect<A, E, R>) =>
  sharingCommit(sql.withTransaction(effect))

const numbers = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ readonly x: number }>`SELECT x FROM t ORDER BY x`, (rows) => rows.map(({ x }) => x))

/** The commits in the WAL: frames that say how large the database is after them. (SQLite file format, 4.1) */
const commits = (filename: string): number => {
  const wal = readFileSync(`${filename}-wal`)
  const frame = 24 + wal.readUInt32BE(8)
  let count = 0
  for (let at = 32; at + frame <= wal.length; at += frame) if (wal.readUInt32BE(at + 4) !== 0) count += 1
  return count
}

const atOnce = { concurrency: "unbounded" } as const

/**
 * A write that ruins the commit, with one before and one after it that share it. On a busy machine each may come late for
 * the others' commit: then it has one of its own, and they are written again.
 */
const ruined = <E>(sql: SqlClient.SqlClient, reader: SqlClient.SqlClient, ruin: Effect.Effect<unknown, E>) =>
  Effect.gen(function* () {
    yield* sql`DELETE FROM t`
    const writes: ReadonlyArray<Effect.Effect<unknown, unknown>> = [insert(sql, 1), ruin, insert(sql, 3)]
    const exits = yield* Effect.forEach(writes, (write) => Effect.exit(shared(sql, write)), atOnce)
    const written = exits.flatMap((exit, index) => (Exit.isSuccess(exit) ? [index + 1] : []))
    assert.notInclude(written, 2)
    assert.deepStrictEqual(yield* numbers(reader), written)
    return written
  }).pipe(Effect.repeat({ until: (written) => !written.includes(1) }))

describe("transactions with a shared commit", () => {
  it.effect("share one commit when they are concurrent, and each is durable when it succeeds", () =>
    Effect.gen(function* () {
      const { filename, reader, sql } = yield* opened
      const before = commits(filename)
      const all = Array.from({ length: 50 }, (_, x) => x)
      yield* Effect.forEach(
        all,
        (x) =>
          Effect.andThen(
            shared(sql, insert(sql, x)),
            Effect.map(numbers(reader), (seen) => assert.include(seen, x))
          ),
        atOnce
      )
      assert.deepStrictEqual(yield* numbers(reader), all)
      assert.isBelow(commits(filename) - before, 25)
    })
  )

  it.effect("commit one by one by default", () =>
    Effect.gen(function* () {
      const { filename, sql } = yield* opened
      const before = commits(filename)
      yield* Effect.forEach([1, 2, 3, 4, 5], (x) => sql.withTransaction(insert(sql, x)), atOnce)
      assert.strictEqual(commits(filename) - before, 5)
    })
  )

  it.effect("roll back alone when they fail", () =>
    Effect.gen(function* () {
      const { reader, sql } = yield* opened
      const exits = yield* Effect.forEach(
        [1, 2, 3, 4, 5, 6],
        (x) => Effect.exit(shared(sql, Effect.andThen(insert(sql, x), x % 2 === 0 ? Effect.fail("no") : Effect.void))),
        atOnce
      )
      assert.deepStrictEqual(exits.map(Exit.isSuccess), [true, false, true, false, true, false])
      assert.deepStrictEqual(yield* numbers(reader), [1, 3, 5])
    })
  )

  it.effect("roll back alone when they are interrupted", () =>
    Effect.gen(function* () {
      const { reader, sql } = yield* opened
      const written = yield* Deferred.make<void>()
      const first = yield* Effect.forkChild(shared(sql, insert(sql, 1)))
      const cut = yield* insert(sql, 2).pipe(
        Effect.andThen(Deferred.succeed(written, undefined)),
        Effect.andThen(Effect.never),
        (effect) => shared(sql, effect),
        Effect.forkChild
      )
      const last = yield* Effect.forkChild(shared(sql, insert(sql, 3)))
      yield* Deferred.await(written)
      yield* Fiber.interrupt(cut)
      yield* Fiber.join(first)
      yield* Fiber.join(last)
      assert.deepStrictEqual(yield* numbers(reader), [1, 3])
    })
  )

  it.effect("all fail without a trace when the commit fails", () =>
    Effect.gen(function* () {
      const { reader, sql } = yield* opened
      const orphan = sql`INSERT INTO t (x, parent) VALUES (2, 9)`
      const left = yield* ruined(sql, reader, orphan)
      yield* shared(sql, insert(sql, 4))
      assert.deepStrictEqual(yield* numbers(reader), [...left, 4])
    })
  )

  it.effect("all fail when the disk is full, and the store works again when there is room", () =>
    Effect.gen(function* () {
      const { reader, sql } = yield* opened
      yield* sql`PRAGMA max_page_count = 20`
      const large = (x: number) => sql`INSERT INTO t (x, y) VALUES (${x}, ${"y".repeat(200_000)})`
      // Whoever swallows the error writes nothing all the same.
      const left = yield* ruined(sql, reader, Effect.andThen(Effect.ignore(large(2)), Effect.ignore(insert(sql, 20))))
      yield* sql`PRAGMA max_page_count = 1000`
      yield* shared(sql, large(5))
      assert.deepStrictEqual(yield* numbers(reader), [...left, 5])
    })
  )

  it.effect("do not wait for a transaction with its own commit", () =>
    Effect.gen(function* () {
      const { reader, sql } = yield* opened
      const first = yield* Effect.forkChild(shared(sql, insert(sql, 1)))
      yield* Effect.yieldNow
      yield* sql.withTransaction(
        Effect.andThen(
          insert(sql, 2),
          Effect.map(numbers(reader), (seen) => assert.deepStrictEqual(seen, [1]))
        )
      )
      yield* Fiber.join(first)
      assert.deepStrictEqual(yield* numbers(reader), [1, 2])
    })
  )

  // A fiber is put off after some thousands of steps, wherever it is then; here after a few, so that it is so everywhere.
  it.live.each([3, 4, 5, 6, 7])(
    "leave the store to others where they are put off after %d steps and interrupted",
    (steps) =>
      Effect.gen(function* () {
        const { sql } = yield* opened
        const ends = <A, E>(effect: Effect.Effect<A, E>) =>
          Effect.map(
            Effect.timeoutOption(Effect.forkDetach(effect).pipe(Effect.flatMap(Fiber.await)), "5 seconds"),
            (exit) => assert.isTrue(Option.isSome(exit))
          )
        const write = (x: number) => (x % 4 < 2 ? shared(sql, insert(sql, x)) : sql.withTransaction(insert(sql, x)))
        for (let turns = 0; turns < 100; turns++) {
          const cut = yield* write(2 * turns).pipe(
            Effect.provideService(Scheduler.MaxOpsBeforeYield, steps),
            Effect.forkDetach
          )
          yield* Effect.repeat(Effect.yieldNow, { times: turns / 2 })
          yield* ends(Fiber.interrupt(cut))
          yield* ends(write(2 * turns + 1))
        }
      })
  )
})
