import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { SqlClient } from "effect/sql"
import { createJob } from "../../../src/jobs/queue/JobQueue.ts"
import { keepRejections, readRejections, rejectionsRoom } from "../../../src/jobs/imports/JobRejections.ts"
import * as Store from "../../../src/store/Store.ts"

const rejected = (from: number, count: number, text: string) =>
  Array.from({ length: count }, (_, row) => ({ line: from + row, reason: "no", cells: [text, `${from + row}`] }))

const job = createJob({ id: "1", account: "", kind: "Import", state: "Loading", request: "{}" })

describe("rejected rows of an import", () => {
  it.effect("are read unchanged and in order", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const number = yield* job
      const rows = rejected(2, 1200, '=1\n"\u0000😀')
      for (const part of [rows.slice(0, 700), rows.slice(700)]) yield* keepRejections(number, part, 1_000_000)
      assert.deepStrictEqual(yield* Stream.runCollect(readRejections(sql, number)), rows)
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )

  it.effect("are kept while there is room, also after a restart", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const number = yield* job
      const before = yield* rejectionsRoom(number, "")
      const first = yield* keepRejections(number, rejected(2, 3, "x"), before)
      assert.strictEqual(first.kept, 3)
      assert.isBelow(first.room, before)
      assert.strictEqual(yield* rejectionsRoom(number, ""), first.room)
      const size = (before - first.room) / 3
      const second = yield* keepRejections(number, rejected(5, 4, "x"), size * 2)
      assert.strictEqual(second.kept, 2)
      // A smaller row behind one that found no room is not kept either.
      const third = yield* keepRejections(number, rejected(9, 1, ""), second.room)
      assert.strictEqual(third.kept, 0)
      assert.deepStrictEqual(
        (yield* Stream.runCollect(readRejections(sql, number))).map(({ line }) => line),
        [2, 3, 4, 5, 6]
      )
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )
})
