import { assert, describe, it } from "@effect/vitest"
import { ContactPayload, ContactStatus, ImportMapping, lookAtRows, readContacts } from "@roster/domain"
import { ContactColumns, ImportMappingText } from "@roster/domain/internal"
import { Effect, Result, Schema, Stream } from "effect"

const utf8 = (text: string) => new TextEncoder().encode(text)

const rowsOf = (text: string, mapping: ImportMapping = {}, size = text.length) => {
  const bytes = utf8(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))
  return Stream.runCollect(
    Stream.catchTag(readContacts(Stream.fromIterable(pieces), mapping), "InvalidInput", Stream.die)
  )
}

/** The contact of each row, or its problem. */
const read = (text: string, mapping: ImportMapping = {}) =>
  Effect.map(rowsOf(text, mapping), (rows) =>
    rows.map(({ contact }): unknown => Result.getOrElse(contact, (reason) => reason))
  )

/** How one row fares, and what would do. */
const only = (text: string, mapping: ImportMapping = {}) =>
  Effect.map(rowsOf(text, mapping), ([row]) => ({
    reason: row === undefined || Result.isSuccess(row.contact) ? "" : row.contact.failure,
    suggestion: row?.fault?.suggestion,
    unnamed: row?.unnamed
  }))

const refused = (text: string, mapping: ImportMapping = {}, size?: number) => Effect.flip(rowsOf(text, mapping, size))

const email = "a@example.com"

describe("ImportMapping", () => {
  // What the file of a mapping is read by.
  const Json = ImportMappingText
  const Name = Schema.Literals(["City", "#2", "__proto__", "constructor", '5"', "5\\", "1", "ü"])
  it.prop(
    "has a JSON form that keeps all of it",
    [
      Schema.Struct({
        encoding: Schema.optionalKey(Schema.Literals(["utf-8", "windows-1252"])),
        delimiter: Schema.optionalKey(Schema.Literals([",", ";", "\t", "|"])),
        skipLines: Schema.optionalKey(Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 9 }))),
        header: Schema.optionalKey(Schema.Boolean),
        columns: Schema.optionalKey(Schema.Array(Schema.Tuple([Name, Schema.NullOr(Name)]))),
        values: Schema.optionalKey(Schema.Array(Schema.Tuple([Name, Schema.Array(Schema.Tuple([Name, Name]))])))
      })
    ],
    ([{ columns, values, ...rest }]) => {
      const mapping: ImportMapping = {
        ...rest,
        ...(columns === undefined ? {} : { columns: Object.fromEntries(columns) }),
        ...(values === undefined
          ? {}
          : { values: Object.fromEntries(values.map(([field, words]) => [field, Object.fromEntries(words)])) })
      }
      const text = Schema.encodeSync(Json)(mapping)
      assert.deepStrictEqual(Schema.decodeSync(Json)(text), mapping)
    }
  )

  it.each([
    [{ encoding: "klingon-8" }, "no such encoding"],
    [{ delimiter: ":" }, "delimiter"],
    [{ skipLines: -1 }, "skipLines"],
    [{ columns: { Town: "TotalSent" } }, "only the service sets"],
    [{ columns: { Town: " DateAdded " } }, "only the service sets"],
    [{ columns: { Town: " " } }, "a field has a name"],
    [{ values: { status: { subscribed: "Activ" } } }, '"Activ" is no Status, which is Transactional, Engaged'],
    [{ values: { ConsentTracking: { yes: "Yes" } } }, "which is Unknown, Allow or Deny"]
  ])("refuses %j", (mapping, says) => {
    const result = Schema.decodeUnknownResult(ImportMapping)(mapping)
    assert.include(Result.isFailure(result) ? String(result.failure) : "", says)
  })
})

