/**
 * S55 Bad rows among good ones: every row is accepted or rejected with its line and the reason, and costs nobody else.
 */
import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { longRun } from "../../src/simulation/LongRun.ts"
import { Hostile, refusedImport, sendFile, settledImport } from "./Hostile.ts"

const header = "Email,FirstName\n"
const ann = "ann@row.example,Ann\n"
const bo = "bo@row.example,Bo\n"
const long = "x".repeat(1_000_000)

/** Rows between a good one on line 2 and another at the end: which lines are rejected, and why. */
const bad: ReadonlyArray<
  readonly [why: string, rows: string | Buffer, rejected: ReadonlyArray<readonly [number, RegExp]>]
> = [
  ["an address that is none", "nobody,X\n", [[3, /Email/]]],
  ["no address", ",X\n", [[3, /e-mail/]]],
  ["an address with a space", "a b@row.example,X\n", [[3, /Email/]]],
  ["an address of 300 characters", `${"a".repeat(300)}@row.example,X\n`, [[3, /Email/]]],
  ["a short row", "short@row.example\n", [[3, /1 cell,/]]],
  ["a long row", "long@row.example,X,more\n", [[3, /3 cells/]]],
  ["text behind a quote", 'q@row.example,"X" Y\n', [[3, /after a closing quote/]]],
  ["a quote that never closes", 'q@row.example,"X\n', [[3, /never closed/]]],
  ["a NUL in a name", "nul@row.example,A\0B\n", [[3, /NUL/]]],
  ["a NUL in an address", "n\0l@row.example,A\n", [[3, /Email/]]],
  ["NUL alone", "\0\0\0\n", [[3, /./]]],
  ["another header", "Email,FirstName\n", [[3, /Email/]]],
  [
    "an HTML page",
    "<html>\n<body>,</body>\n",
    [
      [3, /./],
      [4, /./]
    ]
  ],
  ["many of one kind", "x\n".repeat(50), Array.from({ length: 50 }, (_, i) => [3 + i, /1 cell,/] as const)],
  ["a row of 1 MB", `mega@row.example,${long}\n`, [[3, /FirstName: .* at most 32768 bytes/]]],
  ["a row of 1 MB without an address", `${long},X\n`, [[3, /Email/]]],
  ["a row of 9 MB", `big@row.example,${long.repeat(9)}\n`, [[3, /longer than 8388608/]]],
  [
    "a row of 9 MB in quotes, of many lines",
    `b@row.example,"${`${"y".repeat(9)}\n`.repeat(3)}${long.repeat(9)}"\n`,
    [
      [3, /./],
      [4, /./],
      [5, /./],
      [6, /longer than 8388608/]
    ]
  ]
]

