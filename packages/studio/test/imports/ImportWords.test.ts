/** What the import view says of its ends. */
import { assert, describe, it } from "@effect/vitest"
import { importCommand, type ImportCommandOptions } from "@roster/workflows"
import { readAs } from "../../src/imports/ImportFile.ts"
import { deedOf, leftText } from "../../src/imports/ImportWords.ts"
import { takenCommand } from "../TakenCommand.ts"

describe("the words of an import", () => {
  it("say what applying does", () => {
    assert.strictEqual(deedOf({ new: 1, changed: 2, onlyLists: 0 }), "Add 1 contact and change 2 contacts")
    assert.strictEqual(deedOf({ new: 0, changed: 1, onlyLists: 0 }), "Change 1 contact")
  })

  it("are followed by a command that the command line takes, with every choice", () => {
    const every: Required<ImportCommandOptions> = {
      sheet: "People",
      mapping: "people.mapping.json",
      listNames: ["a", "b"],
      newField: true,
      resubscribe: true,
      only: "new",
      defaultStatus: "NotConfirmed",
      onDuplicate: "first",
      failOnWarning: true,
      plan: "people.plan.json"
    }
    assert.strictEqual(
      takenCommand(importCommand("people.xlsx", every)),
      "roster contacts import people.xlsx --sheet People --mapping people.mapping.json --list a --list b --new-field --resubscribe " +
        "--only new --default-status NotConfirmed --on-duplicate first --fail-on-warning --plan people.plan.json"
    )
  })

  it("say of an import that was left whether this is its file, and where it is undone", () => {
    const left = { digest: "a", rows: 1200 }
    assert.include(leftText(left, { digest: undefined, keepsRuns: true }), "Choose the same file")
    assert.include(leftText(left, { digest: "a", keepsRuns: true }), "undone under History")
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
