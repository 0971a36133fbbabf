import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer, Schedule } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { createJob } from "../../../src/jobs/queue/JobQueue.ts"
import * as JobRunner from "../../../src/jobs/worker/JobRunner.ts"
import { StorePolicy } from "../../../src/store/StoreOptions.ts"
import * as Store from "../../../src/store/Store.ts"

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

describe("the runner of jobs", () => {
  it.live.each(Array.from({ length: 5 }, (_, transaction) => transaction))(
    "runs a job at once whose connection breaks before it answers transaction %s",
    (transaction) =>
      Effect.gen(function* () {
        const sql = yield* SqlClient.SqlClient
        yield* createJob({ id: "x", account: "a", kind: "Export", state: "Loading", request: exportRequest })
        const runner = JobRunner.layer().pipe(
          Layer.provide(breaksAfter(transaction)),
          Layer.provide(Layer.succeed(StorePolicy, { allowedSenders: [], allowFileUrl: [] }))
        )
        const began = performance.now()
        yield* sql<{ readonly state: string }>`SELECT state FROM jobs`.pipe(
          Effect.repeat({ schedule: Schedule.spaced("10 millis"), until: ([job]) => job?.state === "Ready" }),
          Effect.timeout("20 seconds"),
          Effect.provide(runner)
        )
        assert.isBelow(performance.now() - began, 20_000, "it waited for its lease")
      }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )
})

const exportRequest = JSON.stringify({ format: "Csv", compression: "None", name: "a.csv", download: "a.csv" })