describe("the columns of a mapping", () => {
  it.effect("are meant by their heading, or by their number where no heading is that", () =>
    Effect.gen(function* () {
      const file = `#2,Email,x,\nA,${email},B,C\n`
      assert.deepStrictEqual(yield* read(file, { columns: { "#2": "one", "#3": "three", "#4": "four" } }), [
        { email, customFields: { one: "A", three: "B", four: "C" } }
      ])
      assert.deepStrictEqual(yield* read(file, { columns: { "#1": null, X: null, "#4": null } }), [{ email }])
      for (const column of ["#0", "#5", "#01", "#", "4"]) {
        assert.include((yield* refused(file, { columns: { [column]: "y" } })).reason, `no column "${column}"`)
      }
      assert.include((yield* refused(file, { columns: { x: "y", "#3": "z" } })).reason, "twice")
    })
  )

  it.effect("let a heading that comes twice be told apart", () =>
    Effect.gen(function* () {
      const file = `Email,City,City\n${email},Bonn,Kiel\n`
      assert.include((yield* refused(file)).reason, "#3")
      assert.deepStrictEqual(yield* read(file, { columns: { "#3": "Second" } }), [
        { email, customFields: { City: "Bonn", Second: "Kiel" } }
      ])
    })
  )

  it.effect("without a name hold no text, which would be lost", () =>
    Effect.gen(function* () {
      const found = yield* only(`Email,,FirstName\n${email},x,Ann\n`)
      assert.include(found.reason, "column B")
      assert.deepStrictEqual(found.unnamed, { column: 1, text: "x" })
      const wide = [...Array.from({ length: 27 }, (_, i) => `c${i}`), ""]
      assert.include((yield* only(`Email,${wide.join(",")}\n${email},${wide.join(",")}y\n`)).reason, "column AC")
      assert.strictEqual((yield* only(`Email,,FirstName\n${email}, ,Ann,,\n`)).reason, "")
    })
  )

  it.effect("that are not imported are known by name", () =>
    Effect.gen(function* () {
      const header = ["Email", "Source", "dateadded", "City", "AllowUnsubscribe"]
      assert.deepStrictEqual(ContactColumns.ignoredColumns(header), ["Source", "dateadded", "AllowUnsubscribe"])
      assert.deepStrictEqual(ContactColumns.ignoredColumns(header, { "#2": "origin", dateadded: null }), [
        "AllowUnsubscribe"
      ])
    })
  )
})

describe("the words of a mapping", () => {
  const values = { status: { Subscribed: "active", " opted out ": "Unsubscribed" }, city: { K: "Köln" } }
  it.effect("stand for values, without regard to case and outer blanks", () =>
    Effect.gen(function* () {
      const file = ["Email,Status,City", `${email}, SUBSCRIBED ,k`, `${email},Opted Out,Bonn`, `${email},Stale,`].join(
        "\n"
      )
      assert.deepStrictEqual(yield* read(file, { values }), [
        { email, status: "Active", customFields: { City: "Köln" } },
        { email, status: "Unsubscribed", customFields: { City: "Bonn" } },
        { email, status: "Stale" }
      ])
    })
  )

  it.effect("are asked for by the reason of a row, in plain words", () =>
    Effect.gen(function* () {
      const { reason } = yield* only(`Email,Status\n${email},it's on\n`)
      for (const status of ContactStatus.literals) assert.include(reason, status)
      assert.notInclude(reason, "|")
      assert.include(reason, "a mapping says which of them it stands for")
      assert.include((yield* only(`Email,ConsentTracking\n${email},yes\n`)).reason, "Unknown, Allow or Deny")
      assert.include((yield* only(`Email,Status\n${email},Active\u200b\n`)).reason, "U+200B stands at the end")
    })
  )
})

