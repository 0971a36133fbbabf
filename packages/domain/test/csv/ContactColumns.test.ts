import { assert, describe, it } from "@effect/vitest"
import { Result, Schema } from "effect"
import type { Contact } from "../../src/contacts/Contact.ts"
import { csvLine } from "../../src/csv/RejectedRows.ts"
import {
  columnFields,
  exportCells,
  exportHeader,
  importColumns,
  importRow,
  isRecordColumn,
  likelyFields,
  protectCell,
  restoreCell
} from "../../src/csv/ContactColumns.ts"
import { parseWireDate } from "../../src/values/WireDate.ts"

const at = parseWireDate("2021-01-01T12:00:00Z")
const full: Contact = {
  email: "Mike@example.com",
  status: "Engaged",
  firstName: "Mike",
  lastName: "O'Brien, Jr.",
  customFields: { zeta: "z", alpha: "=1+1" },
  consent: { ip: "192.0.2.1", ...(at === undefined ? {} : { date: at }), tracking: "Allow" },
  source: "ContactApi",
  ...(at === undefined ? {} : { dateAdded: at }),
  dateUpdated: null,
  activity: { totalSent: -1, totalOpened: 0, errorCode: null, lastIP: "@x" }
}

/** The fields of the record in its order (Service interface, Resources), consent and activity in place of their own names. */
const recordOrder = [
  "Email Status FirstName LastName",
  "ConsentIP ConsentDate ConsentTracking",
  "Source DateAdded DateUpdated StatusChangeDate",
  "TotalSent TotalOpened TotalClicked TotalFailed LastSent LastOpened LastClicked LastFailed LastIP ErrorCode FriendlyErrorMessage"
]
  .join(" ")
  .split(" ")

const row = (header: ReadonlyArray<string>, cells: ReadonlyArray<string>) =>
  Result.flatMap(importColumns(header), (columns) => importRow(columns, cells))

const read = (header: ReadonlyArray<string>, cells: ReadonlyArray<string>) => Result.getOrThrow(row(header, cells))

describe("exported columns", () => {
  it("are those of the record in its order, then the custom fields", () => {
    assert.deepStrictEqual(exportHeader(["alpha", "zeta"]), [...recordOrder, "alpha", "zeta"])
  })

  it("hold each field under its own name", () => {
    const cells = exportCells(full, ["alpha", "zeta", "absent"])
    const header = exportHeader(["alpha", "zeta", "absent"])
    const named = Object.fromEntries(
      header.map((name, index) => [name, cells[index]]).filter(([, cell]) => cell !== "")
    )
    assert.strictEqual(cells.length, header.length)
    assert.deepStrictEqual(named, {
      Email: "Mike@example.com",
      Status: "Engaged",
      FirstName: "Mike",
      LastName: "O'Brien, Jr.",
      ConsentIP: "192.0.2.1",
      ConsentDate: "2021-01-01T12:00:00Z",
      ConsentTracking: "Allow",
      Source: "ContactApi",
      DateAdded: "2021-01-01T12:00:00Z",
      TotalSent: "-1",
      TotalOpened: "0",
      LastIP: "'@x",
      alpha: "'=1+1",
      zeta: "z"
    })
  })

  it("read only own properties as custom fields", () => {
    const cells = exportCells({ email: "a@example.com", customFields: {} }, ["constructor", "__proto__", "toString"])
    assert.deepStrictEqual(cells.slice(-3), ["", "", ""])
  })
})

