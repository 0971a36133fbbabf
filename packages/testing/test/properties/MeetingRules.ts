/**
 * Generators of rules and of contacts that they match: both use the same few values in other cases and Unicode
 * compositions.
 */
import { ConsentTracking, type ContactPayload, ContactSource, ContactStatus, EmailAddress, Rule } from "@roster/domain"
import { RuleFields, FieldNames } from "@roster/domain/internal"
import { Arbitrary, DateTime, Schema } from "effect"
import { integer, mostly, oneOf, optional } from "../../src/properties/Generators.ts"

const values = [
  "",
  "a",
  "A",
  "ab",
  "b'a",
  "''",
  '"',
  "%",
  "a_b",
  "\\",
  "' OR '1'='1",
  "'); DROP TABLE contacts; --",
  "É",
  "e\u0301",
  "İ",
  "ß",
  "ΟΔΟΣ",
  "οδος",
  "😀",
  "1",
  "-1.5",
  "1e3",
  "007",
  "2024-02-29",
  "2024-02-29T10:00:00Z",
  "29.02.2024",
  "1,5",
  "@",
  "@example.com"
] as const

const anyText = Arbitrary.map(Arbitrary.schema(Schema.String), (text) => text.toWellFormed().replaceAll("\0", ""))
const text = mostly(
  Arbitrary.map(Arbitrary.all([oneOf(values), oneOf(["", "", "", "a", "É", "'"])]), (parts) => parts.join("")),
  anyText
)

const customNames = ["x", "X", "Größe", "a.b", "__proto__", "constructor"] as const

const moment = Arbitrary.map(
  mostly(
    integer(1_600_000_000, 1_800_000_000),
    oneOf(["2024-02-29T00:00:00Z", "2024-02-29T10:00:00Z", "2024-02-29T23:59:59Z", "1969-12-31T23:59:59Z"])
  ),
  (moment) => DateTime.makeUnsafe(typeof moment === "number" ? moment * 1000 : moment)
)

const profile = Arbitrary.map(
  Arbitrary.all([
    optional("status", oneOf(["Active", "Engaged", "Bounced"])),
    optional("firstName", text),
    optional("lastName", text),
    optional(
      "customFields",
      Arbitrary.map(
        Arbitrary.array(Arbitrary.all([oneOf(customNames), text]), { maxLength: 4 }),
        // Two names that are equal are refused in one record.
        (fields): Readonly<Record<string, string>> =>
          Object.fromEntries(new Map(fields.map((field) => [FieldNames.foldName(field[0]), field])).values())
      )
    ),
    optional(
      "consent",
      Arbitrary.map(
        Arbitrary.all([optional("date", moment), optional("tracking", oneOf(["Unknown", "Allow", "Deny"]))]),
        ([date, tracking]) => ({ ...date, ...tracking })
      )
    )
  ]),
  ([status, firstName, lastName, custom, consent]) => ({ ...status, ...firstName, ...lastName, ...custom, ...consent })
)

const local = oneOf(["a", "Ab", "É", "b'a", "%"])
const domain = oneOf(["example.com", "Bücher.example"])

/** Contacts with distinct addresses. */
export const meetingContacts = (length: { readonly minLength: number; readonly maxLength: number }) =>
  Arbitrary.map(
    Arbitrary.array(Arbitrary.all([local, domain, profile]), length),
    (contacts): ReadonlyArray<ContactPayload> =>
      contacts.map(([local, domain, rest], index) => ({
        ...rest,
        email: EmailAddress.make(`${local}${index}@${domain}`)
      }))
  )

/** The address of such a contact, in spellings of which some are equal for a rule, and others only for a store. */
const address = Arbitrary.map(
  Arbitrary.all([local, integer(0, 9), domain, oneOf(["same", "same", "upper", "NFD", "space", "ASCII"])]),
  ([local, index, domain, spelling]) => {
    const written = `${local}${index}@${domain}`
    switch (spelling) {
      case "same":
        return written
      case "upper":
        return written.toUpperCase()
      case "NFD":
        return written.normalize("NFD")
      case "space":
        return ` ${written}`
      case "ASCII":
        return written.replace("Bücher", "xn--bcher-kva")
    }
  }
)

