/** Generators of contacts whose texts and field names are difficult for formats. */
import { type ContactPayload, EmailAddress } from "@roster/domain"
import { ContactColumns, FieldNames } from "@roster/domain/internal"
import { Arbitrary, DateTime, Schema } from "effect"
import { integer, mostly, oneOf, optional } from "./Generators.ts"

/** Texts with a meaning in CSV, spreadsheets, XML, SQL or our own files. */
const pieces = [
  "a",
  "B",
  "7",
  "'",
  "''",
  '"',
  '""',
  ",",
  ";",
  "\t",
  "\r",
  "\n",
  "\r\n",
  "=",
  "+",
  "-",
  "@",
  " ",
  "\u00a0",
  "\ufeff",
  "\u0085",
  "\u2028",
  "\u0001",
  "😀",
  "é",
  "e\u0301",
  "\u202e",
  "\ufffd",
  "\uffff",
  "<",
  "&amp;",
  "]]>",
  "\\",
  "%",
  "null",
  "_error",
  "the row has 2 cells, the header has 3 columns",
  "the row has 2 cells, the header 3",
  "email",
  ";;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;;",
  "\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t"
] as const

const composed = Arbitrary.map(Arbitrary.array(oneOf(pieces), { maxLength: 6 }), (parts) => parts.join(""))
// Repaired rather than filtered: a discarded text would discard all the contacts around it.
const anyText = Arbitrary.map(Arbitrary.schema(Schema.String), (text) => text.toWellFormed().replaceAll("\0", ""))

/** Any text of a contact, mostly an awkward one, or the empty text. */
export const awkwardText: Arbitrary.Arbitrary<string> = mostly(composed, anyText)

const fieldNames = [
  "City",
  "city",
  "CITY",
  "Größe",
  "Gro\u0308ße",
  "GRO\u0308ßE",
  "First Name",
  "e-mail",
  "EMAIL2",
  "'Email",
  "=Email",
  "'=Email",
  "-1",
  "1",
  "__proto__",
  "constructor",
  "a,b",
  "a;b",
  'a"b',
  '5"',
  "5\\",
  '5\\"',
  "\\",
  "\\n",
  "a\r\nb",
  "error",
  "_errors"
] as const

// A record field, or a name with surrounding space, is refused in input, since a file could not say which is meant.
const fieldName = Arbitrary.map(mostly(oneOf(fieldNames), composed), (text) => {
  const name = text.trim()
  return name === "" || ContactColumns.isRecordColumn(name) ? `x${name}` : name
})

const customFields = Arbitrary.map(
  Arbitrary.array(Arbitrary.all([fieldName, awkwardText]), { maxLength: 5 }),
  // Two names that are equal are refused in one record.
  (fields): Readonly<Record<string, string>> =>
    Object.fromEntries(new Map(fields.map((field) => [FieldNames.foldName(field[0]), field])).values())
)

const consentDate = Arbitrary.map(
  mostly(
    integer(0, 2_000_000_000),
    oneOf(["0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z", "1969-12-31T23:59:59.999Z"])
  ),
  (moment) => DateTime.makeUnsafe(typeof moment === "number" ? moment * 1000 : moment)
)

const consent = Arbitrary.map(
  Arbitrary.all([
    optional("ip", mostly(oneOf(["192.0.2.1", "2001:db8::1"]), awkwardText)),
    optional("date", consentDate),
    optional("tracking", oneOf(["Unknown", "Allow", "Deny"]))
  ]),
  ([ip, date, tracking]) => ({ ...ip, ...date, ...tracking })
)

const local = oneOf([
  "a",
  "=a",
  "+a",
  "-a",
  "'a",
  "'=a",
  "''+a",
  "o'b",
  "a/b",
  "a%2Fb",
  "a&b",
  "😀",
  "é",
  "e\u0301",
  "_error",
  "A"
])

const profile = Arbitrary.map(
  Arbitrary.all([
    optional("status", oneOf(["Transactional", "Engaged", "Active", "Bounced", "Unsubscribed", "NotConfirmed"])),
    optional("firstName", awkwardText),
    optional("lastName", awkwardText),
    optional("customFields", customFields),
    optional("consent", consent)
  ]),
  ([status, firstName, lastName, custom, agreed]) => ({ ...status, ...firstName, ...lastName, ...custom, ...agreed })
)

/** Contacts with distinct addresses. */
export const awkwardContacts = (length: { readonly minLength: number; readonly maxLength: number }) =>
  Arbitrary.map(Arbitrary.array(Arbitrary.all([local, profile]), length), (contacts): ReadonlyArray<ContactPayload> =>
    contacts.map(([name, rest], index) => ({ ...rest, email: EmailAddress.make(`${name}${index}@example.com`) }))
  )
