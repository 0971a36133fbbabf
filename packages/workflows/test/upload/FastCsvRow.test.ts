import { assert, describe, it } from "@effect/vitest"
import { Effect, FileSystem, Result, Schema, Stream } from "effect"
import { ContactPayload, canonicalEmail, type ImportMapping, readContacts, type ImportRow } from "@roster/domain"
import { FastContactsWriter } from "@roster/domain/FastContacts"
import { JsonBuffer } from "@roster/domain/JsonBuffer"
import { surveyContacts } from "../../src/upload/UploadSurvey.ts"

const long = process.env["ROSTER_LONG_RUN"] !== undefined

const encode = Schema.encodeSync(ContactPayload)
const text = (bytes: Uint8Array) => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes)

/** The same rows, all of which take the exact path. */
const exactly = (rows: ReadonlyArray<ImportRow>): ReadonlyArray<ImportRow> =>
  rows.map(({ cells, contact, fault, header, line, unnamed }) => ({
    cells,
    contact,
    header,
    fault,
    line,
    unnamed
  }))

const readAll = (file: string, chunk: number, mapping: ImportMapping = {}) => {
  const bytes = new TextEncoder().encode(file)
  const chunks = Array.from({ length: Math.ceil(bytes.length / chunk) }, (_, i) =>
    bytes.slice(i * chunk, (i + 1) * chunk)
  )
  return Stream.runCollect(readContacts(Stream.fromIterable(chunks), mapping))
}

/** The JSON of the same contacts by the schema. */
const wireOf = (rows: ReadonlyArray<ImportRow>): string =>
  JSON.stringify(rows.flatMap(({ contact }) => (Result.isSuccess(contact) ? [encode(contact.success)] : [])))

const written = (rows: ReadonlyArray<ImportRow>) => {
  const writer = new FastContactsWriter()
  const problems = rows.map((row) => writer.add(row))
  return { problems, contacts: writer.take() }
}

const Address = Schema.Array(
  Schema.Literals(["a", "B", "9", ".", "-", "_", "--", "@", "@", "@x.", "xn--", "'", "+", "é", "İ", " ", "example.com"])
)
const Cell = Schema.Array(
  Schema.Literals(["a", '"', "|", "é", "😀", " ", "\\", "\u007f", "\u0001", "'=", "=", "\ufeff", ";"])
)
const Line = Schema.Struct({
  address: Schema.Literals([
    "ann@example.com",
    "Ann@Example.com",
    "o'neil+a@mail-1.example.org",
    "ann@xn--bcher-kva.example",
    "ann@a--b.example",
    ""
  ]),
  odd: Address,
  cells: Schema.Tuple([Cell, Cell, Cell]),
  status: Schema.Literals(["", "", "", "Active", "bounced", "none"]),
  quoted: Schema.Literals([false, false, true]),
  more: Schema.Literals(["", "", "", ",", ",x"])
})
const Header = Schema.Literals([
  "FirstName,LastName,city",
  "LastName,b,FirstName",
  "a,B,c",
  "2,1,__proto__",
  'Source,FirstName,"x""y\\é"',
  "FirstName,LastName,_error",
  "FirstName,,city"
])
const Mapping = Schema.Literals(["none", "words", "columns"])
const mappings: Readonly<Record<typeof Mapping.Type, ImportMapping>> = {
  none: {},
  words: { values: { FirstName: { a: "A" }, city: { é: "E", a: "" }, Status: { none: "Stale" } } },
  columns: { columns: { "#2": null, "#4": "town" } }
}
const Breaks = Schema.Literals(["\n", "\r\n", "\r"])
const Size = Schema.Int.check(Schema.isBetween({ minimum: 1, maximum: 300 }))