describe("an address that is none", () => {
  it.effect.each([
    ["Ann Lee <ann@example.com>", "ann@example.com"],
    ["<ann@example.com>", "ann@example.com"],
    ["mailto:ann@example.com?subject=x", "ann@example.com"],
    ["c@example.com; d@example.com", "c@example.com, d@example.com"],
    ["c@example.com d@example.com c@example.com", "c@example.com, d@example.com"],
    ["ann@example.com.", "ann@example.com"],
    ["ann@example.com\u200b", "ann@example.com"],
    ["\u202aann@example.com\u202c", "ann@example.com"],
    ["\u00adann@example.com", "ann@example.com"],
    ["ann", undefined],
    ["a@b@example.com", undefined],
    ['ann@exam"ple.com', undefined],
    ["ann@", undefined],
    ["ann@exam ple.com", undefined],
    ["@example.com", undefined]
  ] as const)("%s is rejected, and %s would do", ([cell, suggestion]) =>
    Effect.gen(function* () {
      const found = yield* only(`FirstName,Email\nAnn,"${cell.replaceAll('"', '""')}"\n`)
      assert.include(found.reason, "Email: ")
      assert.strictEqual(found.suggestion, suggestion)
      for (const address of suggestion?.split(", ") ?? []) assert.include(found.reason, `"${address}"`)
    })
  )

  it.effect("is named by its column, also where it is missing", () =>
    Effect.gen(function* () {
      const rows = yield* rowsOf("Name;Mail\nAnn; \nBob;bob\n;\n", { columns: { Mail: "Email" } })
      assert.deepStrictEqual(
        rows.map(({ fault }) => [fault?.code, fault?.column, fault?.value]),
        [
          ["Address", "Mail", ""],
          ["Address", "Mail", "bob"],
          ["NoAddress", "Mail", ""]
        ]
      )
    })
  )

  it.effect("names a character that cannot be seen, and its place", () =>
    Effect.gen(function* () {
      const reasonOf = (cell: string) => Effect.map(only(`Email\n${cell}\n`), ({ reason }) => reason)
      assert.include(yield* reasonOf("bob@example.com\u200b"), "U+200B stands at the end")
      assert.include(yield* reasonOf("\u200ebob@example.com"), "U+200E stands at the beginning")
      assert.include(yield* reasonOf("bob@exa\u00admple.com"), 'U+00AD stands after "bob@exa"')
      assert.deepStrictEqual(yield* read("Email\n\u00a0 bob@example.com\u00a0\n"), [{ email: "bob@example.com" }])
    })
  )
})

describe("lines above the header", () => {
  const file = `Members, exported\n\n"a note"\nEmail;FirstName\n${email};Ann\n`
  it.effect("are skipped if the mapping says so, and rows keep their lines", () =>
    Effect.gen(function* () {
      for (const size of [1, 5, 1000]) {
        const rows = yield* rowsOf(file, { skipLines: 3 }, size)
        assert.deepStrictEqual(
          rows.map(({ contact, line }) => ({ line, contact })),
          [{ line: 5, contact: Result.succeed({ email, firstName: "Ann" }) }] as never
        )
        assert.strictEqual((yield* rowsOf(`x\r\nsep=|\r\nEmail|a\r\n${email}|b`, { skipLines: 1 }, size))[0]?.line, 4)
      }
      assert.include((yield* refused(file, { skipLines: 99 })).reason, "empty")
    })
  )

  it.effect("are offered to be skipped if one of the next 20 has the column of addresses", () =>
    Effect.gen(function* () {
      for (const size of [1, 7, 1000]) {
        const error = yield* refused(file, {}, size)
        assert.strictEqual(error.skipLines, 3)
        assert.include(error.message, "line 4")
        assert.strictEqual((yield* refused(`x\n${file}`, { skipLines: 1 }, size)).skipLines, 4)
        assert.strictEqual((yield* refused(`x${"\n".repeat(20)}E-Mail\n`, {}, size)).skipLines, 20)
        assert.isUndefined((yield* refused(`x${"\n".repeat(21)}Email\n`, {}, size)).skipLines)
        const mapped = yield* refused(`x\nMel\n${email}\n`, { columns: { Mel: "Email" } }, size)
        assert.strictEqual(mapped.skipLines, 1)
      }
    })
  )
})

