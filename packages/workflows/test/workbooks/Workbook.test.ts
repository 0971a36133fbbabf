import { assert, describe, it } from "@effect/vitest"
import {
  csvToWorkbook,
  maximumBytes,
  maximumXml,
  otherAddressSheets,
  workbookMapping,
  workbookToCsv
} from "@roster/workflows/Workbook"
import { readContacts, UnreadableFile } from "@roster/domain"
import { Effect, Result, Schema, Stream } from "effect"
import { Zip } from "effect/encoding"

/** A workbook as its parts, made here. */
const workbookOf = (parts: Readonly<Record<string, string | Uint8Array>>) =>
  Stream.fromIterable(Object.entries(parts)).pipe(
    Stream.map(([path, content]) => Zip.file(path, content)),
    Stream.pipeThroughChannel(Zip.encode()),
    Stream.orDie
  )

const relation = (id: string, type: string, target: string) =>
  `<Relationship Id="${id}" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/${type}" Target="${target}"/>`

/** A workbook with these rows, and a second sheet. */
const sheetOf = (rows: string, more: Readonly<Record<string, string>> = {}, properties = "") =>
  workbookOf({
    "[Content_Types].xml": "<Types/>",
    "xl/_rels/workbook.xml.rels": `<Relationships>${relation("rId7", "worksheet", "/xl/worksheets/sheet9.xml")}${relation("rId8", "worksheet", "worksheets/other.xml")}</Relationships>`,
    "xl/workbook.xml":
      `<x:workbook xmlns:x="m" xmlns:r="r">${properties}<x:sheets><x:sheet name="People &amp; more" sheetId="3" r:id="rId7"/>` +
      '<x:sheet name="Other" sheetId="1" r:id="rId8"/></x:sheets></x:workbook>',
    "xl/worksheets/sheet9.xml": `<?xml version="1.0"?><!-- a > b --><worksheet><sheetData>${rows}</sheetData></worksheet>`,
    "xl/worksheets/other.xml":
      '<worksheet><sheetData><row><c t="inlineStr"><is><t>Other</t></is></c></row></sheetData></worksheet>',
    "docProps/thumbnail.jpeg": "no XML",
    ...more
  })

/** Why a workbook cannot be read. */
const whyNot = <E>(text: Effect.Effect<string, E>) =>
  Effect.map(Effect.flip(text), (error) =>
    error instanceof UnreadableFile ? error.reason : assert.fail(String(error))
  )

const textOf = <E>(content: Stream.Stream<Uint8Array, E>) =>
  Stream.mkString(Stream.decodeText(content)).pipe(Effect.map((text) => text.replaceAll("\r\n", "\n")))

const csvOf = (workbook: Stream.Stream<Uint8Array>, sheet?: string) => textOf(workbookToCsv(workbook, { sheet }))

const styles =
  '<styleSheet><numFmts><numFmt numFmtId="165" formatCode="dd\\.mm\\.yyyy"/><numFmt numFmtId="166" formatCode="#,##0.00 &quot;days&quot;;[Red]-0"/></numFmts>' +
  '<cellStyleXfs><xf numFmtId="14"/></cellStyleXfs>' +
  '<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="22"/><xf numFmtId="45"/></cellXfs></styleSheet>'

const text = (value: string) => `<c t="inlineStr"><is><t>${value}</t></is></c>`

