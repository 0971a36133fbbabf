import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { TestClock } from "effect/testing"
import {
  advanceJob,
  claimJob,
  createJob,
  endJob,
  releaseJobs,
  requeueJob,
  requeueJobs,
  renewLease,
  maximumJobAttempts
} from "../../../src/jobs/queue/JobQueue.ts"
import * as Store from "../../../src/store/Store.ts"

const store = Store.layer({ filename: ":memory:" })

const hour = 60 * 60 * 1000

/** Asks for a job of each name, whose first letter is the account. */
const asked = (...ids: ReadonlyArray<string>) =>
  Effect.forEach(ids, (id) =>
    createJob({ id, account: id.slice(0, 1), kind: "Export", state: "Loading", request: "{}" })
  )

const taken = Effect.fnUntraced(function* (lease: string) {
  return (yield* claimJob(lease)) ?? assert.fail("there is no job to take")
})

const reached = (rows: number) => ({ rows_done: rows, accepted: 0, rejected: 0 })

const attempts = Effect.flatMap(SqlClient.SqlClient, (sql) =>
  Effect.map(sql<{ readonly attempts: number }>`SELECT attempts FROM jobs`, ([job]) => job?.attempts)
)

describe("the queue of jobs", () => {
  it.effect("lets the accounts take turns, and keeps the order of the jobs of one account", () =>
    Effect.gen(function* () {
      yield* asked("a1", "a2", "a3", "b1", "b2", "c1")
      const order: Array<string> = []
      for (let job = yield* claimJob("w"); job !== undefined; job = yield* claimJob("w")) {
        order.push(job.id)
        yield* endJob(job, "Ready")
        // An account that comes later does not wait for those that came before.
        if (job.id === "b1") yield* asked("d1")
      }
      assert.deepStrictEqual(order, ["a1", "b1", "c1", "d1", "a2", "b2", "a3"])
    }).pipe(Effect.provide(store))
  )

  it.effect("gives several workers jobs of several accounts", () =>
    Effect.gen(function* () {
      yield* asked("a1", "a2", "b1")
      const first = yield* taken("v")
      assert.strictEqual(first.id, "a1")
      assert.strictEqual((yield* taken("w")).id, "b1")
      assert.isUndefined(yield* claimJob("x"))
      yield* endJob(first, "Ready")
      assert.strictEqual((yield* taken("x")).id, "a2")
    }).pipe(Effect.provide(store))
  )

  it.effect("counts how often a worker dies before a job gets further than ever before", () =>
    Effect.gen(function* () {
      yield* asked("a1")
      for (let death = 1; death <= maximumJobAttempts; death++) {
        const job = yield* taken(`w${death}`)
        assert.strictEqual(job.attempts, death)
        // It starts over each time, and gets as far as the first time.
        yield* advanceJob(job, reached(0))
        if (death > 1) yield* advanceJob(job, reached(500))
        else {
          yield* advanceJob(job, reached(500))
          assert.strictEqual(yield* attempts, 0)
          yield* (yield* SqlClient.SqlClient)`UPDATE jobs SET attempts = 1`
        }
        yield* releaseJobs(`w${death}`)
      }
      const last = yield* taken("last")
      assert.strictEqual(last.attempts, maximumJobAttempts + 1)
      yield* advanceJob(last, reached(501))
      assert.strictEqual(yield* attempts, 0)
    }).pipe(Effect.provide(store))
  )

  it.effect("gives a job whose worker died to a worker that has no other", () =>
    Effect.gen(function* () {
      yield* asked("a1", "b1")
      yield* taken("dead")
      yield* releaseJobs("dead")
      const other = yield* taken("w")
      assert.strictEqual(other.id, "b1")
      yield* asked("c1", "d1")
      const third = (yield* claimJob("w", [other.number])) ?? assert.fail("there is no job to take")
      assert.strictEqual(third.id, "c1")
      yield* endJob(other, "Ready")
      assert.strictEqual((yield* claimJob("w", [third.number]))?.id, "d1")
      assert.isUndefined(yield* claimJob("w", [third.number]))
      assert.strictEqual((yield* taken("w")).id, "a1")
    }).pipe(Effect.provide(store))
  )

  it.effect("does not count a job that was given back, or that its own worker takes up again", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      yield* asked("a1")
      yield* taken("w1")
      yield* requeueJobs("w1")
      assert.strictEqual(yield* attempts, 0)
      yield* requeueJob(yield* taken("w2"), 0)
      assert.strictEqual(yield* attempts, 0)
      yield* requeueJob(yield* taken("w3"), 30)
      assert.strictEqual(yield* attempts, 0)
      assert.isUndefined(yield* claimJob("w3"))
      yield* sql`UPDATE jobs SET leased_until = 0`
      yield* taken("w4")
      yield* sql`UPDATE jobs SET leased_until = 0`
      assert.strictEqual((yield* taken("w4")).attempts, 1)
      // A thread that died has no jobs left to give back.
      yield* releaseJobs("w4")
      yield* requeueJobs("w4")
      assert.strictEqual(yield* attempts, 1)
    }).pipe(Effect.provide(store))
  )

  it.effect("waits for no lease that a clock made too long, and renews its own after the clock was set back", () =>
    Effect.gen(function* () {
      yield* TestClock.setTime(10 * hour)
      yield* asked("a1", "b1")
      const job = yield* taken("w")
      yield* taken("dead")
      yield* TestClock.setTime(7 * hour)
      yield* renewLease(job)
      assert.strictEqual((yield* taken("x")).id, "b1")
      assert.isUndefined(yield* claimJob("x"))
      yield* advanceJob(job, reached(1))
      yield* endJob(job, "Ready")
    }).pipe(Effect.provide(store))
  )

  it.effect("gives no worker a job twice that it runs, where the clock was set ahead", () =>
    Effect.gen(function* () {
      yield* asked("a1", "a2")
      const job = yield* taken("w")
      yield* advanceJob(job, reached(1))
      yield* TestClock.setTime(3 * hour)
      assert.isUndefined(yield* claimJob("w", [job.number]))
      yield* renewLease(job)
      assert.isUndefined(yield* claimJob("x"))
      yield* TestClock.setTime(6 * hour)
      // Another worker cannot know that it still runs, and then it is lost to the first.
      assert.strictEqual((yield* taken("x")).id, "a1")
      assert.strictEqual((yield* Effect.flip(advanceJob(job, reached(2))))._tag, "LeaseLost")
    }).pipe(Effect.provide(store))
  )
})