describe("imported columns", () => {
  it("are known whatever their case and place", () => {
    assert.deepStrictEqual<unknown>(
      read(["LASTNAME", "eMail", "Firstname", "status"], ["B", "a@example.com", "A", "active"]),
      {
        email: "a@example.com",
        firstName: "A",
        lastName: "B",
        status: "Active"
      }
    )
  })

  it("become custom fields where no record has them, with their case", () => {
    assert.deepStrictEqual(read(["Email", "City", "plan"], ["a@example.com", "X", "y"]).customFields, {
      City: "X",
      plan: "y"
    })
  })

  it("come once, by the fold of rules", () => {
    for (const [first, other] of [
      ["City", "city"],
      ["caf\u00e9", "CAFE\u0301"],
      ["\u0130l", "i\u0307l"]
    ] as const) {
      const refused = importColumns(["Email", first, other])
      assert.deepStrictEqual(
        refused,
        Result.fail(`the header has the column "${other}" twice; the mapping of #3 can leave one out`)
      )
      assert.isTrue(Result.isFailure(importColumns(["Email", first, "x"], { columns: { x: other } })))
    }
    assert.isTrue(Result.isSuccess(importColumns(["Email", "stra\u00dfe", "strasse"])))
  })

  it("leave a field unchanged for an empty cell", () => {
    const header = ["Email", "FirstName", "Status", "ConsentDate", "City"]
    assert.deepStrictEqual<unknown>(read(header, ["a@example.com", "", "", "", ""]), { email: "a@example.com" })
  })

  it("take nothing that is the service's own to say", () => {
    const mine = ["Email", "FirstName", "LastName", "Status", "ConsentIP", "ConsentDate", "ConsentTracking"]
    const header = recordOrder.filter((name) => !mine.includes(name))
    const cells = header.map(() => "anything")
    assert.deepStrictEqual<unknown>(
      read(["Email", "AllowUnsubscribe", ...header], ["a@example.com", "true", ...cells]),
      { email: "a@example.com" }
    )
  })

  it.each([...recordOrder, "AllowUnsubscribe", "dateadded", "EMAIL", "_Error"])(
    "no custom field may be called %s",
    (name) => {
      assert.isTrue(isRecordColumn(name))
    }
  )

  it.each(["City", "constructor", "__proto__", ""])("%j is no column of the record", (name) =>
    assert.isFalse(isRecordColumn(name))
  )

  it.each([
    ["a header without Email", ["FirstName", "City"], []],
    ["an empty header", [""], []],
    ["Email twice", ["Email", "EMAIL"], ["a@example.com", "b@example.com"]],
    ["a custom field twice", ["Email", "City", "City"], ["a@example.com", "X", "Y"]],
    ["a row that is too short", ["Email", "City"], ["a@example.com"]],
    ["a row that is too long", ["Email"], ["a@example.com", "x"]],
    ["a row without address", ["Email", "City"], ["", "X"]],
    ["a row with a bad address", ["Email"], ["a b@example.com"]],
    ["a status that there is not", ["Email", "Status"], ["a@example.com", "Hibernating"]],
    ["30 February", ["Email", "ConsentDate"], ["a@example.com", "2024-02-30"]]
  ])("refuse %s in one line", (_, header, cells) => {
    const result = row(header, cells)
    assert.isTrue(Result.isFailure(result))
    if (Result.isFailure(result)) assert.notMatch(result.failure, /[\r\n]/)
  })

  it("pass over empty cells beyond the header, as spreadsheets write them", () => {
    assert.deepStrictEqual<unknown>(read(["Email"], ["a@example.com", "", ""]), { email: "a@example.com" })
  })
})

const Piece = Schema.Literals([
  "=",
  "+",
  "-",
  "@",
  "'",
  "\t",
  "\r\n",
  "\n",
  '"',
  ",",
  ";",
  " ",
  "a",
  "é",
  "😀",
  "\u2028"
])
const Text = Schema.Array(Piece)
const Name = Schema.Literals([
  "City",
  "town",
  "=x",
  "'=x",
  "+49",
  "a,b",
  "a\nb",
  "__proto__",
  "constructor",
  "toString",
  "😀"
])

describe("an export that is imported again", () => {
  it.prop("gives the same profile", [Text, Text, Schema.Array(Schema.Tuple([Name, Text]))], ([first, last, fields]) => {
    const firstName = first.join("")
    const lastName = last.join("")
    const customFields = Object.fromEntries(fields.map(([name, text]) => [name, text.join("")]))
    const names = Object.keys(customFields)
    const contact: Contact = { ...full, firstName, lastName, customFields }
    const again = read(exportHeader(names), exportCells(contact, names))
    // An empty cell says nothing, so it cannot say "empty" either.
    assert.deepStrictEqual(again.firstName ?? "", firstName)
    assert.deepStrictEqual(again.lastName ?? "", lastName)
    assert.deepStrictEqual(
      Object.entries(again.customFields ?? {}).sort(),
      Object.entries(customFields)
        .filter(([, text]) => text !== "")
        .sort()
    )
    assert.deepStrictEqual<unknown>([again.email, again.status, again.consent], [full.email, full.status, full.consent])
  })
})

