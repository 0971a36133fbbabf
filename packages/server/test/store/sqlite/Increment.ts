/** Run as a process of its own: adds one to a counter, in so many transactions. */
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { layer } from "../../../src/store/sqlite/SqliteClient.ts"

const [filename = "", times = "0"] = process.argv.slice(2)

await Effect.gen(function* () {
  const sql = yield* SqlClient.SqlClient
  yield* sql`CREATE TABLE IF NOT EXISTS counter (id INTEGER PRIMARY KEY, n INTEGER NOT NULL)`
  yield* sql`INSERT INTO counter VALUES (1, 0) ON CONFLICT DO NOTHING`
  yield* sql
    .withTransaction(
      Effect.gen(function* () {
        const [row] = yield* sql<{ n: number }>`SELECT n FROM counter`
        yield* Effect.yieldNow
        yield* sql`UPDATE counter SET n = ${(row?.n ?? 0) + 1}`
      })
    )
    .pipe(Effect.repeat({ times: Number(times) - 1 }))
}).pipe(Effect.provide(layer({ filename, busyTimeout: "30 seconds" })), Effect.runPromise)
