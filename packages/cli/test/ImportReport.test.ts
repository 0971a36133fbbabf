import { assert, describe, it } from "@effect/vitest"
import { ServiceError, Unavailable, type UploadReport } from "@roster/domain"
import { Effect } from "effect"
import { importOutcome, importSummary, importWords } from "../src/ImportReport.ts"

const nothing: UploadReport = {
  read: 0,
  accepted: 0,
  rejected: [],
  duplicates: 0,
  notSent: 0,
  unknown: 0,
  stoppedBy: undefined
}
const gone = new ServiceError({ operation: "contactsPost", reason: new Unavailable({ detail: "gone" }) })
const outcome = (report: Partial<UploadReport>) =>
  importOutcome({ ...nothing, ...report }).pipe(
    Effect.as("done"),
    Effect.catch((error) => Effect.succeed(error._tag))
  )

describe("the account of an import", () => {
  it("gives programs every rejected row, and counts that add up", () => {
    const rejected = Array.from({ length: 30 }, (_, index) => ({ line: index + 2, reason: "bad" }))
    const report = { ...nothing, read: 40, accepted: 5, rejected, duplicates: 2, notSent: 2, unknown: 1 }
    const { rejectedRows, ...counts } = importSummary(report)
    assert.deepStrictEqual(counts, { read: 40, accepted: 5, rejected: 30, duplicates: 2, notSent: 2, unknown: 1 })
    assert.strictEqual(
      counts.read,
      counts.accepted + counts.rejected + counts.duplicates + counts.notSent + counts.unknown
    )
    assert.strictEqual(rejectedRows.length, 30)
  })

  it("shows people the first twenty, without what they could do to a terminal", () => {
    const rejected = Array.from({ length: 23 }, (_, index) => ({ line: index + 2, reason: "\u001b[2J" }))
    const words = importWords({ ...nothing, read: 23, rejected })
    assert.strictEqual(words.split("\n").filter((line) => line.startsWith("line ")).length, 20)
    assert.include(words, "and 3 more")
    assert.notInclude(words, "\u001b")
  })

  it.effect("ends well where everything was accepted or was a duplicate", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome({ read: 3, accepted: 2, duplicates: 1 }), "done")
      assert.strictEqual(yield* outcome({}), "done")
    })
  )

  it.effect("is in part where rows were rejected, not sent or lost", () =>
    Effect.gen(function* () {
      const rejected = [{ line: 2, reason: "bad" }]
      assert.strictEqual(yield* outcome({ read: 2, accepted: 1, rejected }), "PartlyDone")
      assert.strictEqual(yield* outcome({ read: 1, rejected }), "PartlyDone")
      assert.strictEqual(yield* outcome({ read: 2, accepted: 1, notSent: 1, stoppedBy: gone }), "PartlyDone")
      assert.strictEqual(yield* outcome({ read: 2, accepted: 1, unknown: 1, stoppedBy: gone }), "PartlyDone")
    })
  )

  it.effect("is the failure of the service where that came before anything was accepted", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome({ read: 2, notSent: 2, stoppedBy: gone }), "ServiceError")
      assert.strictEqual(yield* outcome({ read: 2, unknown: 2, stoppedBy: gone }), "ServiceError")
    })
  )
})
