/** What the export view does, without a browser: exports that are asked for, waited for, and shown with what became of them. */
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import * as ExportAtoms from "../../src/exports/ExportAtoms.ts"
import { studioStore } from "../StudioStore.ts"
import { takenCommand } from "../TakenCommand.ts"

const wanted: ExportAtoms.WantedExport = { rule: "FirstName = 'A'", format: "Json", compression: "Zip" }

describe("the export view", () => {
  it.effect("lists the exports of the session, the newest first, with their files", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      const contacts = yield* store.contacts
      yield* contacts.add([{ email: "a@example.com", firstName: "A" }])
      yield* store.run(ExportAtoms.request, { ...wanted, rule: "" })
      yield* store.run(ExportAtoms.request, wanted)
      const made = store.registry.get(ExportAtoms.exports)
      assert.deepStrictEqual(
        made.map(({ problem, rule, state }) => [rule, state, problem]),
        [
          ["FirstName = 'A'", "Ready", undefined],
          ["", "Ready", undefined]
        ]
      )
      const refused = yield* Effect.flip(store.run(ExportAtoms.request, { ...wanted, rule: "FirstName =" }))
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
    assert.deepStrictEqual(
      ["https://x.example/f", "http://127.0.0.1:1/f", "javascript:alert(1)", "data:text/html,x", "//x"].map(
        ExportAtoms.isWebLink
      ),
      [true, true, false, false, false]
    )
  })
})
