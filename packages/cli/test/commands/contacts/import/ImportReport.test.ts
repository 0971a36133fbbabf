import { assert, describe, it } from "@effect/vitest"
import { Rejected, ServiceError, Unavailable } from "@roster/domain"
import { emptyReport, type PlanSummary, type RunReport } from "@roster/workflows"
import { Effect } from "effect"
import {
  importOutcome,
  plannedSummary,
  plannedWords,
  runWords
} from "../../../../src/commands/contacts/import/ImportReport.ts"

const gone = new ServiceError({ operation: "contactsPost", reason: new Unavailable({ detail: "gone" }) })
const outcome = (report: Partial<RunReport>, stoppedBy?: ServiceError) =>
  importOutcome({ ...emptyReport, ...report }, { stoppedBy }).pipe(
    Effect.as("done"),
    Effect.catch((error) => Effect.succeed(error._tag))
  )

describe("the account of an import", () => {
  const rows = (count: number, reason = "bad") => Array.from({ length: count }, (_, i) => ({ line: i + 2, reason }))

  it("says what would be sent, and where", () => {
    const summary: PlanSummary = {
      read: 9,
      new: 7,
      changed: 0,
      alreadySo: 1,
      rejected: 1,
      duplicates: 0,
      statusesKept: 0,
      onlyLists: 0,
      fields: {},
      sample: [],
      keptStatuses: [],
      rejectedRows: rows(1)
    }
    const planned = { summary, lists: [], resubscribe: false, file: undefined, apply: undefined }
    assert.deepInclude(plannedSummary({ ...planned, target: "there" }), { dryRun: true, toSend: 8, rejected: 1 })
    assert.match(plannedWords({ ...planned, target: "th\u001bere" }), /^target +th\u241bere\nread +9\nto send +8\n/)
  })

  it("says of which rows nobody knows whether they are new, and the counts add up", () => {
    const report = { ...emptyReport, run: "one", read: 3, done: 3, new: 1, unknownWhetherNew: 2 }
    assert.match(runWords(report, "import"), /^  unknown whether new +2$/m)
  })

  it("names the file that has the rejected rows", () => {
    assert.include(runWords(emptyReport, "import", "a\u001b.rejected.csv"), "a\u241b.rejected.csv")
  })

  it("shows people the first twenty, without what they could do to a terminal", () => {
    const words = runWords({ ...emptyReport, read: 23, rejected: 23, rejectedRows: rows(23, "\u001b[2J") }, "import")
    assert.strictEqual(words.split("\n").filter((line) => line.startsWith("line ")).length, 20)
    assert.include(words, "and 3 more")
    assert.notInclude(words, "\u001b")
  })

  it("groups rejected rows by cause, and shows a row alone as it is", () => {
    const first = { line: 3, reason: "Email: no address" }
    const cause = { cause: "Email: no address", first, otherValues: 0 }
    const values = [
      { value: "-", count: 2 },
      { value: "n/a", count: 1 }
    ]
    const words = runWords(
      {
        ...emptyReport,
        read: 4,
        rejected: 4,
        causes: [
          { ...cause, count: 3, column: "E-Mail", values },
          { ...cause, count: 1, first: { line: 9, reason: "Status: \u001bbad" }, values: [] }
        ]
      },
      "import"
    )
    assert.include(
      words,
      '\n3 rows: Email: no address\n  "-" (2), "n/a" (1) in column "E-Mail"\n  first in line 3\nline 9: Status: \u241bbad'
    )
  })

  it.effect("ends well where everything was accepted or was a duplicate", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome({ read: 3, done: 2, duplicates: 1 }), "done")
      assert.strictEqual(yield* outcome({}), "done")
    })
  )

  it.effect("is in part where rows were rejected, not sent or lost", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome({ read: 2, done: 1, rejected: 1 }), "PartlyDone")
      assert.strictEqual(yield* outcome({ read: 1, rejected: 1 }), "PartlyDone")
      assert.strictEqual(yield* outcome({ read: 2, done: 1, notSent: 1 }, gone), "PartlyDone")
      assert.strictEqual(yield* outcome({ read: 2, done: 1, unknown: 1 }, gone), "PartlyDone")
    })
  )

  it.effect("does not say that rows were not sent where a request with them may have been refused", () =>
    Effect.gen(function* () {
      const wordsOf = (reason: ServiceError["reason"]) => {
        const stoppedBy = new ServiceError({ operation: "contactsPost", reason })
        const report = { ...emptyReport, read: 1000, done: 1, rejected: 25, notSent: 974 }
        return Effect.map(Effect.flip(importOutcome(report, { stoppedBy })), ({ message }) => message)
      }
      const refused = yield* wordsOf(new Rejected({ status: 422, detail: "too many fields" }))
      assert.include(refused, "974 not sent, or sent in a request that the service refused.")
      assert.include(yield* wordsOf(new Unavailable({ detail: "gone" })), "974 not sent.")
    })
  )

  it.effect("is the failure of the service where that came before anything was accepted", () =>
    Effect.gen(function* () {
      assert.strictEqual(yield* outcome({ read: 2, notSent: 2 }, gone), "ServiceError")
      assert.strictEqual(yield* outcome({ read: 2, unknown: 2 }, gone), "ServiceError")
    })
  )
})
