import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { readContacts } from "../../src/csv/ContactCsv.ts"
import type { ImportMapping } from "../../src/csv/ImportMapping.ts"

/** Rows that a mapping of known names gives. */
const rowsOf = (...given: Parameters<typeof readContacts<never>>) =>
  Stream.catchTag(readContacts(...given), "InvalidInput", Stream.die)

const utf8 = (text: string) => new TextEncoder().encode(text)

const utf16 = (text: string, littleEndian: boolean) => {
  const view = new DataView(new ArrayBuffer(2 * text.length))
  for (let i = 0; i < text.length; i++) view.setUint16(2 * i, text.charCodeAt(i), littleEndian)
  return new Uint8Array(view.buffer)
}

/** What a test looks at: the line, and the address with its profile or that the row is bad. */
const outline = (rows: ReadonlyArray<{ readonly line: number; readonly contact: Result.Result<unknown, string> }>) =>
  rows.map(({ contact, line }) =>
    Result.isSuccess(contact) ? { line, ...Object(contact.success) } : { line, bad: true }
  )

const read = (bytes: Uint8Array, { chunk, ...mapping }: ImportMapping & { readonly chunk?: number } = {}) => {
  const size = chunk ?? Math.max(1, bytes.length)
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))
  return rowsOf(Stream.fromIterable(chunks), mapping).pipe(Stream.runCollect, Effect.map(outline))
}

const a = { email: "a@example.com" }
const b = { email: "b@example.com" }