layer(Hostile.layer(), { excludeTestServices: true, timeout: "60 seconds" })("S.4 hostile rows", (it) => {
  it.effect.each(bad)("S55 %s", ([, rows, rejected]) =>
    Effect.gen(function* () {
      const { job, rejections } = yield* settledImport(sendFile(`${header}${ann}${rows.toString()}${bo}`))
      assert.deepInclude(job, { state: "Ready", accepted: 2, rejected: rejected.length })
      assert.deepStrictEqual(
        rejections.map(({ line }) => line),
        rejected.map(([line]) => line)
      )
      for (const [index, [, reason]] of rejected.entries()) assert.match(rejections[index]?.reason ?? "", reason)
    })
  )

  it.effect.each([
    ["an unclosed quote at the end", `${header}${ann}end@row.example,"X`, 1, [3]],
    ["a quote at the very end", `${header}${ann}"`, 1, [3]],
    ["a cut row at the end", `${header}${ann}end@row.ex`, 1, [3]],
    ["blank lines between", `\n\n${header}\n\n${ann}\r\n \n${bo}\n\n`, 2, []],
    ["line breaks of all kinds", `Email,FirstName\r${ann}${bo}c@row.example,C\r\n`, 3, []],
    ["a row as long as a contact may be", `${header}${ann}mega@row.example,${long.slice(0, 32_000)}\n${bo}`, 3, []],
    ["a quote in a cell", `${header}${ann}q@row.example,5" pipe\n${bo}`, 3, []],
    ["a header and nothing else", header, 0, []],
    ["a header without a line break", "Email", 0, []],
    ["quotes that swallow nothing", `${header}a1@row.example,"\n`.repeat(1) + `${ann}${bo}`, 2, [2]]
  ] as const)("S55 %s", ([, file, accepted, rejected]) =>
    Effect.gen(function* () {
      const { job, rejections } = yield* settledImport(sendFile(file))
      assert.deepInclude(job, { state: "Ready", accepted, rejected: rejected.length })
      assert.deepStrictEqual(
        rejections.map(({ line }) => line),
        [...rejected]
      )
    })
  )

  it.effect.each([
    ["a column that comes twice", "Email,City,City\na@row.example,X,Y\n", "twice"],
    ["Email twice, in another case", "Email,EMAIL\na@row.example,b@row.example\n", "twice"],
    ["no e-mail column", "Name,City\nA,B\n", 'no column \\"Email\\"'],
    ["no header, rows at once", `${ann}${bo}`, "an e-mail address where the header is expected"],
    ["nothing", "", "empty"],
    ["blank lines", "\n \r\n\n", "empty"],
    ["a mark and nothing else", "\ufeff", "empty"],
    ["NUL bytes", Buffer.alloc(10_000), "no text"],
    ["an unclosed quote in the header", `"Email,FirstName\n${ann}`, "never closed"],
    ["a header of 9 MB", `Email,${long.repeat(9)}`, "longer than 8388608"],
    ["bytes that are not UTF-8 in the header", Buffer.from("Email,N\xe9\n", "latin1"), "utf-8"],
    ["an image", Buffer.from("\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "latin1"), "picture"],
    ["UTF-16 without a mark", Buffer.from(`${header}${ann}`, "utf16le"), "utf-16le"]
  ] as const)("S55 a file with %s is refused at once", ([, file, reason]) =>
    Effect.gen(function* () {
      assert.include(yield* refusedImport(sendFile(file)), reason.replaceAll("\\", ""))
    })
  )

  // The rows and the header of 9 MB above are alike to the reader but for their quotes and commas.
  it.effect.skipIf(!longRun)("S55 a quoted row of 9 MB (nightly)", () =>
    Effect.gen(function* () {
      const row = `big@row.example,"${long.repeat(9)}"\n`
      const { job, rejections } = yield* settledImport(sendFile(`${header}${ann}${row}${bo}`))
      assert.deepInclude(job, { state: "Ready", accepted: 2, rejected: 1 })
      assert.deepStrictEqual(
        rejections.map(({ line }) => line),
        [3]
      )
      assert.match(rejections[0]?.reason ?? "", /longer than 8388608/)
    })
  )

  it.effect.skipIf(!longRun)(
    "S55 a file with a header of many columns that never ends is refused at once (nightly)",
    () =>
      Effect.gen(function* () {
        assert.include(yield* refusedImport(sendFile(Buffer.alloc(9_000_000, "Email,"))), "longer than 8388608")
      })
  )

  it.effect("S55 bytes of another encoding far behind the header end the import with their line", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 20_000 }, (_, n) => `far-${n}@bytes.example,Zo\u00eb\n`)
      const file = Buffer.concat([
        Buffer.from(header + rows.join("")),
        Buffer.from("z@bytes.example,Zo\xeb\n", "latin1")
      ])
      const { contacts, job } = yield* settledImport(sendFile(file))
      assert.strictEqual(job.state, "Error")
      assert.match(job.problem ?? "", /line \d+: soon after it come bytes that are not utf-8/)
      const there = contacts("bytes.example")
      assert.strictEqual(there.length, job.accepted)
      assert.isTrue(there.every((contact) => contact.first_name === "Zoë"))
    })
  )

  it.effect("S55 a line that never ends costs itself, and little memory", () =>
    Effect.gen(function* () {
      const file = Buffer.concat([Buffer.from(header + ann), Buffer.alloc(70_000_000, "x"), Buffer.from(`\n${bo}`)])
      const { job, rejections } = yield* settledImport(sendFile(file))
      assert.deepInclude(job, { state: "Ready", accepted: 2, rejected: 1 })
      assert.deepStrictEqual(
        rejections.map(({ line }) => line),
        [3]
      )
    })
  )

  it.effect("S55 long rows, all of them good, are not held together", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 2400 }, (_, n) =>
        Buffer.from(`long@row.example,${n}${long.slice(0, 30_000)}\n`)
      )
      const { job } = yield* settledImport(sendFile(Buffer.concat([Buffer.from(header), ...rows])))
      assert.deepInclude(job, { state: "Ready", accepted: 2400, rejected: 0 })
    })
  )

  it.effect("S55 rows in all their kinds, many of each", () =>
    Effect.gen(function* () {
      const kinds = [ann, "nobody,X\n", "x\n", "a@row.example,1,2\n", '"\n', ",\n", "\n", bo, "é@row.example,Z\n"]
      const rows = Array.from({ length: 9000 }, (_, n) => kinds[(n * n + n) % kinds.length] ?? "")
      const lines = rows.flatMap((row, n) => (row === "\n" ? [] : [n + 2]))
      const { job, rejections } = yield* settledImport(sendFile(header + rows.join("")))
      assert.strictEqual(job.state, "Ready")
      assert.isTrue(rejections.every(({ line, reason }) => lines.includes(line) && reason !== ""))
      assert.strictEqual(new Set(rejections.map(({ line }) => line)).size, rejections.length)
      assert.strictEqual(job.rejected, rejections.length)
    })
  )
})

