import { assert, describe, it } from "@effect/vitest"
import { Effect, Stream } from "effect"
import { type ImportMapping, readContacts } from "../../src/index.ts"
import { makeImportWarnings } from "../../src/internal.ts"

/** The warnings about a file, those about missing statuses only if they are asked for. */
const warningsOf = Effect.fnUntraced(function* (file: string, mapping: ImportMapping = {}, defaultsStatus = true) {
  const warnings = makeImportWarnings(mapping, { defaultsStatus })
  yield* Stream.runForEach(readContacts(Stream.make(new TextEncoder().encode(file)), mapping), (row) =>
    Effect.sync(() => warnings.add(row))
  )
  return warnings.all()
})

/** What a test looks at: code, column, count and the lines of the examples. */
const outline = Effect.fnUntraced(function* (...given: Parameters<typeof warningsOf>) {
  const warnings = yield* warningsOf(...given)
  return warnings.map(({ code, column, count, examples }) => [code, column, count, examples.map(({ line }) => line)])
})

const column = (heading: string, ...texts: ReadonlyArray<string>) =>
  `Email,${heading}\n${texts.map((text, at) => `a${at}@example.com,"${text}"\n`).join("")}`

describe("warnings about the rows that an import takes", () => {
  it.effect("name blanks that are kept, and none that are taken off or left out", () =>
    Effect.gen(function* () {
      const file =
        ' Email ,FirstName,city,Status\n ann@example.com , Ann,x,active \nbob@example.com,"Bob ","\u00a0y",\n'
      assert.deepStrictEqual(yield* outline(file), [
        ["Blanks", "FirstName", 2, [2, 3]],
        ["Blanks", "city", 1, [3]]
      ])
      assert.deepStrictEqual(yield* outline(file, { trim: true }), [])
      assert.deepStrictEqual(yield* outline(file, { columns: { FirstName: null, city: null } }), [])
      const [first] = yield* warningsOf(column("city", ...Array.from({ length: 9 }, () => " x")))
      assert.deepInclude(first, { count: 9, column: "city" })
      assert.deepStrictEqual(
        first?.examples,
        [2, 3, 4].map((line) => ({ line, value: " x" }))
      )
    })
  )

  it.effect(
    "name signs for nothing and escaped texts, in cells, headings and names of lists, and none that are said to be nothing",
    () =>
      Effect.gen(function* () {
        const file =
          "Email,FirstName,city,Lists,#REF!\nann@example.com,#N/A,#REF!,NULL,x\nbob@example.com,Bob &amp; Ann,\\N,News,\n"
        assert.deepStrictEqual(yield* outline(file), [
          ["Nothing", "#REF!", 1, []],
          ["Nothing", "FirstName", 1, [2]],
          ["Nothing", "city", 2, [2, 3]],
          ["Nothing", "Lists", 1, [2]],
          ["Escaped", "FirstName", 1, [3]]
        ])
        const mapping = {
          columns: { "#REF!": null, Lists: null },
          values: { FirstName: { "#N/A": "", "bob &amp; ann": "Bob & Ann" }, city: { "#REF!": "", "\\N": "" } }
        }
        assert.deepStrictEqual(yield* outline(file, mapping), [])
        // Dates are dates, whatever stands where there is none.
        const [, kind] = yield* warningsOf(column("since", "31.01.2024", "NULL", "01.02.2024"))
        assert.deepInclude(kind, { code: "Kind", kinds: ["date:DD.MM.YYYY"] })
      })
  )

  it.effect("name addresses whose domain has no dot, and no dot before the @", () =>
    Effect.gen(function* () {
      const file = "Email\nann.lee@localhost\nbob@example.com\n"
      assert.deepStrictEqual(yield* outline(file), [["Domain", "Email", 1, [2]]])
    })
  )

  // The oracle: what another program shows of UTF-8 that it reads by the named encoding.
  it.effect.each<readonly [encoding: string, right: string]>([
    ["windows-1252", "München"],
    ["windows-1252", "Łódź"],
    ["windows-1252", "Michał"],
    ["windows-1252", "Zoë’s café"],
    ["windows-1252", "Иван"],
    ["windows-1252", "Γιώργος"],
    ["latin1", "Straße"]
  ])("name text that %s made of %s, in cells and headings, and none that is right", ([encoding, right]) =>
    Effect.gen(function* () {
      const bytes = new TextEncoder().encode(right)
      const wrong = encoding === "latin1" ? String.fromCharCode(...bytes) : new TextDecoder(encoding).decode(bytes)
      assert.deepStrictEqual(yield* outline(column("city", right)), [])
      assert.deepStrictEqual(yield* outline(column(right, "x")), [])
      assert.deepStrictEqual(yield* outline(column("city", wrong)), [["Decoding", "city", 1, [2]]])
      assert.deepStrictEqual(yield* outline(column(wrong, "x")), [["Decoding", wrong, 1, []]])
      assert.deepStrictEqual(yield* outline(column("city", "x\ufffdy")), [["Decoding", "city", 1, [2]]])
    })
  )

  it.effect("leave texts of any language alone", () =>
    Effect.gen(function* () {
      const texts = ["«CAFÉ»", "“Ça va?”", "naïve – Ærøskøbing", "São Paulo", "ÅÄÖ", "Α–Ω", "日本語", "“É”…", "'=1+1"]
      assert.deepStrictEqual(yield* outline(column("city", ...texts)), [])
    })
  )

  it.effect.each([
    ["1.5", "12", "2,25", "3.25"],
    ["1,234.5", "1.234,5", "1.0"],
    ["2024-01-31", "31.01.2024", "2024-02-01T10:00:00Z"],
    ["13/02/2024", "02/13/2024", "01/02/2024", "14/02/2024"],
    ["01.02.2024", "01.02.24", "03.04.2024"],
    ["2024/01/31", "2024-01-31", "2024-01-31"]
  ])("name numbers or dates of mixed forms: %s, %s", (texts) =>
    Effect.gen(function* () {
      const found = yield* warningsOf(column("when", ...texts))
      assert.deepStrictEqual(
        found.map(({ code, column, count }) => [code, column, count]),
        [["Forms", "when", 1]]
      )
    })
  )

  it.effect.each([
    ["1", "2.5", "1.234"],
    ["1.234", "1,234"],
    ["01/02/2024", "13/02/2024"],
    ["01/02/2024", "02/13/2024"],
    ["2024-01-31", "2024-01-31 10:00"],
    ["1.2.3", "030/12345", "none", "12:30"]
  ])("name no forms that may be the same, nor other texts: %s, %s", (texts) =>
    Effect.gen(function* () {
      assert.deepStrictEqual(
        (yield* outline(column("when", ...texts))).filter(([code]) => code !== "Kind"),
        []
      )
    })
  )

  it.effect("name a heading that misses a field by one letter, unless the mapping says what it is", () =>
    Effect.gen(function* () {
      const [found] = yield* warningsOf(column("Frist name", "x"))
      assert.deepInclude(found, { code: "Heading", column: "Frist name", field: "FirstName", count: 1 })
      assert.deepStrictEqual(yield* outline(column("Frist name", "x"), { columns: { "Frist name": "frist" } }), [])
      assert.deepStrictEqual(yield* outline("Email,Status,Statue\na@example.com,Active,x\n"), [])
      assert.deepStrictEqual(yield* outline(column("Town", "x")), [])
    })
  )

  it.effect("count rows of which a new contact becomes Active, also of JSON", () =>
    Effect.gen(function* () {
      const file = "Email,Status\nann@example.com,Active\nbob@example.com,\n"
      assert.deepStrictEqual(yield* outline(file, {}, false), [["Active", undefined, 1, []]])
      assert.deepStrictEqual(yield* outline(file), [])
      const json = '{"Email":"ann@example.com","city":" x"}\n{"city":"y","Email":"bob@localhost","Stauts":"Active"}\n'
      assert.deepStrictEqual(yield* outline(json, {}, false), [
        ["Heading", "Stauts", 1, []],
        ["Blanks", "city", 1, [1]],
        ["Domain", "Email", 1, [2]],
        ["Active", undefined, 2, []]
      ])
    })
  )

  it.effect.each<readonly [texts: ReadonlyArray<string>, kinds: ReadonlyArray<string> | undefined]>([
    [["31.01.2024", "01.02.2024"], ["date:DD.MM.YYYY"]],
    [["31.01.24"], ["date:DD.MM.YY@1940"]],
    [
      ["01/02/2024", "03/04/2024"],
      ["date:DD/MM/YYYY", "date:MM/DD/YYYY"]
    ],
    [["01/02/2024", "12/31/2024"], ["date:MM/DD/YYYY"]],
    [["2024/01/31"], ["date:YYYY/MM/DD"]],
    [["1.234,56", "0,50 €", "-3,00"], ["number:1.234,56"]],
    [["1,234.56", "7.5"], ["number:1,234.56"]],
    [["2024-01-31", "2024-02-01"], undefined],
    [["1234.5"], undefined],
    [["31.01.2024", "soon"], undefined]
  ])("propose the kind of a column, and both where only a person knows: %s", ([texts, kinds]) =>
    Effect.gen(function* () {
      const file = column("when", ...texts)
      const [first] = yield* warningsOf(file)
      assert.deepStrictEqual([first?.code, first?.kinds], [kinds === undefined ? undefined : "Kind", kinds])
      for (const kind of kinds ?? []) assert.deepStrictEqual(yield* warningsOf(file, { kinds: { when: kind } }), [])
    })
  )
})
