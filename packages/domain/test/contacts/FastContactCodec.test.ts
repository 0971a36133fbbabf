import { assert, describe, it } from "@effect/vitest"
import { Arbitrary, DateTime, Exit, Schema } from "effect"
import { Contact, ContactPayload } from "../../src/contacts/Contact.ts"

/** The schemas without the fast path. */
const exact = Contact.annotate({})
const exactPayload = ContactPayload.annotate({})

const instant = DateTime.makeUnsafe("2024-02-29T23:59:59Z")

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
  {},
  { city: "Oslo" },
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

const wire = {
  contact: {
    Email: "ada@example.com",
    Status: "Active",
    FirstName: "Ada",
    LastName: "Lovelace",
    CustomFields: { city: "London" },
    Consent: {},
    Source: "ContactApi",
    DateAdded: "2024-01-02T03:04:05Z",
    DateUpdated: null,
    StatusChangeDate: "2024-01-02T03:04:05",
    Activity: {},
    Unknown: 1
  },
  consent: { ConsentIP: "192.0.2.1", ConsentDate: "2024-01-02T03:04:05", ConsentTracking: "Allow" },
  activity: {
    TotalSent: 1,
    TotalOpened: 2,
    TotalClicked: 3,
    TotalFailed: 4,
    LastSent: "2024-01-02T03:04:05",
    LastOpened: null,
    LastClicked: "2024-01-02T03:04:05Z",
    LastFailed: null,
    LastIP: "192.0.2.1",
    ErrorCode: null,
    FriendlyErrorMessage: ""
  }
}

const decoded = {
  contact: {
    email: "ada@example.com",
    status: "Active",
    firstName: "Ada",
    lastName: "Lovelace",
    customFields: { city: "London" },
    consent: {},
    source: "ContactApi",
    dateAdded: instant,
    dateUpdated: null,
    statusChangeDate: instant,
    activity: {},
    unknown: 1
  },
  consent: { ip: "192.0.2.1", date: instant, tracking: "Allow" },
  activity: {
    totalSent: 1,
    totalOpened: 2,
    totalClicked: 3,
    totalFailed: 4,
    lastSent: instant,
    lastOpened: null,
    lastClicked: instant,
    lastFailed: null,
    lastIP: "192.0.2.1",
    errorCode: null,
    friendlyErrorMessage: ""
  }
}

const Choice = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 10_000 }))
const choices = Arbitrary.array(Arbitrary.schema(Choice), { minLength: 32, maxLength: 32 })

/** The fields as they are, but for those that are left out and those that hold something else. */
const varied = (fields: Fields, choices: ReadonlyArray<number>, from: number, often: number): Fields =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value], index): ReadonlyArray<readonly [string, unknown]> => {
      const choice = choices[from + index] ?? 0
      if (choice % often > 1) return [[name, value]]
      return choice % often === 0 ? [] : [[name, values[choice % values.length]]]
    })
  )

const contactOf = (parts: typeof wire | typeof decoded, choices: ReadonlyArray<number>): Fields => {
  // Few are changed in most, so that a part of them is right.
  const often = 5 + ((choices[0] ?? 0) % 60)
  const consent = varied(parts.consent, choices, 0, often)
  const activity = varied(parts.activity, choices, 3, often)
  const nested = "Email" in parts.contact ? { Consent: consent, Activity: activity } : { consent, activity }
  return varied({ ...parts.contact, ...nested }, choices, 14, often)
}

const payloadOf = (parts: typeof wire | typeof decoded, choices: ReadonlyArray<number>): Fields => {
  const often = 5 + ((choices[0] ?? 0) % 20)
  const consent = varied(parts.consent, choices, 1, often)
  const nested = "Email" in parts.contact ? { Consent: consent } : { consent }
  const names = new Set("email status firstname lastname customfields consent".split(" "))
  // A name that is none is refused in code, and ignored on the wire.
  if ("Email" in parts.contact || (choices[31] ?? 0) % 8 === 0) names.add("unknown")
  const fields = Object.entries({ ...parts.contact, ...nested }).filter(([name]) => names.has(name.toLowerCase()))
  return varied(Object.fromEntries(fields), choices, 14, often)
}

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
  const taken = { read: 0, readPayloads: 0, writtenPayloads: 0, written: 0 }

  it.prop(
    "reads what the schema reads, and says what it says",
    [choices],
    ([choices]) => {
      const value = contactOf(wire, choices)
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
      const values = [payloadOf(wire, choices), payloadOf(wire, others)]
      const { isFast, value } = watched(payloadOf(wire, choices))
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
      const values = [payloadOf(decoded, choices), payloadOf(decoded, others)]
      const { isFast, value } = watched(payloadOf(decoded, choices))
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
      const value = contactOf(decoded, choices)
      const { isFast, value: given } = watched(value)
      const result = Schema.encodeUnknownExit(Contact)(given)
      if (isFast()) taken.written++
      assert.deepStrictEqual(seen(result), seen(Schema.encodeUnknownExit(exact)(value)))
    },
    { arbitrary: { runs: 1000 } }
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
