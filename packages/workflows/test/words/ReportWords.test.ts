/** What a report says: every count has one name, in words as in JSON, and what is not done is named. */
import { assert, describe, it } from "@effect/vitest"
import { Rejected, ServiceError } from "@roster/domain"
import { emptyReport } from "../../src/runs/RunReport.ts"
import { recipientWords, reportCounts, reportWords } from "../../src/words/ReportWords.ts"
import { outcomeWords } from "../../src/runs/Stopped.ts"

describe("the words of a report", () => {
  it("have every count by its name, and those that few runs have only where they are not 0", () => {
    const told = (report: Partial<typeof emptyReport>) =>
      reportCounts({ ...emptyReport, ...report }).map(
        ({ count, isPart, words }) => `${isPart ? "- " : ""}${words} ${count}`
      )
    assert.deepStrictEqual(told({ read: 5, done: 3, new: 1, alreadySo: 2, notSent: 2 }), [
      "read 5",
      "done 3",
      "- new 1",
      "- changed 0",
      "- already so 2",
      "rejected 0",
      "duplicates 0",
      "not sent 2",
      "unknown 0"
    ])
    const rare = told({ read: 9, done: 5, deleted: 1, unknownWhetherNew: 4, leftOut: 3, outdated: 1 })
    for (const line of ["- deleted 1", "- unknown whether new 4", "left out 3", "outdated 1"])
      assert.include(rare, line)
    const unknown = told({ read: 2, done: 2, unknownWhetherNew: 2 })
    assert.notMatch(unknown.join("\n"), /^- (?:new|changed|already so)/m)
  })

  it("say who will receive mail, and of a run who does now", () => {
    const words = (people: number, added: number, isDone = false) =>
      recipientWords({ newRecipients: { people, added } }, isDone)
    assert.deepStrictEqual(words(1250, 1200), ["1,250 people will receive mail who did not before, 1,200 of them new."])
    assert.deepStrictEqual(words(2, 0, true), ["2 people now receive mail who did not before, 0 of them new."])
    assert.deepStrictEqual(words(1, 1, true), ["1 person now receives mail who did not before, 1 of them new."])
    assert.deepStrictEqual(words(0, 0), ["Nobody will receive mail who did not before."])
    assert.deepStrictEqual(recipientWords({}), [])
  })

  it("say how far a run came, and name only what is not done", () => {
    assert.strictEqual(outcomeWords({ ...emptyReport, read: 1, done: 1 }), "1 of 1 row is done.")
    assert.strictEqual(outcomeWords({ ...emptyReport, read: 1, rejected: 1 }), "0 of 1 row is done, 1 rejected.")
    assert.strictEqual(
      outcomeWords({ ...emptyReport, read: 20_000, done: 1_000, rejected: 600, notSent: 17_400, unknown: 1_000 }),
      "1,000 of 20,000 rows are done, 600 rejected, 17,400 not sent, 1,000 without an answer."
    )
    const stoppedBy = new ServiceError({
      operation: "contactsPost",
      reason: new Rejected({ status: 400, detail: "no" })
    })
    assert.include(outcomeWords({ ...emptyReport, read: 2, notSent: 2 }, { stoppedBy }), "that the service refused")
  })

  it("say what an undo came to, and what others changed since", () => {
    const undone = { deleted: 2, changed: 1, new: 0, outdated: 0, partlyDone: 0, rejected: 0, notSent: 0, unknown: 0 }
    assert.deepStrictEqual(reportWords(undone), ["Undone: 2 contacts deleted, 1 contact changed back."])
    const rest = reportWords({ ...undone, new: 1, outdated: 1, unknown: 1 }).join(" ")
    for (const part of ["1 contact added again", "changed or deleted by others", "do it again"])
      assert.include(rest, part)
  })
})
