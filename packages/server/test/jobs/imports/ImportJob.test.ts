import { assert, describe, it } from "@effect/vitest"
import { Clock, Context, Effect, Layer, Option, Stream } from "effect"
import { SqlClient, Statement } from "effect/sql"
import { importJob, transactionMillis } from "../../../src/jobs/imports/ImportJob.ts"
import { storeParts } from "../../../src/jobs/queue/JobBlobs.ts"
import { claimJob, createJob } from "../../../src/jobs/queue/JobQueue.ts"
import { WriteFairness } from "../../../src/store/sqlite/LockContention.ts"
import * as Store from "../../../src/store/Store.ts"
import { StorePolicy } from "../../../src/store/StoreOptions.ts"

/** A clock that moves on by so many milliseconds whenever a duration is measured. */
const ticking = (clock: Clock.Clock, millis: number): Clock.Clock => {
  let nanos = 0n
  const monotonicTimeNanosUnsafe = () => (nanos += BigInt(millis) * 1_000_000n)
  return {
    currentTimeMillisUnsafe: () => clock.currentTimeMillisUnsafe(),
    currentTimeMillis: clock.currentTimeMillis,
    currentTimeNanosUnsafe: () => clock.currentTimeNanosUnsafe(),
    currentTimeNanos: clock.currentTimeNanos,
    monotonicTimeNanosUnsafe,
    monotonicTimeNanos: Effect.sync(monotonicTimeNanosUnsafe),
    sleep: (duration) => clock.sleep(duration)
  }
}

/** Begins the import of a file that arrives in pieces. */
const begun = Effect.fnUntraced(function* (...pieces: ReadonlyArray<string>) {
  const number = yield* createJob({ id: "1", account: "", kind: "Import", state: "Loading", request: "{}" })
  yield* storeParts(number, Stream.fromIterable(pieces.map((piece) => Buffer.from(piece))))
  return (yield* claimJob("lease")) ?? assert.fail("there is no job")
})

/** Imports a file of so many rows, and gives the rows and the milliseconds of each transaction. */
const imported = Effect.fnUntraced(function* (rows: number) {
  const file = `Email,FirstName\n${Array.from({ length: rows }, (_, row) => `p${row}@example.com,Ann\n`).join("")}`
  const sql = yield* SqlClient.SqlClient
  const job = yield* begun(file)
  const { monotonicTimeNanosUnsafe } = yield* Clock.Clock
  const transactions: Array<{ readonly rows: number; readonly millis: number }> = []
  let [before, began] = [0, monotonicTimeNanosUnsafe()]
  const look = Effect.map(sql<{ readonly rows_done: number }>`SELECT rows_done FROM jobs`, ([row]) => {
    const [done, now] = [row?.rows_done ?? 0, monotonicTimeNanosUnsafe()]
    transactions.push({ rows: done - before, millis: Number(now - began) / 1e6 })
    before = done
    began = now
  })
  const fairness = { hasWaiter: () => false, yieldToWriters: Effect.asVoid(Effect.orDie(look)) }
  yield* Effect.provideService(importJob.run(job), WriteFairness, fairness)
  const [ended] = yield* sql`SELECT state, accepted FROM jobs`
  assert.deepStrictEqual({ ...ended }, { state: "Ready", accepted: rows })
  return transactions
})

const inMemory = Layer.merge(
  Store.layer({ filename: ":memory:" }),
  Layer.succeed(StorePolicy, { allowedSenders: [], allowFileUrl: [] })
)

const onClock = Effect.fnUntraced(function* (millis: number, rows: number) {
  return yield* Effect.provideService(imported(rows), Clock.Clock, ticking(yield* Clock.Clock, millis))
}, Effect.provide(inMemory))

describe("runImport", () => {
  it.effect("reads no part of its file within a transaction", () =>
    Effect.gen(function* () {
      const { transactionService } = yield* SqlClient.SqlClient
      const job = yield* begun("Email\n", ...Array.from({ length: 5 }, () => `p@example.com${" ".repeat(300_000)}\n`))
      const reads: Array<boolean> = []
      const watch: Statement.Transformer = (statement, _, fiber) =>
        Effect.sync(() => {
          const [query] = statement.compile()
          if (query.includes("SELECT content FROM job_parts")) {
            reads.push(Option.isSome(Context.getOption(fiber.context, transactionService)))
          }
          return statement
        })
      yield* Effect.provideService(importJob.run(job), Statement.CurrentTransformer, watch)
      // The first part is read for the header, too.
      assert.deepStrictEqual(
        reads,
        Array.from({ length: 6 }, () => false)
      )
    }).pipe(Effect.provide(inMemory))
  )

  it.effect("takes one transaction where no time goes by", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* onClock(0, 1500), [{ rows: 1500, millis: 0 }])
    })
  )

  it.effect("ends a transaction when its time is up, and takes several batches in each", () =>
    Effect.gen(function* () {
      const batch = transactionMillis / 5
      const transactions = yield* onClock(batch, 4000)
      assert.isAbove(transactions.length, 1)
      // The clock moves on at its start and when it is looked at, too.
      for (const { millis } of transactions) assert.isAtMost(millis, transactionMillis + 2 * batch)
      assert.isAbove(transactions[0]?.millis ?? 0, 2 * batch)
    })
  )

  it.effect("takes fewer and fewer rows where a batch takes the time of a transaction, and never none", () =>
    Effect.gen(function* () {
      const rows = (yield* onClock(transactionMillis, 100)).map((transaction) => transaction.rows)
      assert.deepStrictEqual(
        rows,
        rows.toSorted((a, b) => b - a)
      )
      assert.strictEqual(rows.at(-1), 1)
    })
  )
})