describe("a map of columns", () => {
  const header = ["Email", " First Name ", "last_name", "Town", "Total"]

  it("maps columns case-insensitively", () => {
    const columns = importColumns(header, {
      columns: { "first name": "firstname", last_name: "LastName", Town: "City" }
    })
    if (Result.isFailure(columns)) throw new Error(columns.failure)
    const row = importRow(columns.success, ["ann@example.com", "Ann", "Lee", "Bonn", "7"])
    assert.deepStrictEqual<unknown>(
      row,
      Result.succeed({
        email: "ann@example.com",
        firstName: "Ann",
        lastName: "Lee",
        customFields: { City: "Bonn", Total: "7" }
      })
    )
  })

  it("finds the column of the address under another name", () => {
    assert.isTrue(Result.isFailure(importColumns(["E-Mail"])))
    assert.isTrue(Result.isSuccess(importColumns(["E-Mail"], { columns: { "E-Mail": "Email" } })))
  })

  it("refuses a column that is not there, a field that the service says itself, and two columns of one field", () => {
    for (const [map, says] of [
      [
        ["Nom", "FirstName"],
        'the header has no column "Nom"; it reads "Email", " First Name ", "last_name", "Town", "Total"'
      ],
      [
        ["Twon", "City"],
        'the header has no column "Twon"; did you mean "Town"? it reads "Email", " First Name ", "last_name", "Town", "Total"'
      ],
      [["Town", "totalsent"], 'only the service sets "totalsent", so no column can become it'],
      [
        ["Town", "EMAIL"],
        'the header has the column "EMAIL" twice, or another column is mapped to it; the mapping of #4 can leave one out'
      ]
    ] as const) {
      assert.deepStrictEqual<unknown>(importColumns(header, { columns: Object.fromEntries([map]) }), Result.fail(says))
    }
  })

  it("does not take the first address of a list without a header for the header", () => {
    const issue =
      "there is an e-mail address where the header is expected; write a line of headings above it, such as Email, or say that there are none"
    const addresses = ["ann@example.com", "Berlin"]
    assert.deepStrictEqual<unknown>(importColumns(addresses), Result.fail(issue))
    assert.deepStrictEqual<unknown>(importColumns(addresses, { columns: { "#1": "Email" } }), Result.fail(issue))
    assert.isTrue(Result.isSuccess(importColumns(["Email", "ann@example.com"])))
  })

  it("is proposed for columns that are named almost like a field, and for no others", () => {
    assert.deepStrictEqual(likelyFields(header), { "First Name": "FirstName", last_name: "LastName" })
    assert.deepStrictEqual(likelyFields(header, { "FIRST NAME": "FirstName" }), { last_name: "LastName" })
    assert.deepStrictEqual(likelyFields(header, { "Fist Name": "FirstName" }), {})
    assert.deepStrictEqual(likelyFields(["Email", "FirstName", "First Name", "Name"]), {})
    assert.deepStrictEqual(likelyFields(header, { Town: "LastName" }), { "First Name": "FirstName" })
    assert.deepStrictEqual(likelyFields(["E-mail Address", "Given name", "Surname", "Mail", "Phone"]), {
      "E-mail Address": "Email",
      "Given name": "FirstName",
      Surname: "LastName"
    })
    assert.deepStrictEqual(likelyFields(["Email", "First Name"], { "First Name": "First Name" }), {})
  })

  it.each([
    ["E-Mail-Adresse", "Vorname", "Nachname"],
    ["Adresse e-mail", "Prénom", "Nom"],
    ["Correo electrónico", "Nombre", "Apellidos"],
    ["Indirizzo e-mail", "Nome", "Cognome"],
    ["Электронная почта", "Имя", "Фамилия"],
    ["Електронна пошта", "Ім’я", "Прізвище"],
    ["Adres e-mail", "Imię", "Nazwisko"],
    ["Adresă de e-mail", "Prenume", "Nume"],
    ["E-mailadres", "Voornaam", "Naam"],
    ["EMAIL_ADDRESS", "given name", "Family-Name"]
  ])("is proposed for the headings of other languages, and is theirs only by the mapping: %s, %s, %s", (...columns) => {
    const [email = "", first = "", last = ""] = columns
    const mapped = { [email]: "Email", [first]: "FirstName", [last]: "LastName" }
    // As other systems write it, which take an accent for a character of its own.
    for (const form of ["NFC", "NFD"]) {
      const header = columns.map((name) => name.normalize(form))
      const proposed = Object.entries(likelyFields(header)).map(([name, field]) => [name.normalize("NFC"), field])
      assert.deepStrictEqual(Object.fromEntries(proposed), mapped)
    }
    assert.deepStrictEqual(likelyFields(columns, mapped), {})
    assert.isTrue(Result.isFailure(importColumns(columns)))
    assert.deepStrictEqual(likelyFields(["Email", "FirstName", "LastName", ...columns]), {})
    const own = { [email]: "Email", [first]: first, [last]: last }
    assert.deepStrictEqual(likelyFields(columns, own), {})
    assert.deepStrictEqual(
      columnFields(columns, { columns: own }),
      [...columns].map((column, at) => ({ column, field: at === 0 ? "Email" : `CustomFields.${column}` }))
    )
  })

  it("is not proposed for names of whole people, nor for words of other things", () => {
    for (const name of ["Name", "Nom", "Nume", "Naam", "Nombre", "Nome", "Имя", "Ort", "Titel", "Почта"]) {
      assert.deepStrictEqual(likelyFields(["Email", name]), {})
    }
    assert.deepStrictEqual(likelyFields(["Email", "Nom", "Prenom"]), { Prenom: "FirstName", Nom: "LastName" })
    assert.deepStrictEqual(likelyFields(["Email", "Name", "Prénom"]), { Prénom: "FirstName" })
  })

  it("is told for each column, and of columns that are left out", () => {
    const found = columnFields(["Email", " Town ", "DateAdded", "", "first", "'=1"], {
      columns: { first: "FirstName", "#2": null }
    })
    assert.deepStrictEqual(
      found.map(({ column, field }) => [column, field]),
      [
        ["Email", "Email"],
        ["Town", null],
        ["DateAdded", null],
        ["first", "FirstName"],
        ["=1", "CustomFields.=1"]
      ]
    )
    assert.deepStrictEqual(columnFields(["Town"]), [])
  })
})

