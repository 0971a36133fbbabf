import { assert, describe, it } from "@effect/vitest"
import { readContacts } from "@roster/domain"
import { Clock, Effect, Layer, Schema, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { readRow, runImport, transactionMillis } from "../../../src/jobs/imports/ImportJob.ts"
import { storeParts } from "../../../src/jobs/queue/JobBlobs.ts"
import { claimJob, createJob } from "../../../src/jobs/queue/JobQueue.ts"
import { WriteFairness } from "../../../src/store/sqlite/LockContention.ts"
import * as Store from "../../../src/store/Store.ts"
import { StorePolicy } from "../../../src/store/StoreOptions.ts"

const Header = Schema.Literals([
  "FirstName,LastName,city",
  "a\0b,FirstName,c",
  '"a\0b",LastName,"c"',
  "Source,b,1",
  "b,B,"
])
const Cell = Schema.Array(Schema.Literals(["a", "é", "😀", " ", "\0", "\u0001", "\u007f", "\\", "'", '"', "\ufeff"]))
const Line = Schema.Tuple([Schema.Literals(["ann@example.com", "ann", "ann@xn--bcher-kva.example"]), Cell, Cell, Cell])

describe("readRow", () => {
  it.effect.prop(
    "gives the same for a row on the fast path as by its cells",
    [Header, Schema.Array(Line)],
    ([header, lines]) =>
      Effect.gen(function* () {
        const rows = lines.map(([email, ...cells]) => [email, ...cells.map((cell) => cell.join(""))].join(","))
        const file = new TextEncoder().encode([`Email,${header}`, ...rows].join("\n"))
        for (const row of yield* Stream.runCollect(readContacts(Stream.make(file)))) {
          const { cells, contact, header, line } = row
          assert.deepStrictEqual(readRow(row), readRow({ cells, contact, header, line }))
        }
      })
  )
})

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

/** Imports a file of so many rows, and gives the rows that were done after each transaction. */
const imported = Effect.fnUntraced(function* (rows: number) {
  const file = `Email,FirstName\n${Array.from({ length: rows }, (_, row) => `p${row}@example.com,Ann\n`).join("")}`
  const sql = yield* SqlClient.SqlClient
  const number = yield* createJob({ id: "1", account: "", kind: "Import", state: "Loading", request: "{}" })
  yield* storeParts(number, Stream.make(new TextEncoder().encode(file)))
  const job = yield* claimJob("lease")
  if (job === undefined) return assert.fail("there is no job")
  const done: Array<number> = []
  const look = Effect.map(sql<{ readonly rows_done: number }>`SELECT rows_done FROM jobs`, ([row]) =>
    done.push(row?.rows_done ?? 0)
  )
  const fairness = { hasWaiter: () => false, yieldToWriters: Effect.asVoid(Effect.orDie(look)) }
  yield* Effect.provideService(runImport(job), WriteFairness, fairness)
  const [ended] = yield* sql`SELECT state, accepted FROM jobs`
  assert.deepStrictEqual({ ...ended }, { state: "Ready", accepted: rows })
  return done
})

describe("runImport", () => {
  it.effect.each([
    ["on a clock that stands still is one", 0, 1500, [1500]],
    ["ends when its time is up", transactionMillis / 50, 47_000, [32 + 64 + 128 + 256 + 512 + 45 * 1000, 47_000]],
    ["that is slow at once has fewer and fewer rows", transactionMillis, 1500, [32, 48, 56, 60, 62, 63, 64]]
  ] as const)("a transaction %s", ([, millis, rows, expected]) =>
    Effect.gen(function* () {
      const done = yield* Effect.provideService(imported(rows), Clock.Clock, ticking(yield* Clock.Clock, millis))
      assert.deepStrictEqual(done.slice(0, expected.length), [...expected])
      assert.strictEqual(done.at(-1), rows)
    }).pipe(
      Effect.provide(
        Layer.merge(
          Store.layer({ filename: ":memory:" }),
          Layer.succeed(StorePolicy, { allowedSenders: [], allowFileUrl: [] })
        )
      )
    )
  )
})