layer(Hostile.layer(), { excludeTestServices: true, timeout: "60 seconds" })("S.4 files in their encodings", (it) => {
  const table = (name: string, text: string, delimiter = ",") =>
    `email${delimiter}FIRSTNAME${delimiter}note\r\n${name}@enc.example${delimiter}${text}${delimiter}"two\r\nlines"\r\n`
  const utf16be = (text: string) => Buffer.from(text, "utf16le").swap16()

  it.effect.each([
    ["utf-8", "Zoë 😀", (text: string) => Buffer.from(table("utf-8", text)), ""],
    ["utf-8-marked", "Zoë 😀", (text: string) => Buffer.from(`\ufeff${table("utf-8-marked", text, ";")}`), ""],
    ["utf-16le", "Zoë 😀", (text: string) => Buffer.from(`\ufeff${table("utf-16le", text, "\t")}`, "utf16le"), ""],
    ["utf-16be", "Zoë 😀", (text: string) => utf16be(`\ufeff${table("utf-16be", text)}`), ""],
    ["utf-16le-named", "Zoë", (text: string) => Buffer.from(table("utf-16le-named", text), "utf16le"), "utf-16le"],
    ["marked-wins", "Zoë", (text: string) => Buffer.from(`\ufeff${table("marked-wins", text)}`), "windows-1252"],
    [
      "windows-1252",
      "€ Œuvré",
      () => bytesOf("windows-1252", [0x80, 0x20, 0x8c, 0x75, 0x76, 0x72, 0xe9]),
      "windows-1252"
    ],
    ["latin1", "€", () => bytesOf("latin1", [0x80]), "ISO-8859-1"],
    ["windows-1250", "Łódź", () => bytesOf("windows-1250", [0xa3, 0xf3, 0x64, 0x9f]), "windows-1250"],
    ["koi8-r", "Анна", () => bytesOf("koi8-r", [0xe1, 0xce, 0xce, 0xc1]), "koi8-r"],
    ["windows-1251", "Анна", () => bytesOf("windows-1251", [0xc0, 0xed, 0xed, 0xe0]), "cp1251"],
    ["shift-jis", "花子", () => bytesOf("shift-jis", [0x89, 0xd4, 0x8e, 0x71]), "Shift_JIS"],
    ["gb18030", "王", () => bytesOf("gb18030", [0xcd, 0xf5]), "GB2312"],
    ["macintosh", "é", () => bytesOf("macintosh", [0x8e]), "macintosh"]
  ] as const)("S55 a file in %s comes in as it was written", ([name, text, bytes, encoding]) =>
    Effect.gen(function* () {
      const query = encoding === "" ? "" : `?encodingName=${encoding}`
      const { contacts, job } = yield* settledImport(sendFile(bytes(text), query))
      assert.deepInclude(job, { state: "Ready", accepted: 1, rejected: 0 })
      const contact = contacts("enc.example").find(({ email }) => email === `${name}@enc.example`)
      assert.strictEqual(contact?.first_name, text)
      assert.deepStrictEqual(JSON.parse(contact?.custom_fields ?? ""), { note: "two\r\nlines" })
    })
  )

  it.effect("S55 a file in the wrong encoding is never half right", () =>
    Effect.gen(function* () {
      assert.include(yield* refusedImport(sendFile(bytesOf("wrong", [0xe9, 0x41]))), "utf-8")
      assert.include(yield* refusedImport(sendFile(bytesOf("wrong", [0xff]), "?encodingName=Shift_JIS")), "shift_jis")
      const odd = Buffer.from(`\ufeff${table("odd", "x")}`, "utf16le").subarray(0, -1)
      assert.include(yield* refusedImport(sendFile(odd)), "utf-16le")
    })
  )

  /** A file whose first name has these bytes, from the code chart of its encoding. */
  const bytesOf = (name: string, text: ReadonlyArray<number>): Buffer => {
    const [before = "", behind = ""] = table(name, "|").split("|")
    return Buffer.concat([Buffer.from(before), Buffer.from(text), Buffer.from(behind)])
  }
})
