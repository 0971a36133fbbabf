import { Contact } from "@roster/domain"
import { ContactColumns } from "@roster/domain/internal"
import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, Effect, Schema, Stream } from "effect"
import { Csv, JsonArray, Xml } from "effect/encoding"
import { toContact } from "../../../src/contacts/ContactRow.ts"
import { rows } from "../../contacts/Rows.ts"
import { exportFile, exportFormats } from "../../../src/jobs/exports/ExportFormat.ts"
import { makeSpool, maximumCustomColumns } from "../../../src/jobs/exports/ExportSpool.ts"

const long = process.env["ROSTER_LONG_RUN"] !== undefined
const runs = { arbitrary: { runs: long ? 5000 : 150 }, timeout: long ? 3_600_000 : 60_000 }

const oneOf = <const A extends string | number>(values: ReadonlyArray<A>) => Arbitrary.schema(Schema.Literals(values))

/** Signs that mean something to a format, or to a spreadsheet, and whatever else there is. */
const text = Arbitrary.map(
  Arbitrary.all([
    oneOf(["", "", "'", "''=", "=", "+1", "-", "@x", "\t", "\r", "\n", "\uFEFF", " ", '"', ","]),
    Arbitrary.filter(Arbitrary.schema(Schema.String), (any) => any.isWellFormed() && !any.includes("\0")),
    oneOf(["", "", "a,b", 'say "x"', "a\r\nb", "<&>]]>", "\u0001\uFFFE", "Zoë 🙂", ";"])
  ]),
  (parts) => parts.join("")
)
const fieldNames = ["city", "Größe", "a,b", '"', "\\", "=sum", "2", "__proto__", "<tag>", "x y"] as const

const customFields = Arbitrary.map(
  Arbitrary.array(Arbitrary.all([oneOf(fieldNames), text]), { maxLength: 5 }),
  (fields) => JSON.stringify(Object.fromEntries(fields))
)
const contact = Arbitrary.map(rows({ text, customFields }), toContact)

/** The same by the domain's own columns and schema, and the codecs of Effect. */
const invalidXmlChars = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu
const encode = Schema.encodeSync(Contact)
const speakable = (any: unknown) => String(any).replaceAll(invalidXmlChars, "\u{FFFD}")
const element = (name: string, inside: ReadonlyArray<Xml.Event>, attributes = {}): ReadonlyArray<Xml.Event> => [
  { _tag: "StartElement", name, attributes },
  ...inside,
  { _tag: "EndElement", name }
]
const valueEvents = (name: string, value: unknown): ReadonlyArray<Xml.Event> =>
  value === null || value === undefined
    ? []
    : typeof value !== "object"
      ? [{ _tag: "Text", text: speakable(value) }]
      : Object.entries(value).flatMap(([key, inner]) =>
          name === "CustomFields"
            ? element("Field", valueEvents("Value", inner), { Name: speakable(key) })
            : element(key, valueEvents(key, inner))
        )
const oracles = {
  Csv: (rows: ReadonlyArray<Contact>, columns: ReadonlyArray<string>) =>
    Stream.fromIterable([
      ContactColumns.exportHeader(columns),
      ...rows.map((row) => ContactColumns.exportCells(row, columns))
    ]).pipe(Stream.pipeThroughChannel(Csv.encode())),
  Json: (rows: ReadonlyArray<Contact>) =>
    Stream.fromIterable(rows.map((row) => encode(row))).pipe(Stream.pipeThroughChannel(JsonArray.encode())),
  Xml: (rows: ReadonlyArray<Contact>) =>
    Stream.fromIterable<Xml.Event>([
      { _tag: "Declaration", version: "1.0", encoding: "UTF-8" },
      ...element(
        "Contacts",
        rows.flatMap((row) => element("Contact", valueEvents("Contact", encode(row))))
      )
    ]).pipe(Stream.pipeThroughChannel(Xml.encode()))
}

const textOf = (bytes: Stream.Stream<Uint8Array, unknown>) =>
  Effect.map(Stream.runCollect(bytes), (parts) => Buffer.concat(parts).toString())

describe("an exported file", () => {
  for (const format of ["Csv", "Json", "Xml"] as const) {
    it.effect.prop(
      `in ${format} equals the output of the schema and the codec`,
      { rows: Arbitrary.array(contact, { maxLength: 4 }) },
      ({ rows }) =>
        Effect.gen(function* () {
          const filled = rows.flatMap(({ customFields = {} }) =>
            Object.keys(customFields).filter((name) => customFields[name] !== "")
          )
          const columns = [...new Set(filled)].sort()
          const spool = yield* makeSpool(exportFormats[format])
          for (const some of [rows.slice(0, 2), rows.slice(2)]) yield* spool.add(some)
          const { names, pieces } = yield* spool.finish
          const file = exportFile(pieces, { format, compression: "None", name: "contacts", customFields: names })
          assert.strictEqual(yield* textOf(file), yield* textOf(oracles[format](rows, columns)))
        }),
      runs
    )
  }
})

describe("the columns of an exported CSV file", () => {
  const withFields = (names: ReadonlyArray<string>): Contact => ({
    email: "ann@example.com",
    customFields: Object.fromEntries(names.map((name) => [name, "x"]))
  })
  const nameOf = (index: number) => `f${index}`

  it.effect(`are at most ${maximumCustomColumns} custom fields`, () =>
    Effect.gen(function* () {
      const names = Array.from({ length: maximumCustomColumns }, (_, index) => nameOf(index))
      const spool = yield* makeSpool(exportFormats.Csv)
      for (const half of [names.slice(0, 2000), names.slice(2000)]) yield* spool.add([withFields(half)])
      assert.deepStrictEqual((yield* spool.finish).names, names.toSorted())
      const error = yield* Effect.flip(spool.add([withFields(["one more"])]))
      assert.strictEqual(error._tag, "TooManyColumns")
      assert.match(error.message, /4096 different custom fields.*Json or Xml/)
      for (const format of ["Json", "Xml"] as const) {
        const unlimited = yield* makeSpool(exportFormats[format])
        yield* unlimited.add([withFields([...names, "one more"])])
        assert.deepStrictEqual((yield* unlimited.finish).names, [])
      }
    })
  )

  it.effect("are those of all rows, whenever a name was found", () =>
    Effect.gen(function* () {
      const spool = yield* makeSpool(exportFormats.Csv)
      // Each row has a name of its own; as many rows at once as a query gives.
      for (let row = 0; row < 1000; row += 500) {
        yield* spool.add(Array.from({ length: 500 }, (_, index) => withFields([nameOf(row + index)])))
      }
      const { names, pieces } = yield* spool.finish
      const file = exportFile(pieces, { format: "Csv", compression: "None", name: "contacts", customFields: names })
      const lines = (yield* textOf(file)).split("\r\n")
      assert.strictEqual(lines.length, 1002)
      const columns = (lines[0] ?? "").split(",")
      for (const row of [0, 499, 500, 745, 999]) {
        const cells = (lines[row + 1] ?? "").split(",")
        assert.strictEqual(cells.length, columns.length)
        assert.deepStrictEqual(
          cells.flatMap((cell, column) => (cell === "x" ? [columns[column]] : [])),
          [nameOf(row)]
        )
      }
    })
  )
})
