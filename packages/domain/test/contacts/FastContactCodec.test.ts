import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Exit, Schema, SchemaAST } from "effect"
import { Contact, ContactPayload } from "../../src/contacts/Contact.ts"
import { ContactChange } from "../../src/contacts/ContactChange.ts"
import { ContactRecord, PayloadRecord } from "../../src/contacts/ContactRecord.ts"

/** The schemas without the fast path. */
const exact = Contact.annotate({})
const exactPayload = ContactPayload.annotate({})
const exactChange = ContactChange.annotate({})

const wireDate = "2024-02-29T23:59:59Z"
const instant = DateTime.makeUnsafe(wireDate)

/** What a field may hold, fitting or not. */
const values: ReadonlyArray<unknown> = [
  undefined,
  null,
  "",
  "Ada",
  "Active",
  "Allow",
  "Active ",
  "ada@example.com",
  "ada@@example.com",
  "bücher@bücher.example",
  "\u00a0ÿ\u05ff\u0600\u061c\u07ff\u0800\u1fff\u2028\u3000\ud7ff",
  "東京",
  "\u200e",
  "\u{1f600}",
  "\ud800",
  'a"b',
  "a\\b",
  "a\tb\u007f\u009f",
  "x".repeat(5000),
  "2024-02-29T23:59:59Z",
  "1999-12-31T00:00:00",
  "2023-02-29T00:00:00Z",
  "2024-04-31T00:00:00",
  "0000-01-01T00:00:00Z",
  "9999-12-31T23:59:59Z",
  "2024-01-02T24:00:00Z",
  "2024-01-02 03:04:05",
  "2024-01-02T03:04:05.678+02:00",
  "2024-1-02T03:04:05Z",
  "2o24-01-02T03:04:05Z",
  0,
  -0,
  7,
  1.5,
  2 ** 53,
  Number.NaN,
  true,
  [],
  ["a", undefined, "b"],
  ["a", "b"],
  {},
  { city: "Oslo" },
  { city: null },
  { City: "Oslo", city: "Bergen" },
  { city: 7 },
  { city: undefined },
  Object.assign(Object.create({ inherited: "x" }), { city: "Oslo" }),
  JSON.parse('{"__proto__":"a","constructor":"b"}'),
  instant,
  DateTime.makeUnsafe(-1),
  DateTime.makeUnsafe(-62_167_219_200_000),
  DateTime.makeUnsafe(253_402_300_799_999),
  DateTime.makeUnsafe(253_402_300_800_000),
  DateTime.makeZonedUnsafe("2024-01-02T03:04:05Z", { timeZone: "Europe/Berlin" })
]

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && Object.getPrototypeOf(value) === Object.prototype

/** A value that a type takes, with every field that a record may have: one that is added to the schema is tested too. */
const wholeOf = (ast: SchemaAST.AST): unknown => {
  if (SchemaAST.isUnion(ast)) return ast.types.map(wholeOf).find((value) => value !== undefined)
  if (SchemaAST.isLiteral(ast)) return ast.literal
  if (SchemaAST.isString(ast)) return "ada@example.com"
  if (SchemaAST.isNumber(ast)) return 7
  if (SchemaAST.isBoolean(ast)) return true
  if (SchemaAST.isArrays(ast)) return ast.rest.map(wholeOf)
  if (SchemaAST.isDeclaration(ast))
    return ast.typeParameters[0] === undefined ? instant : wholeOf(ast.typeParameters[0])
  if (!SchemaAST.isObjects(ast)) return undefined
  if (ast.indexSignatures.length > 0) return { city: "London" }
  return Object.fromEntries(ast.propertySignatures.map(({ name, type }) => [String(name), wholeOf(type)]))
}

const fieldsOf = (value: unknown): Fields => (isFields(value) ? value : {})

const contact = fieldsOf(wholeOf(SchemaAST.toType(ContactRecord.ast)))
const payload = fieldsOf(wholeOf(SchemaAST.toType(PayloadRecord.ast)))
const { delete: _, ...change } = fieldsOf(wholeOf(SchemaAST.toType(ContactChange.ast)))
const wireChange = fieldsOf(Schema.encodeUnknownSync(exactChange)(change))
const wireContact = fieldsOf(Schema.encodeUnknownSync(exact)(contact))
const wirePayload = fieldsOf(Schema.encodeUnknownSync(exactPayload)(payload))

const Choice = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))
const choices = Arbitrary.array(Arbitrary.schema(Choice), { minLength: 64, maxLength: 64 })

