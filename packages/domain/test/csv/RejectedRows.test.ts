import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { readContacts } from "../../src/csv/ContactCsv.ts"
import { restoreCell } from "../../src/csv/ContactColumns.ts"
import { rejectedFile } from "../../src/csv/RejectedRows.ts"

const utf8 = (text: string) => new TextEncoder().encode(text)

const rowsOf = (text: string) => Stream.runCollect(readContacts(Stream.make(utf8(text))))

/** The rows that are rejected, without the places where they stand. */
const rejections = (text: string) =>
  Effect.map(rowsOf(text), (rows) =>
    rows.flatMap(({ cells, contact, header }) =>
      Result.isFailure(contact) ? [{ cells, header, reason: contact.failure }] : []
    )
  )

const textOf = (bytes: ReadonlyArray<Uint8Array>) =>
  new TextDecoder("utf-8", { ignoreBOM: true }).decode(Buffer.concat(bytes))

/** The file of the rejected rows of a file. */
const rejectedOf = Effect.fnUntraced(function* (text: string) {
  const rejected = yield* rejections(text)
  const [first] = rejected
  assert.isDefined(first)
  return textOf(yield* Stream.runCollect(rejectedFile(first?.header ?? assert.fail(), Stream.fromIterable(rejected))))
})

const quoteInCell =
  "a cell begins with a quote, for which the row was rejected; take the quote out, or empty the cell _error to keep it"