describe("the fast path of a row", () => {
  it.effect.each([
    ["ann@example.com,Zoë,", true],
    ["o'neil+news@mail-1.example.org,A,B", true],
    ["a_-b.c@1.x-y_z.example,,", true],
    ["ANN@EXAMPLE.COM,,", true],
    ["ann@example.com,'=1,", false],
    ['ann@example.com,"Ann",', false],
    ['ann@example.com,5" pipe,', false],
    ["ann@example.com,a|b;c,", true],
    ["ann@example.com,a\\b,", false],
    ["ann@xn--bcher-kva.example,,", false],
    ["ann@b\u00fccher.example,,", false],
    [" ann@example.com,,", false],
    ["ann@example.com,", false],
    ["ann@example.com,,,", false],
    ["ann@-example.com,,", false],
    ["ann@example-.com,,", false],
    ["ann@example.com.,,", false],
    [".ann@example.com,,", false],
    ["ann.@example.com,,", false],
    ["a..b@example.com,,", false],
    ["ann@exa..mple.com,,", false],
    ["a@b@example.com,,", false],
    ["@example.com,,", false],
    ["ann@,,", false],
    [`${"a".repeat(64)}@example.com,,`, true],
    [`${"a".repeat(65)}@example.com,,`, false],
    [`a@${"b.".repeat(126)}b,,`, false]
  ] as const)("is open to %s: %s", ([row, isPlain]) =>
    Effect.gen(function* () {
      const [read] = yield* readAll(`Email,FirstName,LastName\n${row}\n`, 1000)
      assert.strictEqual(read?.fast !== undefined, isPlain)
    })
  )

  it.effect.prop(
    "writes what the schema writes, and knows an address by its identity",
    [Header, Schema.Array(Line), Breaks, Size, Mapping],
    ([header, lines, lineBreak, chunk, mapping]) =>
      Effect.gen(function* () {
        const file = [
          `Email,${header},Status`,
          ...lines.map(({ address, cells, more, odd, quoted, status }) => {
            const email = address === "" ? odd.join("") : address
            const [first = "", ...rest] = cells.map((cell) => cell.join(""))
            const cell = quoted ? `"${first}, ""${first}"` : first
            return `${[email, cell, ...rest, status].join(",")}${more}`
          })
        ].join(lineBreak)
        const rows = yield* readAll(file, chunk, mappings[mapping])
        const identity = new Uint8Array(1000)
        for (const { contact, fast } of rows) {
          if (fast === undefined) continue
          if (Result.isFailure(contact)) return assert.fail(contact.failure)
          const json = new JsonBuffer()
          fast.writeJson(json)
          assert.strictEqual(text(json.take()), JSON.stringify(encode(contact.success)))
          assert.deepStrictEqual(fast.payload, contact.success)
          const length = fast.writeCanonicalEmail(identity)
          assert.strictEqual(text(identity.subarray(0, length)), canonicalEmail(contact.success.email))
        }
        const { contacts, problems } = written(rows)
        assert.deepStrictEqual(
          problems,
          rows.map(({ contact }) => (Result.isFailure(contact) ? contact.failure : undefined))
        )
        assert.strictEqual(text(contacts.json), wireOf(rows))
        const [one, other] = [
          yield* surveyContacts(Stream.fromIterable(rows)),
          yield* surveyContacts(Stream.fromIterable(exactly(rows)))
        ].map(({ sendable, ...counts }) => ({
          ...counts,
          otherLine: undefined,
          sendable: rows.map((_, i) => sendable.has(i + 1))
        }))
        assert.deepStrictEqual(one, other)
      }).pipe(Effect.provide(FileSystem.layerNoop({}))),
    { arbitrary: { runs: long ? 500 : 150 } }
  )
})

describe("FastContactsWriter", () => {
  const contacts = ["a", 'b"', "c,[]", "d", "é"].map((name, i) =>
    Schema.decodeSync(ContactPayload)({ Email: `u${i}@example.com`, FirstName: name })
  )
  const rows = contacts.map((contact, i): ImportRow => ({
    line: i + 2,
    header: { cells: [], delimiter: "," },
    cells: [],
    contact: Result.succeed(contact)
  }))

  it("takes what was added, and begins anew", () => {
    const writer = new FastContactsWriter()
    for (const row of rows) writer.add(row)
    const first = writer.take()
    for (const row of rows.slice(1)) writer.add(row)
    const second = writer.take()
    assert.strictEqual(writer.take().length, 0)
    for (const [taken, expected] of [
      [first, contacts],
      [second, contacts.slice(1)]
    ] as const) {
      assert.strictEqual(taken.length, expected.length)
      assert.deepStrictEqual(Array.from(taken), expected)
      assert.strictEqual(text(taken.json), JSON.stringify(expected.map((contact) => encode(contact))))
    }
    assert.deepStrictEqual(Array.from(writer.take()), [])
  })

  it.effect("keeps custom fields under their own names", () =>
    Effect.gen(function* () {
      // JSON.parse takes the second for the first.
      for (const name of ["5\\", '5"']) {
        const writer = new FastContactsWriter()
        for (const row of yield* readAll(`Email,x,"${name.replaceAll('"', '""')}"\nann@example.com,1,2\n`, 1000)) {
          writer.add(row)
        }
        assert.deepStrictEqual(
          Array.from(writer.take(), ({ customFields }) => customFields),
          [{ x: "1", [name]: "2" }]
        )
      }
    })
  )
})
