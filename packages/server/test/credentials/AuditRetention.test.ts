import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { hasWork, removeExpired } from "../../src/jobs/worker/JobCleanup.ts"
import * as Store from "../../src/store/Store.ts"

const day = 24 * 60 * 60
const minute = 60

/** Inserts an entry of an age in seconds, by the clock of the database. */
const entry = Effect.fnUntraced(function* (number: number, outcome: string, age: number) {
  const sql = yield* SqlClient.SqlClient
  yield* sql`
    INSERT INTO audit_entries (number, time, account, actor, actor_name, actor_hint, operation, outcome, details)
    VALUES (${number}, unixepoch() - ${age}, '', 'Unknown', '', '', 'contactsGet', ${outcome}, '{}')`
})

const numbers = Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  const rows = yield* sql<{ readonly number: number }>`SELECT number FROM audit_entries ORDER BY number`
  return rows.map(({ number }) => number)
})

const removeFromOutside = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.flip(sql`DELETE FROM audit_entries`.pipe(Effect.asVoid))
)

const inMemory = Effect.provide(Store.layer({ filename: ":memory:" }), { local: true })

// The real clock: the triggers of the database look at it too.
describe("AuditRetention", () => {
  it.live("S15: refusals go after 90 days and changes after 400, and nobody removes any before", () =>
    Effect.gen(function* () {
      yield* entry(1, "Done", 400 * day)
      yield* entry(2, "Done", 400 * day - minute)
      yield* entry(3, "Unauthorized", 90 * day)
      yield* entry(4, "Unauthorized", 90 * day - minute)
      yield* entry(5, "FurtherRefusals", 91 * day)
      yield* entry(6, "Done", 0)
      assert.include(String((yield* removeFromOutside).reason.cause), "only added to")
      assert.deepStrictEqual(yield* numbers, [1, 2, 3, 4, 5, 6])
      assert.isTrue(yield* hasWork)
      yield* removeExpired
      assert.deepStrictEqual(yield* numbers, [2, 4, 6])
      assert.isFalse(yield* hasWork)
    }).pipe(inMemory)
  )

  it.live("S15: sums of writes go after 400 days, as changes do", () =>
    Effect.gen(function* () {
      yield* entry(1, "Wrote", 400 * day)
      yield* entry(2, "Wrote", 400 * day - 2 * minute)
      assert.include(String((yield* removeFromOutside).reason.cause), "only added to")
      yield* removeExpired
      assert.deepStrictEqual(yield* numbers, [2])
      assert.isFalse(yield* hasWork)
    }).pipe(inMemory)
  )

  it.live("S15: refusals go earlier if there are a hundred thousand newer entries, but not within a day", () =>
    Effect.gen(function* () {
      yield* entry(1, "Done", 2 * day)
      yield* entry(2, "Unauthorized", 2 * day)
      yield* entry(3, "Unauthorized", 2 * day - minute)
      yield* entry(4, "Unauthorized", day - minute)
      yield* entry(100_001, "Unauthorized", 0)
      assert.isFalse(yield* hasWork)
      yield* entry(100_002, "Unauthorized", 0)
      assert.isTrue(yield* hasWork)
      yield* removeExpired
      assert.deepStrictEqual(yield* numbers, [1, 3, 4, 100_001, 100_002])
      yield* entry(200_000, "Unauthorized", 0)
      yield* removeExpired
      assert.deepStrictEqual(yield* numbers, [1, 4, 100_001, 100_002, 200_000])
    }).pipe(inMemory)
  )
})
