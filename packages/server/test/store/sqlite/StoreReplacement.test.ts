import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { chmodSync, existsSync, linkSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { DatabaseSync } from "node:sqlite"
import { isBusy } from "../../../src/store/sqlite/SqliteError.ts"
import { openAlone, replace } from "../../../src/store/sqlite/StoreReplacement.ts"
import { freshPath, openSql, useSql } from "./Store.ts"

const say = (filename: string, word: string) =>
  useSql({ filename }, (sql) => Effect.andThen(sql`CREATE TABLE t (x)`, sql`INSERT INTO t VALUES (${word})`))

const said = (filename: string) => useSql({ filename }, (sql) => sql`SELECT x FROM t`.values)

const attempt = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (cause) {
    return cause
  }
}

/** A store that says "old", beside a database that says "new". */
const oldAndNew = Effect.gen(function* () {
  const path = yield* freshPath
  const names = { path, staged: `${path}.staged`, kept: `${path}.kept` }
  yield* say(path, "old")
  yield* say(names.staged, "new")
  return names
})

describe("a store that is replaced", () => {
  it.effect("must be open in no other connection, however idle", () =>
    Effect.gen(function* () {
      const { path } = yield* oldAndNew
      for (const readonly of [false, true]) {
        const error = yield* Effect.scoped(
          Effect.andThen(openSql({ filename: path, readonly }), Effect.flip(openAlone(path)))
        )
        assert.strictEqual(error._tag, "StoreUnavailable")
        const who = process.platform === "linux" ? `process ${process.pid} (` : "another process"
        assert.include(error.message, who)
        assert.include(error.message, "in use")
      }
      yield* Effect.scoped(openAlone(path))
      assert.deepStrictEqual(yield* said(path), [["old"]])
    })
  )

  it.live("is closed to others meanwhile", () =>
    Effect.gen(function* () {
      const { path } = yield* oldAndNew
      const error = yield* Effect.scoped(
        Effect.andThen(
          openAlone(path),
          Effect.flip(useSql({ filename: path, busyTimeout: "50 millis" }, () => Effect.void))
        )
      )
      assert.include(error.message, "for too long")
      assert.deepStrictEqual(yield* said(path), [["old"]])
    })
  )

  it.effect("keeps its mode and its old content, and nothing else beside it", () =>
    Effect.gen(function* () {
      const names = yield* oldAndNew
      chmodSync(names.path, 0o640)
      yield* Effect.scoped(Effect.flatMap(openAlone(names.path), (database) => replace(database, names)))
      assert.sameMembers(readdirSync(dirname(names.path)), ["roster.db", "roster.db.kept"])
      assert.strictEqual(statSync(names.path).mode & 0o777, 0o640)
      assert.deepStrictEqual(yield* said(names.path), [["new"]])
      assert.deepStrictEqual(yield* said(names.kept), [["old"]])
    })
  )

  it.effect("gives its owner and mode to no file that a link in the place of the copy leads to", () =>
    Effect.gen(function* () {
      for (const link of [symlinkSync, linkSync]) {
        const names = yield* oldAndNew
        const other = `${names.path}.other`
        writeFileSync(other, "of root", { mode: 0o600 })
        chmodSync(names.path, 0o666)
        rmSync(names.staged)
        link(other, names.staged)
        const replaced = Effect.flatMap(openAlone(names.path), (database) => replace(database, names))
        yield* Effect.flip(Effect.scoped(replaced))
        assert.strictEqual(statSync(other).mode & 0o777, 0o600)
        assert.deepStrictEqual(yield* said(names.path), [["old"]])
      }
    })
  )

  it.effect("takes no write of a program that had opened it before and waited", () =>
    Effect.gen(function* () {
      const names = yield* oldAndNew
      const database = new DatabaseSync(names.path)
      // SQLite opens the file, and reads nothing yet.
      const late = new DatabaseSync(names.path)
      database.close()
      yield* Effect.scoped(
        Effect.flatMap(openAlone(names.path), (alone) => {
          assert.isTrue(isBusy(attempt(() => late.prepare("SELECT x FROM t").all())))
          return replace(alone, names)
        })
      )
      assert.deepStrictEqual(
        late
          .prepare("SELECT x FROM t")
          .all()
          .map(({ x }) => x),
        ["old"]
      )
      // So it opens the file again.
      assert.isTrue(isBusy(attempt(() => late.exec("PRAGMA journal_mode = WAL"))))
      assert.instanceOf(
        attempt(() => late.exec("INSERT INTO t VALUES ('lost')")),
        Error
      )
      assert.isFalse(existsSync(`${names.path}-wal`))
      late.close()
      assert.deepStrictEqual(yield* said(names.path), [["new"]])
      assert.deepStrictEqual(yield* said(names.kept), [["old"]])
    })
  )
})
