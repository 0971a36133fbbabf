import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { createJob } from "../../../src/jobs/queue/JobQueue.ts"
import { keepRejections, readRejections, remainingRejectionSpace } from "../../../src/jobs/imports/KeptRows.ts"
import * as Store from "../../../src/store/Store.ts"

const rejected = (from: number, count: number, text: string) =>
  Array.from({ length: count }, (_, row) => ({ line: from + row, reason: "no", cells: [text, `${from + row}`] }))

const job = createJob({ id: "1", account: "", kind: "Import", state: "Loading", request: "{}" })

describe("rejected rows of an import", () => {
  it.effect("are read unchanged and in order", () =>
    Effect.gen(function* () {
      const number = yield* job
      const rows = rejected(2, 1200, '=1\n"\u0000😀')
      for (const part of [rows.slice(0, 700), rows.slice(700)]) yield* keepRejections(number, part, 1_000_000)
      const pages = [
        yield* readRejections(number, { limit: 1000 }),
        yield* readRejections(number, { after: 1001, limit: 1000 })
      ]
      assert.deepStrictEqual(pages.flat(), rows)
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )

  it.effect("are kept while there is room, also after a restart", () =>
    Effect.gen(function* () {
      const number = yield* job
      const before = yield* remainingRejectionSpace(number, "")
      const first = yield* keepRejections(number, rejected(2, 3, "x"), before)
      assert.strictEqual(first.kept, 3)
      assert.isBelow(first.room, before)
      assert.strictEqual(yield* remainingRejectionSpace(number, ""), first.room)
      const size = (before - first.room) / 3
      const second = yield* keepRejections(number, rejected(5, 4, "x"), size * 2)
      assert.strictEqual(second.kept, 2)
      // A smaller row behind one that found no room is not kept either.
      const third = yield* keepRejections(number, rejected(9, 1, ""), second.room)
      assert.strictEqual(third.kept, 0)
      assert.deepStrictEqual(
        (yield* readRejections(number, { limit: 100 })).map(({ line }) => line),
        [2, 3, 4, 5, 6]
      )
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )

  it.effect("are kept up to 1 Gi characters of an account, whichever of its imports rejected them", () =>
    Effect.gen(function* () {
      const sql = yield* SqlClient.SqlClient
      const gibi = 1024 ** 3
      const number = yield* job
      const other = yield* createJob({ id: "2", account: "", kind: "Import", state: "Loading", request: "{}" })
      const foreign = yield* createJob({
        id: "3",
        account: "a@example.com",
        kind: "Import",
        state: "Loading",
        request: "{}"
      })
      const [{ line, reason, cells } = assert.fail("there is no row")] = rejected(2, 1, "x")
      const { size } = yield* keepRejections(other, [{ line, reason, cells }], gibi)
      yield* sql`UPDATE jobs SET rejected_size = ${gibi - 2 * size} WHERE number = ${other}`
      yield* sql`UPDATE jobs SET rejected_size = ${gibi} WHERE number = ${foreign}`
      const room = yield* remainingRejectionSpace(number, "")
      assert.strictEqual(room, 2 * size)
      assert.deepInclude(yield* keepRejections(number, rejected(2, 3, "x"), room), { kept: 2, size: 2 * size })
      assert.isBelow(yield* remainingRejectionSpace(foreign, "a@example.com"), 1)
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )
})
