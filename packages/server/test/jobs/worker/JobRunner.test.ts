import { once } from "node:events"
import { createServer } from "node:http"
import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schedule, Stream } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { storeParts } from "../../../src/jobs/queue/JobBlobs.ts"
import { createJob } from "../../../src/jobs/queue/JobQueue.ts"
import * as JobRunner from "../../../src/jobs/worker/JobRunner.ts"
import { StorePolicy } from "../../../src/store/StoreOptions.ts"
import * as Store from "../../../src/store/Store.ts"
import { yieldToEventLoop } from "../../../src/threads/Slices.ts"

const lost = new SqlError.SqlError({ reason: new SqlError.ConnectionError({ cause: new Error("it broke") }) })

/** A connection that breaks once before it answers a transaction, which was committed. */
const breaksAfter = (transaction: number) =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.map(SqlClient.SqlClient, (sql) => {
      let transactions = 0
      const withTransaction: SqlClient.SqlClient["withTransaction"] = (effect) =>
        Effect.tap(sql.withTransaction(effect), () =>
          transactions++ === transaction ? Effect.fail(lost) : Effect.void
        )
      return new Proxy(sql, {
        get: (client, name) => (name === "withTransaction" ? withTransaction : Reflect.get(client, name))
      })
    })
  )

/** A client that counts the statements that it is asked for. */
const counting = (asked: { statements: number }) =>
  Layer.effect(
    SqlClient.SqlClient,
    Effect.map(
      SqlClient.SqlClient,
      (sql) =>
        new Proxy(sql, {
          apply: (client, self, given) => {
            asked.statements++
            return Reflect.apply(client, self, given)
          }
        })
    )
  )

describe("the runner of jobs", () => {
  it.live("looks at the queue no more while a file is received and nothing changes", () =>
    Effect.gen(function* () {
      const asked = { statements: 0 }
      yield* createJob({ id: "x", account: "a", kind: "Import", state: "Receiving", request: "{}" })
      yield* Effect.gen(function* () {
        const seen: Array<number> = []
        do {
          for (let turn = 0; turn < 100; turn++) yield* yieldToEventLoop
          seen.push(asked.statements)
        } while (seen.length < 50 && (asked.statements === 0 || seen.at(-2) !== asked.statements))
        assert.isBelow(seen.length, 50, "it looks again and again")
      }).pipe(Effect.provide(JobRunner.layer().pipe(Layer.provide(counting(asked)), Layer.provide(policy))))
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )

  it.live.each(Array.from({ length: 5 }, (_, transaction) => transaction))(
    "runs a job at once whose connection breaks before it answers transaction %s",
    (transaction) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* createJob({ id: "x", account: "a", kind: "Export", state: "Loading", request: exportRequest })
        const runner = JobRunner.layer().pipe(Layer.provide(breaksAfter(transaction)), Layer.provide(policy))
        const began = performance.now()
        yield* sql<{ readonly state: string }>`SELECT state FROM jobs`.pipe(
          Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: ([job]) => job?.state === "Ready" }),
          Effect.timeout("25 seconds"),
          Effect.provide(runner)
        )
        assert.isBelow(performance.now() - began, 20_000, "it waited for its lease")
      }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )

  it.live("gives each account a turn, whatever others ask for, and loses nothing", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const sizes = { a: 150_000, b: 150_000, c: 1 }
      for (const [account, rows] of Object.entries(sizes)) {
        const job = yield* createJob({ id: account, account, kind: "Import", state: "Loading", request: "{}" })
        const emails = Array.from({ length: rows }, (_, row) => `${account}${row}@example.com`)
        yield* storeParts(job, Stream.make(Buffer.from(`Email\n${emails.join("\n")}\n`)))
      }
      yield* createJob({ id: "x", account: "d", kind: "Export", state: "Loading", request: exportRequest })
      const runner = JobRunner.layer({ turn: "1 millis" }).pipe(Layer.provide(policy))
      const jobs = yield* allReady.pipe(Effect.provide(runner))
      const others = jobs.slice(2).map(({ turn }) => turn)
      // One of the long ones was taken up again after the others.
      assert.isAbove(Math.max(...jobs.slice(0, 2).map(({ turn }) => turn)), Math.max(...others))
      assert.deepStrictEqual(
        jobs.map(({ accepted, duplicates }) => [accepted, duplicates]),
        [...Object.values(sizes), 0].map((rows) => [rows, 0])
      )
      const [stored] = yield* sql`SELECT count(*) AS count FROM contacts`
      assert.strictEqual(stored?.["count"], 300_001)
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )

  it.live("lets one of the jobs that would begin anew run to its end, and runs others beside it", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const hang = yield* silentServer
      const request = JSON.stringify({ fileUrl: `http://127.0.0.1:${hang.port}/a.csv` })
      for (const account of ["a", "b"]) {
        yield* createJob({ id: account, account, kind: "Import", state: "Loading", request })
      }
      for (const account of ["c", "d"]) {
        yield* createJob({ id: account, account, kind: "Export", state: "Loading", request: exportRequest })
      }
      const runner = JobRunner.layer({ turn: "1 millis" }).pipe(Layer.provide(policy))
      yield* sql<{ readonly count: number }>`SELECT count(*) AS count FROM jobs WHERE state = 'Ready'`.pipe(
        Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: ([ready]) => ready?.count === 2 }),
        Effect.provide(runner)
      )
      assert.isAtLeast(hang.requests(), 2)
    }).pipe(Effect.scoped, Effect.provide(Store.layer({ filename: ":memory:" })))
  )
})

const policy = Layer.succeed(StorePolicy, { allowedSenders: [], allowFileUrl: ["127.0.0.1"] })

const allReady = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql<{
      readonly state: string
      readonly turn: number
      readonly accepted: number
      readonly duplicates: number
    }>`SELECT state, turn, accepted, duplicates FROM jobs ORDER BY number`
).pipe(
  Effect.repeat({
    schedule: Schedule.spaced("10 millis"),
    until: (jobs) => jobs.every(({ state }) => state === "Ready")
  })
)

/** A server that takes requests and never answers. */
const silentServer = Effect.gen(function* () {
  let requests = 0
  const server = createServer(() => requests++)
  yield* Effect.acquireRelease(
    Effect.promise(() => once(server.listen(0, "127.0.0.1"), "listening")),
    () => Effect.sync(() => (server.closeAllConnections(), server.close()))
  )
  const address = server.address()
  return {
    port: typeof address === "object" ? address?.port : undefined,
    requests: () => requests
  }
})

const exportRequest = JSON.stringify({ format: "Csv", compression: "None", name: "a.csv", download: "a.csv" })