/** What a spreadsheet runs, by OWASP's list for CSV injection. */
const starts = ["=", "+", "-", "@", "\t", "\r", "\n"]

const Hostile = Schema.Array(
  Schema.Literals([...starts, "'", "\0", "a", " ", '"', ",", ";", "|", "＝", "－", "😀", "\u2028"])
)

/** The cells of lines as a spreadsheet splits them: a quote that begins a cell hides what separates cells. */
const splitLike = (lines: string, separator: string): ReadonlyArray<string> => {
  const cells = [""]
  const characters = [...lines]
  let isQuoted = false
  for (const [at, character] of characters.entries()) {
    const cell = cells.at(-1) ?? ""
    const begins = cell === "" && character === '"' && characters[at - 1] !== '"'
    if (begins || (isQuoted && character === '"')) isQuoted = !isQuoted
    else if (!isQuoted && (character === separator || character === "\r" || character === "\n")) cells.push("")
    else cells[cells.length - 1] = cell + character
  }
  return cells
}

describe("protected cells", () => {
  it.each([
    ["=1+1", "'=1+1"],
    ["+49 30 1234", "'+49 30 1234"],
    ["-5", "'-5"],
    ["@SUM(A1)", "'@SUM(A1)"],
    ["\tx", "'\tx"],
    ["\rx", "'\rx"],
    ["'=x", "''=x"],
    ["＝1+1", "'＝1+1"],
    ["x;=1+1", "'x;'=1+1"],
    ["x|'－1", "'x|''－1"],
    ["=a,+b\n@c", "'=a,'+b\n'@c"],
    ["'x;'=1", "''x;''=1"],
    ['x;"=1;y', `'x;'"=1;y`],
    ["a; =1", "a; =1"],
    ["plain", "plain"],
    ["O'Brien", "O'Brien"],
    ["'quoted'", "'quoted'"],
    ["a=1", "a=1"],
    ["", ""]
  ])("writes %j as %j", (text, cell) => {
    assert.strictEqual(protectCell(text), cell)
    assert.strictEqual(restoreCell(cell), text)
  })

  it("leaves what others wrote alone", () => {
    assert.strictEqual(restoreCell("=1+1"), "=1+1")
    assert.strictEqual(restoreCell("'tis"), "'tis")
    assert.strictEqual(restoreCell("x;'=1"), "x;'=1")
    assert.strictEqual(restoreCell("'tis; '-1"), "'tis; '-1")
  })

  it.prop("gives every text back", [Schema.Union([Schema.String, Hostile])], ([input]) => {
    const text = typeof input === "string" ? input : input.join("")
    assert.strictEqual(restoreCell(protectCell(text)), text)
  })

  it.prop(
    "never writes a formula of a spreadsheet",
    [Schema.Union([Schema.String, Hostile])],
    ([input]) => {
      const cell = protectCell(typeof input === "string" ? input : input.join(""))
      assert.isFalse(starts.some((start) => cell.startsWith(start)))
      const line = csvLine(["a", cell, "z"], ",")
      for (const separator of [",", ";", "\t", "|"]) {
        for (const part of [...cell.split(separator), ...splitLike(line, separator)]) {
          assert.notMatch(part, /^[=+\-@＝＋－＠]/)
        }
      }
    },
    { arbitrary: { runs: 5000 } }
  )
})
