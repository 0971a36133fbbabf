import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { createJob } from "../../../src/jobs/queue/JobQueue.ts"
import {
  countRepeats,
  makeEmailFilter,
  recordEmails,
  restoreEmailFilter
} from "../../../src/jobs/imports/SeenEmails.ts"
import * as Store from "../../../src/store/Store.ts"

const address = (n: number) => `p${n}@example.com`
const addresses = (from: number, count: number) => Array.from({ length: count }, (_, n) => address(from + n))

describe("the addresses of an import", () => {
  it("are known once they were given, and of a hundred thousand others none is", () => {
    const isKnown = makeEmailFilter(100_000 * 20)
    assert.isFalse(addresses(0, 100_000).some(isKnown))
    assert.isTrue(addresses(0, 100_000).every(isKnown))
  })

  it("are known in a file of any size, however full the filter is", () => {
    const isKnown = makeEmailFilter(0)
    addresses(0, 20_000).forEach(isKnown)
    assert.isTrue(addresses(0, 20_000).every(isKnown))
  })

  it.effect("are counted exactly, also by a worker that resumes", () =>
    Effect.gen(function* () {
      const job = yield* createJob({ id: "1", account: "", kind: "Import", state: "Loading", request: "{}" })
      const other = yield* createJob({ id: "2", account: "", kind: "Import", state: "Loading", request: "{}" })
      const repeats = (of: number) =>
        Effect.flatMap(restoreEmailFilter(of), ({ suspects }) => countRepeats(of, suspects))
      assert.strictEqual(yield* repeats(job), 0)
      yield* recordEmails(job, [...addresses(0, 1000), ...addresses(500, 10)])
      yield* recordEmails(job, [...addresses(999, 3), address(999)])
      yield* recordEmails(other, addresses(0, 5))
      assert.strictEqual(yield* repeats(job), 12)
      assert.strictEqual(yield* repeats(other), 0)
      const { isKnown } = yield* restoreEmailFilter(job)
      assert.isTrue(addresses(0, 1002).every(isKnown))
      assert.isFalse(isKnown(address(2000)))
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )

  it.effect("are counted exactly where the filter took others for known, few or many", () =>
    Effect.gen(function* () {
      const job = yield* createJob({ id: "1", account: "", kind: "Import", state: "Loading", request: "{}" })
      // The smallest filter is full long before.
      for (const count of [2000, 40_000]) {
        yield* recordEmails(job, addresses(count, count))
        yield* recordEmails(job, [address(count), address(count), address(count + 1)])
        const { suspects } = yield* restoreEmailFilter(job)
        assert.isAbove(suspects.size, 2)
        assert.strictEqual(yield* countRepeats(job, suspects), count === 2000 ? 3 : 6)
      }
    }).pipe(Effect.provide(Store.layer({ filename: ":memory:" })))
  )
})