/** The fields as they are, and those in them, but for those that are left out and those that hold something else. */
const varied = (fields: Fields, choices: ReadonlyArray<number>, rare: number): Fields => {
  // Few are changed in most, so that a part of them is right.
  const often = 5 + ((choices[0] ?? 0) % rare)
  let place = 0
  const within = (fields: Fields): Fields =>
    Object.fromEntries(
      Object.entries(fields).flatMap(([name, value]): ReadonlyArray<readonly [string, unknown]> => {
        const choice = choices[++place % choices.length] ?? 0
        if (choice % often === 0) return []
        if (choice % often === 1) return [[name, values[choice % values.length]]]
        if (choice % often === 2) return [[name, null]]
        return [[name, isFields(value) ? within(value) : value]]
      })
    )
  return within(fields)
}

/** A name that is none is refused in code of a contact to add, and otherwise ignored. */
const withUnknown = (fields: Fields): Fields => ({ ...fields, Unknown: 1 })

/** All that can be seen of a result: its value with the order of its names, or what is said against it. */
const seen = (exit: Exit.Exit<unknown, Schema.SchemaError>) =>
  Exit.match(exit, {
    onFailure: (cause) => ({ cause: String(cause) }),
    onSuccess: (value) => ({ value, text: JSON.stringify(value) })
  })

/** A value, and whether all that asked for its fields so far was the fast path: the schema asks whether they are there. */
const watched = (fields: Fields) => {
  let isFast = true
  const value = new Proxy(fields, {
    has: (target, name) => {
      isFast = false
      return Reflect.has(target, name)
    }
  })
  return { value, isFast: () => isFast }
}

