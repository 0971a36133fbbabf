/** What the import view says of its ends. */
import { assert, describe, it } from "@effect/vitest"
import { readAs } from "../../src/imports/ImportFile.ts"
import { appliedText, deedOf, leftText } from "../../src/imports/ImportWords.ts"
import { reportWords } from "../../src/session/ReportWords.ts"

describe("the words of an import", () => {
  it("say what applying does, and what it came to", () => {
    assert.strictEqual(deedOf({ new: 1, changed: 2 }), "Add 1 contact and change 2 contacts")
    assert.strictEqual(deedOf({ new: 0, changed: 1 }), "Change 1 contact")
    assert.strictEqual(appliedText({ read: 2, done: 2, notSent: 0, unknown: 0 }), "All rows are stored.")
    assert.strictEqual(appliedText({ read: 2, done: 1, notSent: 0, unknown: 0 }), "The import came to its end.")
    assert.strictEqual(
      appliedText({ read: 3, done: 0, notSent: 2, unknown: 1 }),
      "The import stopped. 0 of 3 rows are stored, of 1 it is not known, and 2 were not sent."
    )
  })

  it("say what an undo came to, and what others changed since", () => {
    const undone = { deleted: 2, changed: 1, new: 0, outdated: 0, partlyDone: 0, rejected: 0, notSent: 0, unknown: 0 }
    assert.deepStrictEqual(reportWords(undone), ["Undone: 2 contacts deleted, 1 contact changed back."])
    const rest = reportWords({ ...undone, new: 1, outdated: 1, unknown: 1 }).join(" ")
    for (const part of ["1 contact added again", "changed or deleted by others", "do it again"])
      assert.include(rest, part)
  })

  it("say of an import that was left whether this is its file, and where it is undone", () => {
    const left = { digest: "a", rows: 1200 }
    assert.include(leftText(left, { digest: undefined, keepsRuns: true }), "Choose the same file")
    assert.include(leftText(left, { digest: "a", keepsRuns: true }), "undone under Runs")
    const other = leftText(left, { digest: "b", keepsRuns: false })
    for (const part of ["This is another file", "cannot undo"]) assert.include(other, part)
  })

  it("keep how a file is read but for what a person changes", () => {
    const reading = { encoding: "windows-1252", skipLines: 2 }
    assert.deepStrictEqual(readAs({ reading }, { delimiter: ";" }, { skipLines: 0 }), {
      encoding: "windows-1252",
      delimiter: ";",
      skipLines: 0
    })
  })
})
