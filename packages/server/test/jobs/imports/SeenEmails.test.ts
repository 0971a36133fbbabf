import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createJob } from "../../../src/jobs/queue/JobQueue.ts"
import { countRepeats } from "../../../src/jobs/imports/SeenEmails.ts"
import * as Store from "../../../src/store/Store.ts"

const address = (n: number) => `p${n}@example.com`
const addresses = (from: number, count: number) => Array.from({ length: count }, (_, n) => address(from + n))

describe("countRepeats", () => {
  it.effect("counts the addresses that an earlier row of the same job has", () =>
    Effect.gen(function* () {
      const job = yield* createJob({ id: "1", account: "", kind: "Import", state: "Loading", request: "{}" })
      const other = yield* createJob({ id: "2", account: "", kind: "Import", state: "Loading", request: "{}" })
      assert.strictEqual(yield* countRepeats(job, []), 0)
      assert.strictEqual(yield* countRepeats(job, [...addresses(0, 1000), ...addresses(500, 10)]), 10)
      assert.strictEqual(yield* countRepeats(job, [...addresses(999, 3), address(999)]), 2)
      assert.strictEqual(yield* countRepeats(other, addresses(0, 5)), 0)
      assert.strictEqual(yield* countRepeats(job, addresses(40_000, 40_000)), 0)
      assert.strictEqual(yield* countRepeats(job, [address(0), address(0), address(2000), "Ann's 🙂@example.com"]), 2)
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )
})