const comparison = oneOf(Rule.comparisons)
const textOperator = oneOf([...Rule.comparisons, ...Rule.textOperators])
const number = Arbitrary.map(
  mostly(integer(-2, 3), oneOf([0.5, -1.5, 1e-7, 1000, Number.MAX_SAFE_INTEGER])),
  Rule.number
)
const units = { day: 86_400_000, minute: 60_000, second: 1000, millisecond: 1 }
const date = Arbitrary.map(
  Arbitrary.all([moment, oneOf(["day", "minute", "second", "millisecond"])]),
  ([moment, precision]) => {
    const unit = units[precision]
    return Rule.date({ start: Math.floor(DateTime.toEpochMillis(moment) / unit) * unit, precision })
  }
)
const dateText = Arbitrary.map(
  oneOf(["2024-02-29", "2024-02-28", "2024-02-29T10:00Z", "2024-02-29T10:30:00.5+01:00"]),
  Rule.text
)
const word = oneOf([...ContactStatus.literals, ...ContactSource.literals, ...ConsentTracking.literals])

const compare = <V extends Rule.Value>(
  field: Rule.Field,
  operator: Arbitrary.Arbitrary<Rule.Operator>,
  value: Arbitrary.Arbitrary<V>
): Arbitrary.Arbitrary<Rule.Condition> =>
  Arbitrary.map(Arbitrary.all([operator, value]), ([operator, value]) => Rule.compare(field, operator, value))

const monthDay = (field: Rule.Field) =>
  Arbitrary.map(oneOf(["02-29", "01-01", "12-31"]), (monthDay): Rule.Condition => Rule.monthDay(field, monthDay))

const daysFrom = (field: Rule.Field) =>
  Arbitrary.map(Arbitrary.all([comparison, integer(-1000, 3000)]), ([operator, days]): Rule.Condition =>
    Rule.daysFrom(field, operator, days)
  )

const either = <A>(first: Arbitrary.Arbitrary<A>, ...rest: ReadonlyArray<Arbitrary.Arbitrary<A>>) =>
  Arbitrary.flatMap(integer(0, rest.length), (n) => rest[n - 1] ?? first)

const empty = Arbitrary.Constant(Rule.text(""))
const equality = oneOf(["=", "!="])
const literal = Arbitrary.map(text, Rule.text)

/** A condition on a field, of the kinds that the language has for it. */
const conditionOn = (field: Rule.Field): Arbitrary.Arbitrary<Rule.Condition> => {
  if (field._tag === "CustomField") {
    return either(
      compare(field, textOperator, literal),
      compare(field, comparison, number),
      compare(field, comparison, dateText),
      monthDay(field),
      daysFrom(field)
    )
  }
  const info = RuleFields.recordFieldInfo(field.name)
  switch (info.kind) {
    case "text":
      return compare(field, textOperator, literal)
    case "number":
      return either(compare(field, comparison, number), compare(field, equality, empty))
    case "date":
      return either(compare(field, comparison, date), compare(field, equality, empty), monthDay(field), daysFrom(field))
    case "enumeration":
      return Arbitrary.flatMap(word, (word) =>
        compare(field, equality, info.values.includes(word) ? Arbitrary.Constant(Rule.word(word)) : literal)
      )
  }
}

const ofAddress = compare(
  Rule.recordField("email"),
  oneOf(["=", "=", "=", "!="]),
  Arbitrary.map(address, (address) => Rule.text(address))
)

const condition = mostly(
  Arbitrary.flatMap(
    mostly(
      Arbitrary.map(oneOf(RuleFields.recordFieldNames), Rule.recordField),
      Arbitrary.map(oneOf(customNames), Rule.customField)
    ),
    conditionOn
  ),
  ofAddress
)

const tree = (depth: number): Arbitrary.Arbitrary<Rule.Condition> =>
  depth === 0
    ? condition
    : Arbitrary.flatMap(oneOf(["leaf", "leaf", "and", "or"]), (join) =>
        join === "leaf"
          ? condition
          : Arbitrary.map(
              Arbitrary.all([tree(depth - 1), Arbitrary.array(tree(depth - 1), { maxLength: 3 })]),
              ([first, rest]) => (join === "and" ? Rule.and : Rule.or)([first, ...rest])
            )
      )

/** Any condition of the language. */
export const meetingRule: Arbitrary.Arbitrary<Rule.Condition> = tree(2)
