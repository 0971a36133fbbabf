/** What the export view does, without a browser: exports that are asked for, waited for, and shown with what became of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ExportAtoms from "../../src/exports/ExportAtoms.ts"
import { studioStore } from "../StudioStore.ts"
import { takenCommand } from "../TakenCommand.ts"

const wanted: ExportAtoms.WantedExport = {
  meant: { _tag: "ByRule", rule: "FirstName = 'A'" },
  format: "Json",
  compression: "Zip"
}

const chosen = { ...wanted, meant: { _tag: "Chosen", emails: new Set(["a@example.com"]) } } as const

const byRule = (rule: string) => ({ ...wanted, meant: { _tag: "ByRule", rule } }) as const

describe("the export view", () => {
  it.effect("lists the exports of the session, the newest first, with their files", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      const contacts = yield* store.contacts
      yield* contacts.add([{ email: "a@example.com", firstName: "A" }])
      yield* store.run(ExportAtoms.request, byRule(""))
      yield* store.run(ExportAtoms.request, wanted)
      yield* store.run(ExportAtoms.request, chosen)
      const made = store.registry.get(ExportAtoms.exports)
      assert.deepStrictEqual(
        made.map(({ meant, problem, state }) => [meant, state, problem]),
        [
          [{ _tag: "Chosen", emails: new Set(["a@example.com"]) }, "Ready", undefined],
          [wanted.meant, "Ready", undefined],
          [{ _tag: "ByRule", rule: "" }, "Ready", undefined]
        ]
      )
      const refused = yield* Effect.flip(store.run(ExportAtoms.request, byRule("FirstName =")))
      assert.strictEqual(refused._tag, "InvalidRule")
    })
  )

  it.effect("says why a file is not ready", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      yield* store.run(ExportAtoms.waitAgain, { ...wanted, id: "none", link: "", requestedAt: 0, state: "Waiting" })
      const [one] = store.registry.get(ExportAtoms.exports)
      assert.strictEqual(one?.state, "Failed")
      assert.include(one?.problem, "the id of an export, such as")
    })
  )

  it("shows the command that makes the same file, and no link that is a script", () => {
    assert.strictEqual(
      takenCommand(ExportAtoms.exportCommand(wanted)),
      `roster contacts export --rule "FirstName = 'A'" --out contacts.json.zip`
    )
    assert.strictEqual(
      takenCommand(ExportAtoms.exportCommand(chosen)),
      "roster contacts export --email a@example.com --out contacts.json.zip"
    )
    assert.deepStrictEqual(
      ["https://x.example/f", "http://127.0.0.1:1/f", "javascript:alert(1)", "data:text/html,x", "//x"].map(
        ExportAtoms.isWebLink
      ),
      [true, true, false, false, false]
    )
  })
})