describe("a file without headings", () => {
  it.effect("is read by the numbers of its columns, and its first address tells the column of addresses", () =>
    Effect.gen(function* () {
      const file = `Ann;${email};Paris\nBob;b@example.com;\n`
      for (const size of [1, 7, 1000]) {
        const error = yield* refused(file, {}, size)
        assert.strictEqual(error.header, false)
        const columns = { "#1": "FirstName", "#3": "city" }
        const mappings: ReadonlyArray<ImportMapping> = [
          { header: false, columns },
          { header: false, columns: { ...columns, "#2": "Email" } },
          { header: false, columns: { ...columns, Email: "Email" } }
        ]
        for (const mapping of mappings) {
          const rows = yield* rowsOf(file, mapping, size)
          assert.deepStrictEqual(
            rows.map(({ contact, line }) => [line, Result.getOrElse(contact, (reason): unknown => reason)]),
            [
              [1, { email, firstName: "Ann", customFields: { city: "Paris" } }],
              [2, { email: "b@example.com", firstName: "Bob" }]
            ]
          )
        }
      }
      // A text without a field is not dropped.
      const [first] = yield* rowsOf(file, { header: false })
      assert.deepStrictEqual(first?.unnamed, { column: 0, text: "Ann" })
      assert.isUndefined((yield* refused("Ann;Paris\n", { header: false })).header)
      assert.isUndefined((yield* refused(file, { header: true })).header)
    })
  )
})

describe("a mapping of a program", () => {
  it.effect("is refused with a name that it does not have, and says which is meant", () =>
    Effect.gen(function* () {
      const bytes = Stream.make(utf8(`Email\n${email}\n`))
      // As a program without types gives them.
      const wrong: ReadonlyArray<readonly [string, string]> = [
        ['{"delimeter":";"}', 'did you mean "delimiter"?'],
        ['{"skiplines":1}', 'did you mean "skipLines"?'],
        ['{"sheet":"a"}', 'a mapping has no field "sheet"']
      ]
      for (const [text, says] of wrong) {
        for (const read of [readContacts, lookAtRows]) {
          const error = yield* Effect.flip(Stream.runDrain(read(bytes, JSON.parse(text))))
          assert.strictEqual(error._tag, "InvalidInput")
          assert.include(error.message, says)
        }
      }
    })
  )
})

describe("what an error proposes", () => {
  const Heading = Schema.Literals([
    "Mail",
    "E-mail 1 - Value",
    "Vorname",
    "Name",
    "City",
    "#1",
    "-x",
    "a:b",
    "a=b",
    "it's",
    "",
    "Email Status",
    "Status",
    "DateAdded"
  ])
  const Cell = Schema.Literals(["ann@example.com", "", "x", "*", "no"])
  const File = Schema.Struct({
    titles: Schema.Array(Schema.Literals(["Members", "# exported", ""])).check(Schema.isMaxLength(2)),
    header: Schema.Array(Heading).check(Schema.isMinLength(1), Schema.isMaxLength(5)),
    rows: Schema.Array(Schema.Array(Cell).check(Schema.isMaxLength(5))).check(Schema.isMaxLength(4)),
    delimiter: Schema.Literals([",", ";", "\t"])
  })

  it.effect.prop("reads the same header", [File], ([{ delimiter, header, rows, titles }]) =>
    Effect.gen(function* () {
      const lines = [...titles.map((title) => [title]), header, ...rows].map((cells) => cells.join(delimiter))
      const file = `${lines.join("\n")}\n`
      const tried = yield* Effect.result(rowsOf(file))
      if (Result.isSuccess(tried)) return
      const { header: isHead, likelyFields, skipLines } = tried.failure
      if (isHead === undefined && likelyFields === undefined && skipLines === undefined) return
      const mapping: ImportMapping = {
        ...(isHead === undefined ? {} : { header: isHead }),
        ...(skipLines === undefined ? {} : { skipLines }),
        ...(likelyFields === undefined ? {} : { columns: likelyFields })
      }
      const read = yield* Effect.result(rowsOf(file, mapping))
      assert.isTrue(Result.isSuccess(read), `${JSON.stringify({ file, mapping })} ${String(read)}`)
    })
  )

  it.effect("takes the tabs before the first heading for empty cells", () =>
    Effect.gen(function* () {
      const tabbed = yield* refused("title\n\t\tx\n\tann@example.com\ty\n")
      assert.deepStrictEqual([tabbed.skipLines, tabbed.likelyFields], [1, { "#2": "Email" }])
      const rows = yield* rowsOf("title\n\t\tx\n\tann@example.com\ty\n", { skipLines: 1, columns: { "#2": "Email" } })
      assert.strictEqual(rows.length, 1)
    })
  )

  it.effect("takes the column whose cells are addresses, and keeps one that comes twice under another name", () =>
    Effect.gen(function* () {
      const known = yield* refused("Kontakt;Ort;Ort\nann@example.com;Rom;\nbob@example.com;Oslo;x\n")
      assert.deepStrictEqual(known.likelyFields, { Kontakt: "Email", "#3": "Ort 2" })
      const titled = yield* refused("Our members\nKontakt;Ort\nann@example.com;Rom\n")
      assert.deepStrictEqual([titled.skipLines, titled.likelyFields], [1, { Kontakt: "Email" }])
      // A cell that resembles a heading is none below a row, whose people would be skipped.
      const slips = yield* refused(
        "Anschrift;Ort\nann@example.com;Rom\neva at example.com;Oslo\nbob@example.com;Bonn\n"
      )
      assert.isUndefined(slips.skipLines)
      const none = yield* refused("Kontakt;Ort\nann;Rom\n")
      assert.isUndefined(none.likelyFields)
      const several = yield* refused(`Ann;${email};Paris\n`)
      assert.deepStrictEqual([several.header, several.likelyFields], [false, { "#1": null, "#3": null }])
    })
  )
})