describe("a workbook as CSV", () => {
  it.effect("has the texts of cells, and dates by their formats", () =>
    Effect.gen(function* () {
      const shared =
        "<sst><si><t>Email</t></si><si><r><t>Jür</t></r><r><t>gen</t></r><rPh><t>reading</t></rPh></si>" +
        '<si><t xml:space="preserve"> a, "b"_x000D_&#10;c &lt;&#x20AC;&gt; </t></si></sst>'
      const rows =
        '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="C1" t="s"><v>1</v></c></row>' +
        '<row r="3" spans="1:3"><c r="A3" t="s"><v>2</v></c><c r="B3" s="3"/><c r="C3"><v>0.30000000000000004</v></c></row>' +
        '<row r="4"><c r="A4" s="1"><v>45322</v></c><c r="B4" s="2"><v>45322.4375</v></c><c r="C4" s="3"><v>45322</v></c></row>' +
        '<row r="5"><c r="A5" s="4"><v>59</v></c><c r="B5" s="4"><v>61</v></c><c r="C5" s="5"><v>0.75</v></c></row>' +
        '<row r="6"><c r="A6" t="str"><f>1&amp;"x"</f><v>1x</v></c><c r="B6"><f>A1</f></c><c r="C6" t="b"><v>1</v></c></row>' +
        '<row r="7"><c r="A7" t="e"><v>#N/A</v></c><c r="B7" t="d"><v>2024-01-31</v></c><c r="C7" t="str"><v>=1+1</v></c></row>' +
        '<row r="9"><c r="A9" s="1"/></row>'
      const csv = yield* csvOf(sheetOf(rows, { "xl/sharedStrings.xml": shared, "xl/styles.xml": styles }))
      assert.strictEqual(
        csv,
        'Email,,Jürgen\n""\n" a, ""b""\nc <€> ",,0.3\n2024-01-31,2024-01-31T10:30:00,45322\n' +
          "1900-02-28,1900-03-01,18:00:00\n1x,,true\n#N/A,2024-01-31,'=1+1\n"
      )
      const from1904 = yield* csvOf(
        sheetOf('<row r="1"><c s="1"><v>43860</v></c></row>', { "xl/styles.xml": styles }, '<workbookPr date1904="1"/>')
      )
      assert.strictEqual(from1904, "2024-01-31\n")
    })
  )

  it.effect("is that of the sheet that is named, or numbered", () =>
    Effect.gen(function* () {
      const file = sheetOf(`<row>${text("first")}</row>`)
      assert.strictEqual(yield* csvOf(file), "first\n")
      for (const sheet of ["people & MORE", "1"]) assert.strictEqual(yield* csvOf(file, sheet), "first\n")
      for (const sheet of ["other", "2"]) assert.strictEqual(yield* csvOf(file, sheet), "Other\n")
      for (const sheet of ["3", "0", ""]) {
        const reason = yield* whyNot(csvOf(file, sheet))
        assert.include(reason, `no sheet "${sheet}", but "People & more", "Other"`)
      }
    })
  )

  it.effect("is that of the first sheet that people see, which alone are numbered", () =>
    Effect.gen(function* () {
      for (const state of ["hidden", "veryHidden"]) {
        const file = sheetOf(`<row>${text("first")}</row>`, {
          "xl/workbook.xml":
            `<workbook><sheets><sheet name="Old" state="${state}" id="rId7"/><sheet name="Graph" id="rId9"/>` +
            '<sheet name="Now" state="visible" id="rId8"/></sheets></workbook>',
          "xl/_rels/workbook.xml.rels": `<Relationships>${relation("rId7", "worksheet", "worksheets/sheet9.xml")}${relation("rId8", "worksheet", "./worksheets/../worksheets/other.xml")}${relation("rId9", "chartsheet", "chartsheets/a.xml")}</Relationships>`
        })
        for (const sheet of [undefined, "now", "1"]) assert.strictEqual(yield* csvOf(file, sheet), "Other\n")
        assert.strictEqual(yield* csvOf(file, "old"), "first\n")
        assert.include(yield* whyNot(csvOf(file, "2")), 'no sheet "2", but "Now"')
      }
    })
  )

  const Case = Schema.Literals(["lower", "upper", "as it is"])
  const inCase = (name: string, of: typeof Case.Type): string =>
    of === "lower" ? name.toLowerCase() : of === "upper" ? name.toUpperCase() : name
  it.effect.prop(
    "finds its parts by their names, whatever their letter case and form",
    [Schema.Tuple([Case, Case, Case, Case, Case]), Schema.Literals(["", "/xl/", "../xl/", "./"])],
    ([cases, before]) =>
      Effect.gen(function* () {
        const parts = {
          "_rels/.rels": `<Relationships>${relation("rId1", "officeDocument", inCase("xl/Workbook.xml", cases[0]))}</Relationships>`,
          [inCase("xl/_rels/Workbook.xml.rels", cases[1])]:
            `<Relationships>${relation("rId1", "worksheet", `${before}${inCase("worksheets/Sheet1.xml", cases[2])}`)}${relation("rId2", "sharedStrings", `${before}SharedStrings.xml`)}</Relationships>`,
          [inCase("xl/workbook.xml", cases[3])]: '<workbook><sheets><sheet name="A" id="rId1"/></sheets></workbook>',
          [inCase("xl/worksheets/sheet1.xml", cases[4])]:
            '<worksheet><sheetData><row><c t="s"><v>0</v></c></row></sheetData></worksheet>',
          [inCase("xl/sharedStrings.xml", cases[0])]: "<sst><si><t>Ann</t></si></sst>"
        }
        assert.strictEqual(yield* csvOf(workbookOf(parts)), "Ann\n")
      })
  )

  it.effect("is refused if a cell or a sheet refers to what is missing", () =>
    Effect.gen(function* () {
      const refusals: ReadonlyArray<readonly [workbook: Stream.Stream<Uint8Array>, says: string]> = [
        [sheetOf('<row><c r="B1" t="s"><v>0</v></c></row>'), "column B refers to the shared text 0, which is missing"],
        [
          sheetOf('<row><c t="s"><v>1</v></c></row>', { "xl/sharedStrings.xml": "<sst><si><t>a</t></si></sst>" }),
          "the shared text 1"
        ],
        [sheetOf('<row><c s="1"><v>45322</v></c></row>'), "the style 1"],
        [
          sheetOf('<row><c s="0"><v>45322</v></c></row>', {
            "xl/styles.xml": '<styleSheet><cellXfs><xf numFmtId="170"/></cellXfs></styleSheet>'
          }),
          "the style 0"
        ],
        [
          sheetOf("", { "xl/workbook.xml": '<workbook><sheets><sheet name="A" id="rId1"/></sheets></workbook>' }),
          'its sheet "A" is missing'
        ]
      ]
      for (const [workbook, says] of refusals) assert.include(yield* whyNot(csvOf(workbook)), says)
      // A text needs no style.
      assert.strictEqual(yield* csvOf(sheetOf('<row><c s="3" t="str"><v>a</v></c></row>')), "a\n")
    })
  )

  it.effect("names another office file", () =>
    Effect.gen(function* () {
      for (const [target, says] of [
        ["word/document.xml", "a text document (.docx)"],
        ["/ppt/presentation.xml", "a presentation (.pptx)"],
        ["xl/workbook.bin", "a binary workbook (.xlsb)"]
      ] as const) {
        const roots = `<Relationships>${relation("rId1", "officeDocument", target)}</Relationships>`
        assert.include(
          yield* whyNot(csvOf(workbookOf({ "_rels/.rels": roots, [target.replace(/^\//, "")]: "<a/>" }))),
          says
        )
      }
    })
  )

  it.effect.each([
    ["00000", 1234, "01234"],
    ["00000", 123456, "123456"],
    ["00000", 0, "00000"],
    ["00000;-00000", 1234, "01234"],
    ["[Red]00000", 7, "00007"],
    ["00000\\-0000", 12_345_678, "01234-5678"],
    ["[&lt;=99999]00000;00000\\-0000", 1234, "01234"],
    ["[&lt;=99999]00000;00000\\-0000", 123_456_789, "12345-6789"],
    ["000 000", 12_345, "012 345"],
    ["&quot;CH-&quot;0000", 12, "CH-0012"],
    ["00000_);@", 12, "00012"],
    // Other formats are of numbers, which rules compare.
    ["0", 12, "12"],
    ["# ##0", 12_345, "12345"],
    ["0.00", 12, "12"],
    ["00.0", 1.5, "1.5"],
    ["00000", 1.5, "1.5"],
    ["00000", -12, "-12"],
    ["00%", 0.5, "0.5"],
    ["00E+00", 12, "12"]
  ] as const)("shows zeros in front as %s of %s does", ([code, number, shown]) =>
    Effect.gen(function* () {
      const own = `<styleSheet><numFmts><numFmt numFmtId="170" formatCode="${code}"/></numFmts><cellXfs><xf/><xf numFmtId="170"/></cellXfs></styleSheet>`
      const file = sheetOf(`<row><c s="1"><v>${number}</v></c></row>`, { "xl/styles.xml": own })
      assert.strictEqual((yield* csvOf(file)).replace(/^'/, ""), `${shown}\n`)
    })
  )

  it.effect("has other sheets with addresses, which are named", () =>
    Effect.gen(function* () {
      const file = sheetOf(`<row>${text("Read me")}</row>`, {
        "xl/worksheets/other.xml": `<worksheet><sheetData><row>${text("Mail")}</row><row>${text("ann@example.com")}</row></sheetData></worksheet>`
      })
      assert.deepStrictEqual(yield* otherAddressSheets(file), ["Other"])
      assert.deepStrictEqual(yield* otherAddressSheets(file, { sheet: "other" }), [])
    })
  )

  it.effect("is read as contacts, whose lines are the rows", () =>
    Effect.gen(function* () {
      const rows =
        `<row r="2">${text("Mail")}${text("Betrag;Summe")}</row>` +
        `<row r="5">${text("ann@example.com")}<c><v>1234.5</v></c></row><row r="6">${text("nobody")}</row>`
      const mapping = { columns: { Mail: "Email" }, ...workbookMapping }
      const read = yield* Stream.runCollect(readContacts(workbookToCsv(sheetOf(rows)), mapping))
      assert.deepStrictEqual(
        read.map(({ line }) => line),
        [5, 6]
      )
      assert.deepInclude(Result.getOrThrow(read[0]?.contact ?? Result.fail("")), {
        email: "ann@example.com",
        customFields: { "Betrag;Summe": "1234.5" }
      })
      assert.isTrue(read[1] !== undefined && Result.isFailure(read[1].contact))
    })
  )

  it.effect("is refused in a sentence", () =>
    Effect.gen(function* () {
      const refusals: ReadonlyArray<readonly [workbook: Stream.Stream<Uint8Array>, says: string]> = [
        [workbookOf({ "[Content_Types].xml": "<Types/>" }), "it has no sheets"],
        [Stream.make(new TextEncoder().encode("PK\u0003\u0004 broken")), "cannot be read"],
        [sheetOf('<row r="2"></row><row r="2"></row><row r="1"><c><v>1</v></c></row>'), "rows are in disorder"],
        [sheetOf('<row r="1048577"><c><v>1</v></c></row>'), "rows are in disorder"],
        [sheetOf('<row r="1"><c r="B1"><v>1</v></c><c r="A1"><v>1</v></c></row>'), "cells are in disorder"],
        [sheetOf('<row r="1"><c r="XFE1"><v>1</v></c></row>'), "cells are in disorder"],
        [sheetOf("<row"), "cannot be read"],
        [sheetOf('<row r="1"><![CDATA[ '), "cannot be read"],
        [sheetOf("", { "xl/worksheets/sheet9.xml": "<worksheet><sheetData/></worksheet>" }), "missing or empty"]
      ]
      for (const [workbook, says] of refusals) assert.include(yield* whyNot(csvOf(workbook)), says)
    })
  )

  it.effect("is counted before it is parsed", () =>
    Effect.gen(function* () {
      const tooMuch = workbookOf({ "xl/media/a.xml": new Uint8Array(1024 * 1024 + 1) })
      const reason = yield* whyNot(textOf(workbookToCsv(tooMuch, { mostXml: 1024 * 1024 })))
      assert.include(reason, "more than 1 MB of XML")
      assert.strictEqual(maximumXml, 256 * 1024 * 1024)
      const stored = Stream.flatMap(workbookOf({ "a.bin": crypto.getRandomValues(new Uint8Array(65_536)) }), (part) =>
        Stream.make(part.subarray(0, 40_000), new Uint8Array(maximumBytes))
      )
      assert.include(yield* whyNot(csvOf(stored)), "more than 50 MB")
    })
  )
})

/** What a reading takes of the processor of this thread, in seconds, whatever comes of it. */
const cpuOf = Effect.fnUntraced(function* <A, E>(reading: Effect.Effect<A, E>) {
  const before = process.threadCpuUsage()
  yield* Effect.exit(reading)
  const { system, user } = process.threadCpuUsage(before)
  return (user + system) / 1e6
})

describe("a small workbook that is made to be slow or large", () => {
  const mostXml = 8 * 1024 * 1024
  const formatted = (code: string) =>
    `<styleSheet><numFmts><numFmt numFmtId="165" formatCode="${code}"/></numFmts><cellXfs><xf numFmtId="165"/></cellXfs></styleSheet>`
  const shared = (texts: string) => ({ "xl/sharedStrings.xml": `<sst>${texts}</sst>` })
  const sharing = '<c t="s"><v>0</v></c>'
  const rows = (count: number, cells: string) => `<row>${cells}</row>`.repeat(count)

  // Each of the first took minutes, in one piece.
  for (const repeated of ["a", "a ", "a:", "1", "[", "&quot;", "[h", "\\", "_x"]) {
    it.effect(`takes little of 200,000 ${JSON.stringify(repeated)} in a tag, an address or a format`, () =>
      Effect.gen(function* () {
        const long = repeated.repeat(200_000)
        const files = [
          sheetOf(`<row ${long}>`),
          sheetOf(`<row><c r="${long}A"><v>1</v></c></row>`),
          sheetOf('<row><c s="0"><v>1</v></c></row>', { "xl/styles.xml": formatted(long) })
        ]
        for (const file of files) assert.isBelow(yield* cpuOf(csvOf(file)), 5)
      })
    )
  }

  it.effect("is refused before what it would be is made", () =>
    Effect.gen(function* () {
      const text = "x".repeat(32_767)
      const refusals: ReadonlyArray<readonly [workbook: Stream.Stream<Uint8Array>, says: string]> = [
        [sheetOf(rows(100_000, sharing), shared(`<si><t>${text}</t></si>`)), "more than 8 MB of CSV"],
        [
          sheetOf(rows(1, sharing.repeat(300)), shared(`<si><t>${text}</t></si>`)),
          "a row has more than 8388608 characters"
        ],
        [sheetOf(rows(1, sharing), shared("<si/>".repeat(140_000))), "more than 4 MB of texts"],
        [sheetOf(`<row>${"<c/>".repeat(300_000)}</row>`), "more than 262144 elements"],
        [sheetOf("", shared(`<si>${"<r/>".repeat(300_000)}</si>`)), "more than 262144 elements"],
        [sheetOf(`<row>${"x".repeat(1024 * 1024 + 1)}</row>`), "exceeds"]
      ]
      for (const [workbook, says] of refusals) {
        assert.include(yield* whyNot(textOf(workbookToCsv(workbook, { mostXml }))), says)
      }
    })
  )

  it.effect("becomes rows in pieces, however wide they are and many are empty", () =>
    Effect.gen(function* () {
      const wide = Array.from({ length: 60 }, (_, row) => `<row><c r="XFD${row}"><v>1</v></c></row>`).join("")
      const file = sheetOf(`${wide}<row r="100000"><c><v>2</v></c></row>`)
      const pieces = yield* Stream.runCollect(workbookToCsv(file))
      for (const { length } of pieces) assert.isBelow(length, 512 * 1024)
      assert.strictEqual(
        Buffer.concat(pieces).toString(),
        `${`${",".repeat(16_383)}1\r\n`.repeat(60)}${'""\r\n'.repeat(99_939)}2${",".repeat(16_383)}\r\n`
      )
    })
  )
})

describe("an exported CSV as a workbook", () => {
  const made = (csv: string) => csvToWorkbook(Stream.make(new TextEncoder().encode(csv)))

  it.effect("has texts as they are stored, and numbers", () =>
    Effect.gen(function* () {
      const sheet = yield* made(
        'Email,n\r\nann@example.com,12.5\r\n"\'=1+1",01234\r\n" a\r\n<b>&",\u0007_x0041_\r\n'
      ).pipe(
        Stream.pipeThroughChannel(Zip.decode()),
        Stream.flatMap(({ body, header }) => (header.path === "xl/worksheets/sheet1.xml" ? body : Stream.drain(body))),
        textOf
      )
      const cell = (address: string, value: string) =>
        `<c r="${address}" t="inlineStr"><is><t xml:space="preserve">${value}</t></is></c>`
      for (const found of [
        `<row r="2">${cell("A2", "ann@example.com")}<c r="B2"><v>12.5</v></c></row>`,
        `<row r="3">${cell("A3", "=1+1")}${cell("B3", "01234")}</row>`,
        `<row r="4">${cell("A4", " a_x000D_\n&lt;b&gt;&amp;")}${cell("B4", "_x0007__x005F_x0041_")}</row>`
      ]) {
        assert.include(sheet, found)
      }
    })
  )

  it.effect.prop(
    "has days and the times of the record as dates, which are read again as the same, and texts of other columns as they stand",
    [Schema.Int.check(Schema.isBetween({ minimum: -2_000_000_000, maximum: 10_000_000_000 }))],
    ([seconds]) =>
      Effect.gen(function* () {
        const time = new Date(seconds * 1000).toISOString()
        const whole = time.replace(".000Z", "Z")
        const row = [time.slice(0, 10), whole, whole, time.replace(".000Z", ".500Z"), whole].join(",")
        const [, again] = (yield* csvOf(
          Stream.orDie(made(`day,ConsentDate,DateAdded,ConsentDate,own\r\n${row}\r\n`))
        )).split("\n")
        const [day, consent = "", added = "", exact, own] = again?.split(",") ?? []
        assert.deepStrictEqual([day, exact, own], [time.slice(0, 10), time.replace(".000Z", ".500Z"), whole])
        for (const text of [consent, added]) {
          const isDated = !text.endsWith("Z")
          assert.strictEqual(isDated, new Date(seconds * 1000).getUTCFullYear() > 1900)
          assert.strictEqual(Date.parse(!isDated || text.length === 10 ? text : `${text}Z`), seconds * 1000)
        }
      })
  )

  it.effect("has bold headings, and dates in their format", () =>
    Effect.gen(function* () {
      const parts = yield* made("Email,born\r\nann@example.com,2024-01-31\r\n").pipe(
        Stream.pipeThroughChannel(Zip.decode()),
        Stream.mapEffect(({ body, header }) => Effect.map(textOf(body), (text) => [header.path, text] as const)),
        Stream.runCollect
      )
      const { "xl/styles.xml": styles, "xl/worksheets/sheet1.xml": sheet } = Object.fromEntries(parts)
      assert.include(sheet, '<c r="B1" s="1" t="inlineStr">')
      assert.include(sheet, '<c r="B2" s="2"><v>45322</v></c>')
      const [fonts = "", looks = ""] = ["fonts", "cellXfs"].map((name) => styles?.split(`<${name} `)[1])
      assert.include(fonts.split("<font>")[2], "<b/>")
      assert.match(looks.split("<xf ")[2] ?? "", /fontId="1"/)
      assert.match(looks.split("<xf ")[3] ?? "", /numFmtId="164"/)
    })
  )

  it.effect("is read again as it was", () =>
    Effect.gen(function* () {
      const csv = 'Email,a,b\r\nann@example.com,-5,\'-x\r\nbob@example.com,"a\rb",\r\n,1e3,0\r\n'
      const again = yield* Stream.mkString(Stream.decodeText(workbookToCsv(made(csv))))
      assert.strictEqual(again, csv.replace(",-5,", ",'-5,"))
    })
  )

  it.effect("is refused where a workbook cannot hold it", () =>
    Effect.gen(function* () {
      const long = yield* Effect.flip(textOf(made(`Email\r\n${"a".repeat(32_768)}\r\n`)))
      assert.deepInclude(long, {
        line: 2,
        reason: "a workbook takes at most 32767 characters in a cell; export the contacts as CSV"
      })
    })
  )
})
