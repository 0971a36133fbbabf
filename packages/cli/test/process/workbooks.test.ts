import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { Zip } from "effect/encoding"
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { makeLocalRosterHere } from "../inProcess.ts"
import { failure, json } from "../roster.ts"

const cell = (text: string) => `<c t="inlineStr"><is><t>${text}</t></is></c>`

/** A workbook of two sheets. */
const workbook = Effect.map(
  Stream.fromIterable(
    Object.entries({
      "[Content_Types].xml": "<Types/>",
      "xl/_rels/workbook.xml.rels":
        '<Relationships><Relationship Id="a" Type="x/worksheet" Target="worksheets/a.xml"/>' +
        '<Relationship Id="b" Type="x/worksheet" Target="worksheets/b.xml"/></Relationships>',
      "xl/workbook.xml":
        '<workbook><sheets><sheet name="Notes" id="a"/><sheet name="Members" id="b"/></sheets></workbook>',
      "xl/worksheets/a.xml": `<worksheet><sheetData><row>${cell("Read me")}</row></sheetData></worksheet>`,
      "xl/worksheets/b.xml":
        `<worksheet><sheetData><row r="1">${cell("Mail")}${cell("spent")}</row>` +
        `<row r="3">${cell("ann@example.com")}<c><v>12.5</v></c></row><row r="4">${cell("nobody")}</row></sheetData></worksheet>`
    })
  ).pipe(
    Stream.map(([path, text]) => Zip.file(path, text)),
    Stream.pipeThroughChannel(Zip.encode()),
    Stream.runCollect
  ),
  Buffer.concat
)

const withWorkbook = Effect.gen(function* () {
  const { folder, run } = yield* makeLocalRosterHere
  writeFileSync(join(folder, "m.xlsx"), yield* workbook)
  return { folder, run }
})

describe("a file of addresses", () => {
  it.live("is read by every command that takes one as an import reads it", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withWorkbook
      writeFileSync(join(folder, "people.csv"), "Email\nann@example.com\nbob@example.com\n")
      assert.strictEqual((yield* run(["contacts", "import", "people.csv"])).code, 0)
      writeFileSync(join(folder, "a.txt"), Buffer.from('\ufeff"ann@example.com"\r\n', "utf16le"))
      writeFileSync(join(folder, "b.csv.gz"), gzipSync("x;ann@example.com\n"))
      writeFileSync(join(folder, "c.csv"), "a note\nAdresse;Ort\nann@example.com;K\xf6ln\n", "latin1")
      const files: ReadonlyArray<ReadonlyArray<string>> = [
        ["a.txt"],
        ["a.txt", "--no-header"],
        ["b.csv.gz"],
        ["c.csv", "--skip-lines", "1", "--map", "Adresse=Email", "--encoding", "windows-1252"]
      ]
      for (const file of files) {
        const shown = yield* run(["contacts", "export", "--columns", "Email", "--file", ...file])
        assert.strictEqual(shown.stdout.trim(), "Email\r\nann@example.com", shown.stderr)
      }
      for (const command of [
        ["contacts", "delete"],
        ["contacts", "update", "--first-name", "Ann"],
        ["lists", "add", "News"]
      ]) {
        const done = yield* run([...command, "--file", "a.txt", "--no-header", "--dry-run"])
        assert.strictEqual(done.code, 0, done.stderr)
        const none = yield* run([...command, "bob@example.com", "--no-header"])
        assert.include(failure(none).message, "name that too")
      }
      // What the workbook has is no address, so the command says how to read it.
      const flags = ["--sheet", "Members", "--map", "Mail=Email"]
      const found = yield* run(["contacts", "export", "--file", "m.xlsx", ...flags])
      assert.include(failure(found).message, "m.xlsx, line 4")
      const advice = failure(yield* run(["contacts", "delete", "--file", "c.csv", "--dry-run"])).hint
      assert.include(advice, "contacts delete --file c.csv --dry-run")
    })
  )
})