const files: ReadonlyArray<readonly [why: string, file: string, rows: ReadonlyArray<unknown>]> = [
  [
    "CRLF",
    "Email,FirstName\r\na@example.com,Ann\r\nb@example.com,Bo\r\n",
    [
      { line: 2, ...a, firstName: "Ann" },
      { line: 3, ...b, firstName: "Bo" }
    ]
  ],
  [
    "LF and no break at the end",
    "Email\na@example.com\nb@example.com",
    [
      { line: 2, ...a },
      { line: 3, ...b }
    ]
  ],
  [
    "CR alone, as old Macs wrote",
    "Email\ra@example.com\rb@example.com\r",
    [
      { line: 2, ...a },
      { line: 3, ...b }
    ]
  ],
  ["a byte order mark", "\ufeffEmail\na@example.com\n", [{ line: 2, ...a }]],
  [
    "a byte order mark and a quoted header",
    '\ufeff"Email","FirstName"\na@example.com,Ann\n',
    [{ line: 2, ...a, firstName: "Ann" }]
  ],
  [
    "semicolons",
    "Email;FirstName;Note\na@example.com;Ann;x,y\n",
    [{ line: 2, ...a, firstName: "Ann", customFields: { Note: "x,y" } }]
  ],
  ["tabs", "Email\tFirstName\na@example.com\tAnn\n", [{ line: 2, ...a, firstName: "Ann" }]],
  [
    "a quoted header with more semicolons than there are commas",
    'Email,"a;b;c"\na@example.com,x\n',
    [{ line: 2, ...a, customFields: { "a;b;c": "x" } }]
  ],
  [
    "names with more semicolons than there are commas, and the word email between them",
    "Email,a;b;c;email,x\temail\ty\na@example.com,x,\n",
    [{ line: 2, ...a, customFields: { "a;b;c;email": "x" } }]
  ],
  [
    "a quoted header with a line break in it",
    '"First\nname; or; call",Email\nx,a@example.com\n',
    [{ line: 3, ...a, customFields: { "First\nname; or; call": "x" } }]
  ],
  [
    "quoted commas and quotes",
    'Email,LastName\na@example.com,"O""Neil, Jr."\n',
    [{ line: 2, ...a, lastName: 'O"Neil, Jr.' }]
  ],
  [
    "line breaks of every kind in quotes",
    'Email,Note\na@example.com,"1\n2\r\n3\r4"\nb@example.com,x\n',
    [
      { line: 2, ...a, customFields: { Note: "1\n2\r\n3\r4" } },
      { line: 6, ...b, customFields: { Note: "x" } }
    ]
  ],
  [
    "blank lines",
    "Email\n\n\na@example.com\n\nb@example.com\n\n",
    [
      { line: 4, ...a },
      { line: 6, ...b }
    ]
  ],
  [
    "blank lines before the header",
    "\r\n\r\nEmail;FirstName\r\na@example.com;Ann\r\n",
    [{ line: 4, ...a, firstName: "Ann" }]
  ],
  [
    "a short row",
    "Email,FirstName,LastName\na@example.com,Ann\nb@example.com,Bo,B\n",
    [
      { line: 2, bad: true },
      { line: 3, ...b, firstName: "Bo", lastName: "B" }
    ]
  ],
  [
    "a long row",
    "Email\na@example.com,x\nb@example.com\n",
    [
      { line: 2, bad: true },
      { line: 3, ...b }
    ]
  ],
  [
    "a bad address among good ones",
    "Email\nnobody\na@example.com\n",
    [
      { line: 2, bad: true },
      { line: 3, ...a }
    ]
  ],
  [
    "an unclosed quote, which costs its own row",
    'Email,LastName\na@example.com,A\nbad@example.com,"B\nb@example.com,C\n',
    [
      { line: 2, ...a, lastName: "A" },
      { line: 3, bad: true },
      { line: 4, ...b, lastName: "C" }
    ]
  ],
  [
    "text behind a closing quote",
    'Email,LastName\na@example.com,A\nbad@example.com,"B" C\nb@example.com,C\n',
    [
      { line: 2, ...a, lastName: "A" },
      { line: 3, bad: true },
      { line: 4, ...b, lastName: "C" }
    ]
  ],
  [
    "quotes inside cells that begin with none",
    'Email,FirstName,LastName\na@example.com,Ann "Annie" Lee, "A"\nb@example.com,5" pipe,\\"\n',
    [
      { line: 2, ...a, firstName: 'Ann "Annie" Lee', lastName: ' "A"' },
      { line: 3, ...b, firstName: '5" pipe', lastName: '\\"' }
    ]
  ],
  [
    "a quote inside a heading",
    'Email,5" pipe\na@example.com,x\nb@example.com,"y"\n',
    [
      { line: 2, ...a, customFields: { '5" pipe': "x" } },
      { line: 3, ...b, customFields: { '5" pipe': "y" } }
    ]
  ],
  [
    "bars",
    "Email|FirstName|Note\na@example.com|Ann|x,y;z\n",
    [{ line: 2, ...a, firstName: "Ann", customFields: { Note: "x,y;z" } }]
  ],
  [
    "a line that names the delimiter",
    "sep=;\r\nEmail;FirstName,x\r\na@example.com;Ann\r\n",
    [{ line: 3, ...a, customFields: { "FirstName,x": "Ann" } }]
  ],
  [
    "such a line in quotes, after a mark and a blank line",
    '\ufeff\n"sep=|"\nEmail|FirstName\na@example.com|Ann\n',
    [{ line: 4, ...a, firstName: "Ann" }]
  ],
  ["a line that names a tab", "sep=\t\nEmail\tFirstName\na@example.com\tAnn\n", [{ line: 3, ...a, firstName: "Ann" }]],
  ["a line that names the delimiter and nothing else", "sep=;\nEmail", []],
  [
    "columns without a name, and text below one of them",
    "Email,,FirstName, ,\na@example.com,,Ann, ,\nb@example.com,x,Bo,,\n",
    [
      { line: 2, ...a, firstName: "Ann" },
      { line: 3, bad: true }
    ]
  ],
  [
    "a quote at the very end",
    'Email\na@example.com\n"',
    [
      { line: 2, ...a },
      { line: 3, bad: true }
    ]
  ],
  [
    "a quoted line break in a header of semicolons",
    '"First\nname";Email\nx;a@example.com\n',
    [{ line: 3, ...a, customFields: { "First\nname": "x" } }]
  ],
  ["space around addresses", "Email\n  a@example.com \n", [{ line: 2, ...a }]],
  [
    "names that are not ASCII",
    "Email,FirstName\na@example.com,Łukasz 😀\u2028\n",
    [{ line: 2, ...a, firstName: "Łukasz 😀\u2028" }]
  ],
  ["a header and nothing else", "Email,FirstName\n", []]
]

