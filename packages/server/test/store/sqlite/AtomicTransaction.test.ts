import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { SqlClient } from "effect/sql"
import * as SqliteClient from "../../../src/store/sqlite/SqliteClient.ts"
import { inTransaction, inAtomicTransaction } from "../../../src/store/sqlite/GroupCommit.ts"

const setUp = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE notes (text TEXT NOT NULL)`
  const write = (text: string) => inTransaction(sql, sql`INSERT INTO notes VALUES (${text})`)
  const written = Effect.map(sql<{ readonly text: string }>`SELECT text FROM notes`, (rows) =>
    rows.map(({ text }) => text)
  )
  /** Two writes that belong together, of which the second is refused. */
  const torn = inTransaction(sql, Effect.andThen(write("half"), sql`INSERT INTO notes VALUES (${null})`))
  return { sql, write, written, torn }
})

const store = SqliteClient.layer({ filename: ":memory:" })

describe("an atomic transaction", () => {
  it.effect("rolls back as a whole when a part of it fails", () =>
    Effect.gen(function* () {
      const { sql, torn, write, written } = yield* setUp
      const exit = yield* Effect.exit(inAtomicTransaction(sql, Effect.andThen(write("first"), torn)))
      assert.isTrue(Exit.isFailure(exit))
      assert.deepStrictEqual(yield* written, [])
      yield* inAtomicTransaction(sql, Effect.andThen(write("first"), write("second")))
      assert.deepStrictEqual(yield* written, ["first", "second"])
    }).pipe(Effect.provide(store))
  )

  it.effect("differs from a transaction with savepoints, whose parts roll back alone", () =>
    Effect.gen(function* () {
      const { sql, torn, write, written } = yield* setUp
      yield* Effect.ignore(torn)
      assert.deepStrictEqual(yield* written, [])
      yield* sql.withTransaction(Effect.andThen(write("first"), Effect.ignore(torn)))
      assert.deepStrictEqual(yield* written, ["first"])
    }).pipe(Effect.provide(store))
  )
})