describe("a workbook", () => {
  it.live("is imported from a sheet, with the mapping, and its rejected rows become a CSV that can be imported", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withWorkbook
      const first = yield* run(["contacts", "import", "m.xlsx"])
      assert.deepStrictEqual([first.code, failure(first).code], [2, "UnreadableFile"])
      assert.include(failure(first).message, 'The sheet "Members" has addresses')
      assert.match(failure(first).hint, /contacts import m\.xlsx .*--sheet Members$/)
      const absent = yield* run(["contacts", "import", "m.xlsx", "--sheet", "Member"])
      assert.include(failure(absent).message, 'it has no sheet "Member", but "Notes", "Members"')
      const flags = ["--sheet", "members", "--map", "Mail=Email"]
      const done = yield* run(["contacts", "import", "m.xlsx", ...flags, "--delimiter", ";"])
      assert.strictEqual(done.code, 9, done.stderr)
      const { rejectedRows, ...counts } = Object(json(done))
      assert.deepInclude(counts, { read: 2, done: 1, rejected: 1 })
      assert.deepInclude(rejectedRows[0], { line: 4 })
      assert.deepInclude(Object(json(yield* run(["contacts", "list"])))[0], {
        Email: "ann@example.com",
        CustomFields: { spent: "12.5" }
      })
      const rejected = readFileSync(join(folder, "m.xlsx.rejected.csv"), "utf8")
      assert.match(rejected, /^\ufeff?Mail,spent,_error\r?\nnobody,,/)
      writeFileSync(join(folder, "m.xlsx.rejected.csv"), rejected.replace("nobody", "bob@example.com"))
      const [, shown = ""] = /roster (.*?)(?: --db \S+)?$/m.exec(failure(done).hint) ?? []
      const again = yield* run(shown.split(" "))
      assert.strictEqual(again.code, 0, again.stderr)
      assert.lengthOf(Object(json(yield* run(["contacts", "list"]))), 2)
    })
  )

  it.live("is what an export with its name is, and nothing else is", () =>
    Effect.gen(function* () {
      const { folder, run } = yield* withWorkbook
      yield* run(["contacts", "add", "ann@example.com", "--field", "note==1+1", "--field", "n=07"])
      const made = yield* run(["contacts", "export", "--out", "a.xlsx", "--columns", "Email,note,n"])
      assert.strictEqual(made.code, 0, made.stderr)
      assert.deepInclude(Object(json(made)), { file: "a.xlsx", contacts: 1 })
      yield* run(["contacts", "update", "ann@example.com", "--field", "note=x", "--field", "n=8"])
      const back = yield* run(["contacts", "import", "a.xlsx"])
      assert.strictEqual(back.code, 0, back.stderr)
      assert.deepInclude(Object(json(yield* run(["contacts", "list"])))[0], { CustomFields: { note: "=1+1", n: "07" } })
      const before = readdirSync(folder)
      for (const args of [
        ["contacts", "export", "--format", "csv", "--out", "b.xlsx"],
        ["contacts", "export", "--format", "xlsx", "--out", "b.csv"],
        ["contacts", "export", "--format", "xlsx"],
        ["contacts", "export", "--out", "b.xlsx", "--bom"],
        ["contacts", "export", "--out", "b.XLS"],
        ["contacts", "export", "--out", "b.ods"],
        ["contacts", "import", "m.xlsx", "--sheet", "2", "--map", "Mail=Email", "--rejected", "b.xlsx"],
        ["contacts", "import", "m.csv", "--sheet", "2"]
      ]) {
        writeFileSync(join(folder, "m.csv"), "Email\n")
        const refused = yield* run(args)
        assert.deepStrictEqual([refused.code, failure(refused).code], [2, "UsageError"], args.join(" "))
      }
      assert.isFalse(existsSync(join(folder, "b.xlsx")))
      assert.sameMembers(readdirSync(folder), [...before, "m.csv"])
    })
  )
})
