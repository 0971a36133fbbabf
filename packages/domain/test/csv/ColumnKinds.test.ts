/** Kinds of columns: what Intl prints is the oracle of numbers, and Date that of dates. */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Result, Schema, Stream } from "effect"
import { ImportMapping, readContacts } from "../../src/index.ts"
import { kindIssue, makeKindReader } from "../../src/internal.ts"

const kindOf = (kind: string) => {
  assert.isUndefined(kindIssue(kind))
  return makeKindReader(kind)
}

const Cents = Schema.Int.check(Schema.isBetween({ minimum: -1e12, maximum: 1e12 }))
const Milliseconds = Schema.Int.check(Schema.isBetween({ minimum: -62_135_596_800_000, maximum: 253_402_300_799_000 }))

describe("kinds of columns", () => {
  it.prop("read the numbers that Intl prints for people as the numbers that they are", [Cents], ([cents]) => {
    const value = cents / 100
    for (const [locale, form] of [
      ["de-DE", "1.234,56"],
      ["en-US", "1,234.56"],
      ["fr-FR", "1 234,56"],
      ["de-CH", "1'234.56"],
      ["pl-PL", "1 234,56"],
      ["pt-BR", "1.234,56"],
      ["uk-UA", "1 234,56"]
    ] as const) {
      const read = kindOf(`number:${form}`)
      for (const options of [
        {},
        { style: "currency", currency: "EUR" },
        { style: "currency", currency: "USD" },
        { style: "currency", currency: "EUR", currencyDisplay: "code" },
        { useGrouping: false },
        { style: "unit", unit: "percent" }
      ] as const) {
        const text = new Intl.NumberFormat(locale, { minimumFractionDigits: 2, ...options }).format(value)
        const plain = read(text)
        assert.strictEqual(Number(plain), value === 0 ? 0 : value, `${locale} ${text}`)
        assert.match(plain ?? "", /^-?(?:0|[1-9]\d*)\.\d\d$/)
        // As bookkeeping writes what is owed.
        if (value > 0) assert.strictEqual(Number(read(`${text}-`)), -value, `${text}-`)
      }
    }
  })

  it.prop("read the days that a form writes as ISO 8601, and others not at all", [Milliseconds], ([time]) => {
    const date = new Date(time)
    const iso = date.toISOString()
    const [year, month, day] = [iso.slice(0, 4), iso.slice(5, 7), iso.slice(8, 10)]
    assert.strictEqual(kindOf("date:DD.MM.YYYY")(`${day}.${month}.${year}`), iso.slice(0, 10))
    assert.strictEqual(kindOf("date:DD.MM.YYYY")(`${Number(day)}.${Number(month)}.${year}`), iso.slice(0, 10))
    assert.strictEqual(kindOf("date:MM/DD/YYYY")(`${month}/${day}/${year}`), iso.slice(0, 10))
    assert.strictEqual(kindOf("date:DD.MM.YYYY")(iso.slice(0, 10)), iso.slice(0, 10))
    if (Number(day) > 12) assert.isUndefined(kindOf("date:DD/MM/YYYY")(`${month}/${day}/${year}`))
    const clock = iso.slice(11, 19)
    assert.strictEqual(kindOf("date:DD.MM.YYYY HH:mm:ss")(`${day}.${month}.${year} ${clock}`), `${iso.slice(0, 19)}Z`)
    for (const printed of [
      `${iso.slice(0, 10)} ${clock}+00`,
      `${iso.slice(0, 10)} ${clock} +0000`,
      `${iso.slice(0, 10)} ${clock} UTC`
    ]) {
      assert.strictEqual(kindOf("date")(printed), `${iso.slice(0, 19)}Z`)
    }
    if (date.getUTCFullYear() >= 1950 && date.getUTCFullYear() < 2050) {
      assert.strictEqual(kindOf("date:DD.MM.YY@1950")(`${day}.${month}.${year.slice(2)}`), iso.slice(0, 10))
    }
  })

  const Text = Schema.String.check(Schema.isPattern(/^[-+0-9., '€%()\u202fEUR]{0,12}$/))

  it.prop("never change the digits of a text", [Text], ([text]) => {
    for (const form of ["1.234,56", "1,234.56", "1234", "1 234,5"]) {
      const plain = kindOf(`number:${form}`)(text)
      if (plain === undefined) continue
      assert.strictEqual(plain.replaceAll(/\D/g, "").replace(/^0+/, ""), text.replaceAll(/\D/g, "").replace(/^0+/, ""))
      assert.isTrue(Number.isFinite(Number(plain)))
    }
  })

  it.each<readonly [kind: string, text: string, read: string | undefined]>([
    ["number:1.234,56", "1.234,56", "1234.56"],
    ["number:1.234,56", "1.234", "1234"],
    ["number:1.234,56", "12.34", undefined],
    ["number:1.234,56", "1234.5", undefined],
    ["number:1.234,56", "1.234,56 €-", "-1234.56"],
    ["number:1.234,56", "-12,5-", undefined],
    ["number:1.234,56", "12 kg", undefined],
    ["number:1.234,56", "12,5\u202f%", "12.5"],
    ["number:1.234,56", "\u221212,5", "-12.5"],
    ["number:1.234,56", "-0,00", "0.00"],
    ["number:1234", "12.5", undefined],
    ["number:1234.5", "007.5", "7.5"],
    ["date:DD.MM.YYYY", "31.02.2024", undefined],
    ["date:DD.MM.YY@1930", "01.02.29", "2029-02-01"],
    ["date:DD.MM.YY@1930", "01.02.30", "1930-02-01"],
    ["date:DD.MM.YYYY", "01.02.24", undefined],
    ["date", "2024-01-02 03:04:05.123456+01", "2024-01-02T02:04:05.123456Z"],
    ["date", "01.02.2024", undefined],
    ["boolean", "Ja", "true"],
    ["boolean", "нет", "false"],
    ["boolean", "maybe", undefined]
  ])("%s reads %s as %s", (kind, text, read) => assert.strictEqual(kindOf(kind)(text), read))

  it.each([
    "date:DD.MM.YY",
    "date:DD.MM",
    "number",
    "number:1.234.56",
    "number:12",
    "boolean:x",
    "text",
    "date:DD.MM.YYYY@1930"
  ])("know no kind %s", (kind) => {
    assert.isDefined(kindIssue(kind))
    assert.isFalse(Schema.is(ImportMapping)({ kinds: { a: kind } }))
  })

  const read = Effect.fnUntraced(function* (file: string, mapping: ImportMapping) {
    const rows = yield* Stream.runCollect(readContacts(Stream.make(new TextEncoder().encode(file)), mapping))
    return rows.map(({ contact, fault }) =>
      Result.match(contact, {
        onFailure: () => fault,
        onSuccess: ({ customFields, status }) => ({ ...customFields, status })
      })
    )
  })

  it.effect("are of columns, whose rows are rejected for another text, and constants are in all rows", () =>
    Effect.gen(function* () {
      const mapping = {
        kinds: { seit: "date:DD.MM.YYYY", "#3": "number:1.234,56" },
        values: { Umsatz: { keiner: "0" } },
        constants: { Status: "unsubscribed", origin: "fair" }
      }
      const file =
        "Email;seit;Umsatz\na@example.com; 1.2.2024 ;1.234,50 €\nb@example.com;;keiner\nc@example.com;2024;1\n"
      const [ann, bob, cem] = yield* read(file, mapping)
      const all = { origin: "fair", status: "Unsubscribed" }
      assert.deepStrictEqual({ ...ann }, { seit: "2024-02-01", Umsatz: "1234.50", ...all })
      assert.deepStrictEqual({ ...bob }, { Umsatz: "0", ...all })
      assert.deepInclude(cem, { code: "Field", column: "seit", value: "2024" })
      const json = '{"Email":"a@example.com","seit":"1.2.2024","Umsatz":1}\n{"Email":"b@example.com"}\n'
      const rows = yield* read(json, { ...mapping, kinds: { seit: "date:DD.MM.YYYY" } })
      assert.deepStrictEqual(
        rows.map((row) => ({ ...row })),
        [{ seit: "2024-02-01", Umsatz: "1", ...all }, all]
      )
    })
  )

  it.effect.each<readonly [why: string, mapping: ImportMapping, header: string]>([
    ["no column", { kinds: { sait: "date" } }, "Email,seit"],
    ["no custom field", { kinds: { FirstName: "boolean" } }, "Email,FirstName"],
    ["no date", { kinds: { ConsentDate: "boolean" } }, "Email,ConsentDate"],
    ["a column for it", { constants: { city: "Bonn" } }, "Email,City"]
  ])("are refused with the header: %s", ([_why, mapping, header]) =>
    Effect.gen(function* () {
      const error = yield* Effect.flip(read(`${header}\na@example.com,1\n`, mapping))
      assert.strictEqual(error._tag, "UnreadableFile")
    })
  )

  it("take no constant that is no value of its field, and none for the address", () => {
    for (const constants of [
      { Status: "gone" },
      { email: "a@example.com" },
      { DateAdded: "2024-01-01" },
      { city: " " }
    ]) {
      assert.isFalse(Schema.is(ImportMapping)({ constants }))
    }
  })

  it.effect("let the strictest of a constant and of columns count", () =>
    Effect.gen(function* () {
      const file = "Email,Status\na@example.com,Abuse\nb@example.com,Active\nc@example.com,\n"
      const rows = yield* read(file, { constants: { Status: "Unsubscribed" } })
      assert.deepStrictEqual(
        rows.map((row) => ({ ...row })),
        [{ status: "Abuse" }, { status: "Unsubscribed" }, { status: "Unsubscribed" }]
      )
    })
  )
})