describe("readContacts", () => {
  it.effect.each(files)("reads a file with %s", ([, file, rows]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual<unknown>(yield* read(utf8(file)), rows)
    })
  )

  it.effect.each(files)("reads a file with %s byte by byte", ([, file, rows]) =>
    Effect.gen(function* () {
      assert.deepStrictEqual<unknown>(yield* read(utf8(file), { chunk: 1 }), rows)
      assert.deepStrictEqual<unknown>(yield* read(utf8(file), { chunk: 7 }), rows)
    })
  )

  it.effect.each([true, false])("reads UTF-16 by its mark, little-endian: %s", (littleEndian) =>
    Effect.gen(function* () {
      const bytes = utf16("\ufeffEmail;FirstName\r\na@example.com;Łukasz 😀\r\n", littleEndian)
      const rows = [{ line: 2, ...a, firstName: "Łukasz 😀" }]
      assert.deepStrictEqual<unknown>(yield* read(bytes), rows)
      assert.deepStrictEqual<unknown>(yield* read(bytes, { chunk: 1 }), rows)
      assert.deepStrictEqual<unknown>(yield* read(bytes, { chunk: 3, encoding: "windows-1252" }), rows)
    })
  )

  // "François Œuvré" in windows-1252, byte by byte from its code chart.
  const french = new Uint8Array([
    ...utf8("Email,FirstName\na@example.com,Fran"),
    0xe7,
    ...utf8("ois "),
    0x8c,
    ...utf8("uvr"),
    0xe9,
    0x0a
  ])

  it.effect("reads windows-1252 by name", () =>
    Effect.gen(function* () {
      const rows = [{ line: 2, ...a, firstName: "François Œuvré" }]
      assert.deepStrictEqual<unknown>(yield* read(french, { encoding: "windows-1252" }), rows)
      assert.deepStrictEqual<unknown>(yield* read(french, { encoding: "Windows-1252", chunk: 1 }), rows)
    })
  )

  it.effect("fails on bytes that are not UTF-8 and puts no replacement character into a name", () =>
    Effect.gen(function* () {
      for (const bytes of [
        french,
        new Uint8Array([...utf8("Email\na@example.com\n"), 0xff, 0xfe]),
        utf8("Email\n\u00e9").slice(0, -1),
        new Uint8Array([...utf8("Email\n"), 0xed, 0xa0, 0x80])
      ]) {
        for (const chunk of [1, 5, bytes.length]) {
          const error = yield* Effect.flip(read(bytes, { chunk }))
          assert.strictEqual(error._tag, "UnreadableFile")
          assert.include(error.message, "utf-8")
          assert.isAtMost(error.line, 3)
        }
      }
    })
  )

  it.effect("says where bytes that are not UTF-8 are, in however large pieces they come", () =>
    Effect.gen(function* () {
      const row = utf8('a@example.com,"Zo\u00eb\nAnn"\n')
      const rows = Array.from({ length: 1000 }, () => row)
      for (const chunk of [7, 100, 128 * 1024]) {
        const file = Buffer.concat([utf8("Email,FirstName\n"), ...rows, Buffer.from([0xe9, 0x0a]), ...rows])
        const error = yield* Effect.flip(read(file, { chunk }))
        // The last row before them begins here.
        assert.deepStrictEqual([error._tag, error.line], ["UnreadableFile", 2000])
      }
    })
  )

  it.effect("gives the rows before bytes that cannot be read", () =>
    Effect.gen(function* () {
      const seen: Array<number> = []
      // The first bytes show what the file is.
      const chunks = [utf8(`Email${"\n".repeat(600)}a@example.com\nb@example.com\n`), new Uint8Array([0xff])]
      const error = yield* rowsOf(Stream.fromIterable(chunks)).pipe(
        Stream.runForEach((row) => Effect.sync(() => seen.push(row.line))),
        Effect.flip
      )
      assert.strictEqual(error._tag, "UnreadableFile")
      assert.deepStrictEqual(seen, [601, 602])
    })
  )

  it.effect.each([
    ["an empty file", "", 1],
    ["blank lines only", "\n\r\n \n", 1],
    ["a mark and nothing else", "\ufeff", 1],
    ["a header without Email", "Name,City\nA,B\n", 1],
    ["a page of HTML", "<!doctype html>\n<title>Not found</title>\n", 1],
    ["a header with a column twice", "Email,City,City\na@example.com,X,Y\n", 1]
  ] as const)("cannot read %s as contacts", ([, file, line]) =>
    Effect.gen(function* () {
      for (const chunk of [1, Math.max(1, file.length)]) {
        const error = yield* Effect.flip(read(utf8(file), { chunk }))
        assert.deepStrictEqual([error._tag, error.line], ["UnreadableFile", line])
      }
    })
  )

  it.effect("cannot read an encoding that there is not", () =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(utf8("Email\na@example.com\n"), { encoding: "klingon-8" }))
      assert.strictEqual(error._tag, "UnreadableFile")
    })
  )

  describe("bounds what is made of one piece", () => {
    const tooMany = "the row has more than 16384 cells; take the surplus ones out"
    const cells = (count: number, cell: string) => Array.from({ length: count }, () => cell).join(",")
    const contacts = (file: string, chunk: number) => {
      const bytes = utf8(file)
      const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, i) =>
        bytes.slice(i * chunk, (i + 1) * chunk)
      )
      return Stream.runCollect(rowsOf(Stream.fromIterable(chunks)))
    }

    it.effect.each(["", '""', "x"])("a header of more than 16,384 cells, each `%s`", (cell) =>
      Effect.gen(function* () {
        for (const chunk of [1000, 1_000_000]) {
          const header = `Email,${cells(16_384, cell)}`
          const error = yield* Effect.flip(contacts(`${header}\na@example.com\n`, chunk))
          assert.deepStrictEqual([error.line, error.reason], [1, tooMany])
        }
      })
    )

    it.effect("a header of 16,384 columns is read, and a row with more cells is rejected alone", () =>
      Effect.gen(function* () {
        const names = Array.from({ length: 16_383 }, (_, n) => `n${n}`).join()
        const rows = [
          `a@example.com,x,${cells(16_382, "")}`,
          cells(2_000_000, ""),
          `b@example.com,${cells(16_383, "")}`
        ]
        const file = `Email,${names}\n${rows.join("\n")}\n`
        for (const chunk of [10_000, 10_000_000]) {
          const read = yield* contacts(file, chunk)
          assert.deepStrictEqual<unknown>(outline(read), [
            { line: 2, ...a, customFields: { n0: "x" } },
            { line: 3, bad: true },
            { line: 4, ...b }
          ])
          assert.strictEqual(read[1]?.fault?.reason, tooMany)
          assert.isAtMost(read[1]?.cells.join("").length ?? 0, 64 * 1024 + 1)
        }
      })
    )

    // If each piece were joined with all before it, this would take minutes.
    it.effect("a row and an object of 9 MiB that come in pieces of 200 bytes", () =>
      Effect.gen(function* () {
        const long = "x".repeat(9 * 1024 * 1024)
        for (const row of [`a@example.com,${long}`, `a@example.com,"${long}"`]) {
          const [bad, good] = yield* contacts(`Email,A\n${row}\nb@example.com,y\n`, 200)
          assert.deepStrictEqual([bad?.line, bad?.fault?.code, good?.line], [2, "Format", 3])
          assert.deepStrictEqual<unknown>(outline([good ?? assert.fail()]), [
            { line: 3, ...b, customFields: { A: "y" } }
          ])
        }
        const error = yield* Effect.flip(contacts(`{"Email":"a@example.com","A":"${long}"}`, 200))
        assert.strictEqual(error.reason, "an object is longer than 8388608 bytes")
      })
    )

    it.effect("a heading of more than 32,767 characters", () =>
      Effect.gen(function* () {
        const file = (length: number) => `Email,${"x".repeat(length)}\na@example.com,\n`
        assert.strictEqual((yield* contacts(file(32_767), 10_000)).length, 1)
        const error = yield* Effect.flip(contacts(file(32_768), 10_000))
        assert.match(error.reason, /longer than 32767 characters/)
      })
    )

    it.effect("blank cells beyond the columns change nothing, and a text there does", () =>
      Effect.gen(function* () {
        const [blank, text] = yield* contacts(`Email,A\na@example.com,x,,  ,"",\na@example.com,x,,y\n`, 1000)
        assert.deepStrictEqual(blank?.cells, ["a@example.com", "x", "", "  ", "", ""])
        assert.deepStrictEqual<unknown>(outline([blank ?? assert.fail()]), [
          { line: 2, ...a, customFields: { A: "x" } }
        ])
        assert.strictEqual(text?.fault?.reason, "the row has 4 cells, the header has 2 columns")
      })
    )

    it.effect("a million blank lines before the header", () =>
      Effect.gen(function* () {
        for (const file of [`${"\r\n".repeat(1_000_000)}Email\na@example.com\n`, `${" \n".repeat(9)}Email\n`]) {
          const read = yield* contacts(file, 262_144)
          assert.strictEqual(read.length, file.length > 100 ? 1 : 0)
          if (read[0] !== undefined) assert.strictEqual(read[0].line, 1_000_002)
        }
      })
    )

    it.effect.each([" ", "\n", "[ "])("a file that begins with 17 MiB of %j", (sign) =>
      Effect.gen(function* () {
        const part = utf8(sign.repeat((1024 * 1024) / sign.length))
        const parts = Array.from({ length: 17 }, (_, index) => (index === 0 ? part : part.map(() => 0x20)))
        const error = yield* Effect.flip(Stream.runDrain(rowsOf(Stream.fromIterable(parts))))
        assert.strictEqual(error._tag, "UnreadableFile")
      })
    )
  })

  const Cell = Schema.Array(Schema.Literals(["a", "é", "😀", ",", ";", '"', "\r\n", "\n", "\r", " "]))
  it.effect.prop(
    "has the line of each row exact, whatever stands in the cells",
    [
      Schema.Array(Cell),
      Schema.Literals(["\n", "\r\n"]),
      Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 9 }))
    ],
    ([cells, newline, chunk]) =>
      Effect.gen(function* () {
        const texts = cells.map((parts) => parts.join(""))
        const records = texts.map((text, i) => `r${i}@example.com,"${text.replaceAll('"', '""')}"`)
        const file = ["Email,Note", ...records].join(newline)
        // The line on which an editor would show each row: one more than the breaks before it.
        const expected = records.map((record, i) => ({
          line: 1 + (file.slice(0, file.indexOf(record)).match(/\r\n|\n|\r/g)?.length ?? 0),
          email: `r${i}@example.com`,
          ...(texts[i] === "" ? {} : { customFields: { Note: texts[i] } })
        }))
        assert.deepStrictEqual<unknown>(yield* read(utf8(file), { chunk }), expected)
      })
  )

  const Garbage = Schema.Array(Schema.Literals(["a@example.com", "x", ",", ";", '"', '""', "\r\n", "\n", "\r", " "]))
  it.effect.prop(
    "reads garbage the same in pieces of any size, and accounts for every line of it",
    [Garbage, Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 7 }))],
    ([pieces, chunk]) =>
      Effect.gen(function* () {
        const file = `Email,Note\n${pieces.join("")}`
        const whole = yield* read(utf8(file))
        assert.deepStrictEqual<unknown>(yield* read(utf8(file), { chunk }), whole)
        const lines = whole.map((row) => row.line)
        assert.deepStrictEqual(
          lines,
          [...new Set(lines)].sort((x, y) => x - y)
        )
        // Without quotes a row is a line, and none that holds anything is left out.
        if (file.includes('"')) return
        const filled = file.split(/\r\n|\r|\n/).flatMap((line, i) => (i > 0 && line.trim() !== "" ? [i + 1] : []))
        assert.deepStrictEqual(lines, filled)
      }),
    { arbitrary: { runs: 300 } }
  )
})