describe("the fast codec of contacts", () => {
  /** How many values of each property the fast path took. */
  const taken = { read: 0, readPayloads: 0, readChanges: 0, writtenPayloads: 0, writtenChanges: 0, written: 0 }

  it.prop(
    "reads what the schema reads, and says what it says",
    [choices],
    ([choices]) => {
      const value = varied(withUnknown(wireContact), choices, 60)
      const { isFast, value: given } = watched(value)
      const result = Schema.decodeUnknownExit(Contact)(given)
      if (isFast()) taken.read++
      assert.deepStrictEqual(seen(result), seen(Schema.decodeUnknownExit(exact)(value)))
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "reads what the schema reads of contacts to add, one or many, and says what it says",
    [choices, choices],
    ([choices, others]) => {
      const values = [varied(withUnknown(wirePayload), choices, 20), varied(withUnknown(wirePayload), others, 20)]
      const { isFast, value } = watched(varied(withUnknown(wirePayload), choices, 20))
      const result = Schema.decodeUnknownExit(Schema.Array(ContactPayload))([value, values[1]])
      if (isFast()) taken.readPayloads++
      assert.deepStrictEqual(seen(result), seen(Schema.decodeUnknownExit(Schema.Array(exactPayload))(values)))
      assert.deepStrictEqual(
        seen(Schema.decodeUnknownExit(ContactPayload)(values[0])),
        seen(Schema.decodeUnknownExit(exactPayload)(values[0]))
      )
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "writes what the schema writes of contacts to add, one or many, and says what it says",
    [choices, choices],
    ([choices, others]) => {
      const values = [
        varied((others[1] ?? 0) % 8 === 0 ? withUnknown(payload) : payload, choices, 20),
        varied((others[1] ?? 0) % 8 === 0 ? withUnknown(payload) : payload, others, 20)
      ]
      const { isFast, value } = watched(
        varied((others[1] ?? 0) % 8 === 0 ? withUnknown(payload) : payload, choices, 20)
      )
      const result = Schema.encodeUnknownExit(Schema.Array(ContactPayload))([value, values[1]])
      if (isFast()) taken.writtenPayloads++
      assert.deepStrictEqual(seen(result), seen(Schema.encodeUnknownExit(Schema.Array(exactPayload))(values)))
      assert.deepStrictEqual(
        seen(Schema.encodeUnknownExit(ContactPayload)(values[0])),
        seen(Schema.encodeUnknownExit(exactPayload)(values[0]))
      )
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "writes what the schema writes, and says what it says",
    [choices],
    ([choices]) => {
      const value = varied(withUnknown(contact), choices, 60)
      const { isFast, value: given } = watched(value)
      const result = Schema.encodeUnknownExit(Contact)(given)
      if (isFast()) taken.written++
      assert.deepStrictEqual(seen(result), seen(Schema.encodeUnknownExit(exact)(value)))
    },
    { arbitrary: { runs: 1000 } }
  )

  it.prop(
    "reads and writes what the schema reads and writes of changes, and says what it says",
    [choices],
    ([choices]) => {
      const isDeletion = (choices[1] ?? 0) % 4 === 0
      const wireDeletion = { Email: wireChange["Email"], Seen: wireChange["Seen"], Delete: true }
      const deletion = { email: change["email"], seen: change["seen"], delete: true }
      const wire = varied(withUnknown(isDeletion ? wireDeletion : wireChange), choices, 60)
      const read = watched(wire)
      const result = Schema.decodeUnknownExit(ContactChange)(read.value)
      if (read.isFast()) taken.readChanges++
      assert.deepStrictEqual(seen(result), seen(Schema.decodeUnknownExit(exactChange)(wire)))
      const given = isDeletion ? deletion : change
      const value = varied((choices[2] ?? 0) % 8 === 0 ? withUnknown(given) : given, choices, 60)
      const written = watched(value)
      const sent = Schema.encodeUnknownExit(ContactChange)(written.value)
      if (written.isFast()) taken.writtenChanges++
      assert.deepStrictEqual(seen(sent), seen(Schema.encodeUnknownExit(exactChange)(value)))
    },
    { arbitrary: { runs: 1000 } }
  )

  it.each<readonly [string, Schema.Codec<unknown, unknown>, Fields, Fields]>([
    ["a contact", Contact, contact, wireContact],
    ["a contact to add", ContactPayload, payload, wirePayload],
    ["a change", ContactChange, change, wireChange]
  ])("knows every field of %s", (_, schema, value, encoded) => {
    const read = watched(encoded)
    const written = watched(value)
    assert.deepStrictEqual(Schema.decodeSync(schema)(read.value), value)
    assert.deepStrictEqual(Schema.encodeUnknownSync(schema)(written.value), encoded)
    assert.isTrue(read.isFast() && written.isFast())
  })

  it("takes null in every field but the address for a field that is missing", () => {
    const missing = Schema.decodeSync(exact)({ Email: "ada@example.com" })
    const without = (fields: Fields): Fields =>
      Object.fromEntries(
        Object.entries(fields).map(([name, value]) => [
          name,
          name === "Email" ? value : isFields(value) ? without(value) : null
        ])
      )
    const groups = Object.fromEntries(
      Object.keys(wireContact).map((name) => [name, name === "Email" ? wireContact[name] : null])
    )
    for (const wire of [groups, without(wireContact)]) {
      const { isFast, value } = watched(wire)
      const read = Schema.decodeUnknownSync(Contact)(value)
      const given = Object.entries(read).filter(([, value]) => value !== null && !isFields(value))
      assert.deepStrictEqual(Object.fromEntries(given), missing)
      assert.deepStrictEqual(read, Schema.decodeUnknownSync(exact)(wire))
      assert.strictEqual(isFast(), wire === groups)
    }
  })

  it.each([Contact, exact])(
    "takes for its text what a field of texts holds, and leaves out an empty date",
    (schema) => {
      const wire = {
        Email: "ada@example.com",
        FirstName: 7,
        LastName: false,
        CustomFields: JSON.parse('{"__proto__":1,"age":34,"vip":true,"rate":1.5,"none":null,"city":"Oslo"}'),
        DateAdded: "",
        DateUpdated: "",
        Consent: { ConsentDate: "", ConsentTracking: null },
        Activity: { LastIP: null, TotalSent: null, LastSent: "" }
      }
      const read = Schema.decodeSync(schema)(wire)
      assert.deepStrictEqual<unknown>(
        { ...read, customFields: Object.entries(Object(read).customFields) },
        {
          email: "ada@example.com",
          firstName: "7",
          lastName: "false",
          customFields: [
            ["__proto__", "1"],
            ["age", "34"],
            ["vip", "true"],
            ["rate", "1.5"],
            ["city", "Oslo"]
          ],
          consent: {},
          activity: {}
        }
      )
    }
  )

  it("takes a part of the values of each", () => {
    for (const [property, count] of Object.entries(taken)) assert.isAbove(count, 100, property)
  })

  it("leaves an instant as it would be otherwise", () => {
    const { dateAdded } = Schema.decodeSync(Contact)({
      Email: "a@example.com",
      DateAdded: "2024-02-29T23:59:59"
    })
    assert.isDefined(dateAdded)
    if (dateAdded === undefined) return
    assert.isTrue(DateTime.isUtc(dateAdded))
    assert.deepStrictEqual(DateTime.toPartsUtc(dateAdded), DateTime.toPartsUtc(instant))
    assert.strictEqual(Object.getPrototypeOf(dateAdded), Object.getPrototypeOf(instant))
  })
})
