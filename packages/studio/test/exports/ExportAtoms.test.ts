/** What the export view does, without a browser: exports that are asked for, waited for, and shown with what became of them. */
import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { workbookToCsv } from "@roster/workflows/Workbook"
import { Effect, Stream } from "effect"
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

  it.effect("gives a file the form and the columns that spreadsheets take", () =>
    Effect.gen(function* () {
      const store = yield* studioStore
      const contacts = yield* store.contacts
      yield* contacts.add([{ email: "a@example.com", firstName: "Käthe", customFields: { city: "Bonn; Köln" } }])
      const fileOf = Effect.fnUntraced(function* (shape: ExportAtoms.ExportShape) {
        yield* store.run(ExportAtoms.request, { ...byRule(""), format: "Csv", compression: "None", shape })
        const [one] = store.registry.get(ExportAtoms.exports)
        const file = yield* Effect.provideService(
          ExportAtoms.fileOf(one ?? assert.fail("no export")),
          ContactsService,
          contacts
        )
        return new Uint8Array(yield* Effect.promise(() => file.arrayBuffer()))
      })
      const columns = ["Email", "FirstName", "city", "nobody has it"]
      const text = new TextDecoder("utf-8", { ignoreBOM: true })
      assert.strictEqual(
        text.decode(yield* fileOf({ form: "Semicolons", columns })),
        '\uFEFFEmail;FirstName;city;nobody has it\r\na@example.com;Käthe;"Bonn; Köln";\r\n'
      )
      assert.strictEqual(
        text.decode(yield* fileOf({ form: "Commas", columns: ["city", "Email"] })),
        "city,Email\r\nBonn; Köln,a@example.com\r\n"
      )
      const workbook = yield* fileOf({ form: "Workbook", columns: ["Email", "FirstName"] })
      assert.strictEqual(
        yield* Stream.mkString(Stream.decodeText(workbookToCsv(Stream.make(workbook)))),
        "Email,FirstName\r\na@example.com,Käthe\r\n"
      )
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
    const csv = { ...byRule(""), format: "Csv", compression: "None" } as const
    assert.strictEqual(
      takenCommand(ExportAtoms.exportCommand({ ...csv, shape: { form: "Semicolons", columns: ["Email", "city"] } })),
      "roster contacts export --columns Email,city --delimiter ';' --bom --out contacts.csv"
    )
    assert.strictEqual(
      takenCommand(ExportAtoms.exportCommand({ ...csv, shape: { form: "Workbook" } })),
      "roster contacts export --out contacts.xlsx"
    )
    assert.deepStrictEqual(
      ["https://x.example/f", "http://127.0.0.1:1/f", "javascript:alert(1)", "data:text/html,x", "//x"].map(
        ExportAtoms.isWebLink
      ),
      [true, true, false, false, false]
    )
  })
})