describe("a file of rejected rows", () => {
  it.effect("has the columns and cells of its file without formulas, and the reason as the last column", () =>
    Effect.gen(function* () {
      const file = [
        'eMail;"a,b";\'=Formula;Note',
        "ann@example.com;1;2;3",
        'nobody;"x;y";=1+1;"two\nlines"',
        "bob@example.com;'=cmd",
        "cem@example.com;1;2;3;surplus",
        ' dee@;"say ""hi""";+49;-1'
      ].join("\r\n")
      assert.strictEqual(
        yield* rejectedOf(file),
        [
          '\ufeffeMail;"a,b";\'=Formula;Note;_error',
          'nobody;"x;y";\'=1+1;"two\nlines";"Email: an e-mail address has an @, as in name@example.com"',
          'bob@example.com;\'=cmd;"the row has 2 cells, the header has 4 columns"',
          'cem@example.com;1;2;3;surplus;"the row has 5 cells, the header has 4 columns"',
          ' dee@;"say ""hi""";\'+49;\'-1;Email: the part after the @ is a domain such as example.com',
          ""
        ].join("\r\n")
      )
    })
  )

  it.effect("has the cells of a row with a misplaced quote, and it is rejected again until it is corrected", () =>
    Effect.gen(function* () {
      const file = [
        "Email,FirstName,City",
        'ann@example.com,"Ann" Lee,"Bonn, Beuel"',
        'bob@example.com,"Bob ""B"" Lee,Kiel',
        "cem@example.com,Cem,Ulm",
        'dee@example.com,"Dee, Jr" Lee,Köln',
        'eve@example.com,"Eve;=1" Lee,Bern',
        ""
      ].join("\n")
      const again = yield* rejectedOf(file)
      assert.strictEqual(
        again,
        [
          "\ufeffEmail,FirstName,City,_error",
          'ann@example.com,"""Ann"" Lee","Bonn, Beuel",there is text after a closing quote',
          'bob@example.com,"""Bob """"B"""" Lee",Kiel,there is text after a closing quote',
          'dee@example.com,"""Dee, Jr"" Lee",Köln,there is text after a closing quote',
          'eve@example.com,"\'""Eve;\'=1"" Lee",Bern,there is text after a closing quote',
          ""
        ].join("\r\n")
      )
      // Its quotes are text now, and it says so however often it comes.
      const second = again.replaceAll("there is text after a closing quote", `"${quoteInCell}"`)
      assert.strictEqual(yield* rejectedOf(again), second)
      assert.strictEqual(yield* rejectedOf(second), second)
      const corrected = again.replace('"""Ann"" Lee"', "Ann Lee").replace('"""Bob """"B"""" Lee"', '"Bob ""B"" Lee"')
      const rows = yield* rowsOf(corrected)
      assert.deepStrictEqual<unknown>(
        rows.map(({ contact }) => Result.getOrElse(contact, (reason) => reason)),
        [
          { email: "ann@example.com", firstName: "Ann Lee", customFields: { City: "Bonn, Beuel" } },
          { email: "bob@example.com", firstName: 'Bob "B" Lee', customFields: { City: "Kiel" } },
          quoteInCell,
          quoteInCell
        ]
      )
      const kept = again.replaceAll(/there is text after a closing quote/g, "")
      const [ann] = yield* rowsOf(kept)
      assert.deepInclude(Result.getOrThrow(ann?.contact ?? assert.fail()), { firstName: '"Ann" Lee' })
    })
  )

  it.effect("has the cells of a row whose quote is never closed", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* rejectedOf('Email;FirstName;City\nann@example.com;"Ann;Bonn\nbob@example.com;Bob;Kiel\n'),
        '\ufeffEmail;FirstName;City;_error\r\nann@example.com;"""Ann";Bonn;a quote is opened and never closed\r\n'
      )
    })
  )

  it.effect("can be imported once corrected, whatever the column of errors holds", () =>
    Effect.gen(function* () {
      const [header, first, ...rest] = (yield* rejectedOf("Email,FirstName\nann@,Ann\nbob,Bob\ncem@example.com\n"))
        .replace("_error", "_ERROR")
        .replace("ann@,", "ann@example.com,")
        .replace("bob,Bob,", "bob@example.com,Bob,")
        .replace("cem@example.com,", "cem@example.com,,")
        .split("\r\n")
      const cleared = first?.replace(/,[^,]*$/, ",")
      const rows = yield* rowsOf([header, cleared, ...rest].join("\r\n"))
      assert.deepStrictEqual<unknown>(
        rows.map(({ contact }) => Result.getOrElse(contact, (reason) => reason)),
        [
          { email: "ann@example.com", firstName: "Ann" },
          { email: "bob@example.com", firstName: "Bob" },
          { email: "cem@example.com" }
        ]
      )
    })
  )

  it.effect("never takes a reason for a value, though a spreadsheet fills short rows up", () =>
    Effect.gen(function* () {
      const again = yield* rejectedOf("Email,FirstName,City\nann@example.com\nbob@example.com,Bob\n")
      const padded = again
        .trimEnd()
        .split("\r\n")
        .map((line, index) => (index === 0 ? `${line},,` : index === 1 ? `${line},,,,` : `${line},,,`))
        .join("\r\n")
      const rows = yield* rowsOf(padded)
      assert.deepStrictEqual(
        rows.map(({ contact }) => (Result.isFailure(contact) ? contact.failure : contact.success)),
        Array.from(
          { length: 2 },
          () => "a cell holds the reason for which the row was rejected; put the right value there"
        )
      )
    })
  )

  it.effect("has the column of errors once, wherever it stood", () =>
    Effect.gen(function* () {
      assert.strictEqual(
        yield* rejectedOf("_Error,Email,City\nold,nobody,X\n"),
        '\ufeffEmail,City,_error\r\nnobody,X,"Email: an e-mail address has an @, as in name@example.com"\r\n'
      )
    })
  )

  const Cell = Schema.Array(Schema.Literals(["=", "+", "'", "@", "\t", "\r\n", '"', ",", ";", " ", "_", "😀"]))
  const quoted = (cells: ReadonlyArray<string>, delimiter: string) =>
    cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(delimiter)

  it.effect.prop(
    "without a correction has the same rejections, and they make the same file",
    [Schema.Literals([",", ";", "\t", "|"]), Schema.NonEmptyArray(Schema.Array(Cell)), Schema.Literals([1, 2, 4])],
    ([some, rows, width]) =>
      Effect.gen(function* () {
        const delimiter = width === 1 ? "," : some
        const header = ["Email", "x,,,;;;", "=y", "z"].slice(0, width)
        const texts = rows.map((row) => row.map((cell) => cell.join("")))
        const records = texts.filter((cells) => cells.some((cell) => cell.trim() !== ""))
        const file = [quoted(header, delimiter), ...records.map((cells) => quoted(cells, delimiter)), "nobody"].join(
          "\r\n"
        )
        const before = yield* rejections(file)
        // Nothing that the cells are made of is an address.
        assert.deepStrictEqual(
          before.map(({ cells }) => cells),
          [...records, ["nobody"]]
        )
        const rejected = yield* rejectedOf(file)
        const after = yield* rejections(rejected)
        const asRead = ({ cells, reason }: (typeof before)[number]) => ({ cells: cells.map(restoreCell), reason })
        assert.deepStrictEqual(after.map(asRead), before.map(asRead))
        assert.strictEqual(yield* rejectedOf(rejected), rejected)
      })
  )
})