describe("cells by a mapping", () => {
  it.effect("clear names and custom fields if they are empty, and nothing else", () =>
    Effect.gen(function* () {
      const file = "Email,FirstName,LastName,Status,ConsentIP,city\na@example.com,,Ada,,,\n"
      assert.deepStrictEqual(yield* read(file), [{ email, lastName: "Ada" }])
      assert.deepStrictEqual(yield* read(file, { empty: "clear" }), [
        { email, firstName: "", lastName: "Ada", customFields: { city: "" } }
      ])
    })
  )

  it.effect("lose the blanks around them if that is said, and keep them otherwise", () =>
    Effect.gen(function* () {
      const file = "Email,FirstName,city\na@example.com, Ada ,  \n"
      assert.deepStrictEqual(yield* read(file), [{ email, firstName: " Ada ", customFields: { city: "  " } }])
      assert.deepStrictEqual(yield* read(file, { trim: true }), [{ email, firstName: "Ada" }])
      assert.deepStrictEqual(yield* read(file, { trim: true, empty: "clear" }), [
        { email, firstName: "Ada", customFields: { city: "" } }
      ])
    })
  )

  it.effect.each([
    ["DD.MM.YYYY", "14.3.2024", "2024-03-14T00:00:00Z"],
    ["MM/DD/YYYY HH:mm", "03/04/2024 7:05", "2024-03-04T07:05:00Z"],
    ["YYYY-MM-DDTHH:mm:ss", "2024-03-04T07:05:06", "2024-03-04T07:05:06Z"],
    ["DD.MM.YYYY", "2024-03-04T07:05:06Z", "2024-03-04T07:05:06Z"]
  ] as const)("read dates as %s", ([dateFormat, date, wire]) =>
    Effect.map(read(`Email,ConsentDate\na@example.com,${date}\n`, { dateFormat }), ([contact]) =>
      assert.deepInclude(Schema.encodeUnknownSync(ContactPayload)(contact), { Consent: { ConsentDate: wire } })
    )
  )

  it.effect("refuse a date that no calendar has", () =>
    Effect.map(only("Email,ConsentDate\na@example.com,31.2.2024\n", { dateFormat: "DD.MM.YYYY" }), ({ reason }) =>
      assert.include(reason, "Consent")
    )
  )

  it.each(["DD.MM", "YYYY-MM-DD DD", "DDMMYYYYx", "", "D.M.YYYY"])("need a whole form of dates: %s", (dateFormat) => {
    assert.isTrue(Result.isFailure(Schema.decodeResult(ImportMapping)({ dateFormat })))
  })
})
