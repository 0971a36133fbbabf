/** Stored texts that are given a kind: what Intl prints is the oracle of numbers, and Date that of dates. */
import { assert, describe, it } from "@effect/vitest"
import { type Contact, ContactsService, readContacts } from "@roster/domain"
import { planConversion, planImport } from "@roster/workflows"
import { Effect, Layer, Schema, Stream } from "effect"
import { layerMemory, withRuns } from "../../src/layers/ServiceLayers.ts"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"
import { foreign, noSuchPath } from "../conformance/ForeignService.ts"

const services = [
  { name: "on SQL", contacts: layerMemory },
  { name: "at another service", contacts: foreign(noSuchPath) }
] as const

const german = new Intl.NumberFormat("de-DE", { maximumFractionDigits: 2 })

/** A stored text, and what it is by the kinds below; texts that are none of them stay. */
const Value = Schema.Union([
  Schema.TaggedStruct("Cents", { cents: Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 1e9 })) }),
  Schema.TaggedStruct("Other", { text: Schema.Literals(["soon", "12 kg", "31.02.2024", "1.2"]) })
])
const Day = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 40_000 }))

const fieldsOf = (contacts: ReadonlyArray<Contact>) => contacts.map(({ customFields = {} }) => ({ ...customFields }))

const all = Effect.gen(function* () {
  return fieldsOf(yield* (yield* ContactsService).list({ limit: 1000 }))
})

const add = (records: ReadonlyArray<Readonly<Record<string, string>>>) =>
  ContactsService.use((contacts) =>
    contacts.add(records.map((customFields, index) => ({ email: `p${index}@example.com`, customFields })))
  )

const convert = Effect.fnUntraced(function* (kinds: Readonly<Record<string, string>>) {
  return yield* planConversion((yield* ContactsService).stream(), kinds)
})

describe.each(services)("a conversion $name", ({ contacts }) => {
  const layer = () => withRuns(Layer.fresh(contacts))

  it.effect.prop(
    "stores the values that the texts mean, leaves and names others, changes nothing twice, and can be undone",
    [Schema.NonEmptyArray(Value).check(Schema.isMaxLength(8)), Schema.NonEmptyArray(Day).check(Schema.isMaxLength(8))],
    ([values, days]) =>
      Effect.gen(function* () {
        const numbers = values.map((value) =>
          value._tag === "Other" ? value.text : `${german.format(value.cents / 100)} €`
        )
        const isoDays = days.map((day) => new Date(day * 86_400_000).toISOString().slice(0, 10))
        const before = Array.from({ length: Math.max(values.length, days.length) }, (_, index) => {
          const iso = isoDays[index]
          return {
            ...(numbers[index] === undefined ? {} : { Umsatz: numbers[index] }),
            ...(iso === undefined ? {} : { "Kunde seit": iso.split("-").toReversed().join(".") }),
            note: "1.234,56"
          }
        })
        yield* add(before)
        const kinds = { umsatz: "number:1.234,56", "Kunde seit": "date:DD.MM.YYYY" }
        const plan = yield* convert(kinds)
        const others = values.flatMap((value, index) =>
          value._tag === "Other" ? [[`p${index}@example.com`, value.text] as const] : []
        )
        const { leftValues = [], valuesLeft = 0 } = plan.summary
        assert.deepStrictEqual(
          leftValues.map(({ email, value }) => [email, value] as const),
          others.filter(([, text]) => text !== "1.2")
        )
        assert.strictEqual(valuesLeft, leftValues.length)
        assert.deepStrictEqual(yield* all, before)
        const { undo } = yield* plan.apply
        const expected = before.map((fields, index) => {
          const value = values[index]
          const iso = isoDays[index]
          return {
            ...fields,
            ...(value?._tag === "Cents" ? { Umsatz: String(value.cents / 100) } : {}),
            ...(iso === undefined ? {} : { "Kunde seit": iso })
          }
        })
        const after = yield* all
        assert.deepStrictEqual(
          after.map((fields, index) =>
            values[index]?._tag === "Cents" ? { ...fields, Umsatz: String(Number(fields["Umsatz"])) } : fields
          ),
          expected
        )
        const again = yield* convert(kinds)
        assert.strictEqual(again.summary.changed, 0)
        yield* undo
        assert.deepStrictEqual(yield* all, before)
      }).pipe(Effect.provide(layer())),
    { arbitrary: { runs: amount({ ci: 20, long: 1000 }), seed: runSeed("conversions"), size: 20 }, timeout: 120_000 }
  )

  it.effect("takes a text that is a number as it stands for another only if the field shows its form", () =>
    Effect.gen(function* () {
      const whole = ["1.234", "2.500", "950"].map((Umsatz) => ({ Umsatz }))
      yield* add(whole)
      const unclear = yield* convert({ Umsatz: "number:1.234,56" })
      assert.deepInclude(unclear.summary, { changed: 0, alreadySo: 3, valuesLeft: 2 })
      assert.include(unclear.summary.leftValues?.[0]?.reason, "converted already")
      // A form of whole numbers is no question.
      assert.deepInclude((yield* convert({ Umsatz: "number:1.234" })).summary, { changed: 2, alreadySo: 1 })
      yield* add([...whole, { Umsatz: "1,5" }])
      const shown = yield* convert({ Umsatz: "number:1.234,56" })
      assert.deepInclude(shown.summary, { changed: 3, onlyForm: { "CustomFields.Umsatz": 1 } })
      yield* shown.apply
      assert.deepStrictEqual(
        (yield* all).map(({ Umsatz }) => Umsatz),
        ["1234", "2500", "950", "1.5"]
      )
      // What is a number as it stands, and has no thousand, says that others may be so too.
      yield* add([{}, {}, {}, {}, { Umsatz: "1.234" }, { Umsatz: "2,25" }])
      const later = yield* convert({ Umsatz: "number:1.234,56" })
      assert.deepInclude(later.summary, { changed: 1, valuesLeft: 1 })
    }).pipe(Effect.provide(layer()))
  )

  it.effect("asks for the order of a date that does not tell it, and refuses what no custom field can be", () =>
    Effect.gen(function* () {
      yield* add([{ since: "25/12/2024" }, { since: "01/02/2024" }])
      const asked = yield* Effect.flip(convert({ since: "date" }))
      assert.include(asked.message, "date:DD/MM/YYYY or date:MM/DD/YYYY")
      for (const kinds of [{ Status: "boolean" }, { since: "day" }, { since: "boolean", SINCE: "date" }]) {
        assert.strictEqual((yield* Effect.flip(convert(kinds)))._tag, "InvalidInput")
      }
      const { summary } = yield* convert({ since: "date:DD/MM/YYYY" })
      assert.deepInclude(summary, { changed: 2, onlyForm: { "CustomFields.since": 2 } })
    }).pipe(Effect.provide(layer()))
  )
})

describe("the plan of an import whose column is of a kind", () => {
  it.effect("says which changes change only the form of what is stored", () =>
    Effect.gen(function* () {
      yield* add([{ Umsatz: "1.234,56" }, { Umsatz: "1.234,56" }, { Umsatz: "7" }])
      const text = 'Email,umsatz\np0@example.com,"1.234,56"\np1@example.com,"1.234,57"\np2@example.com,8\n'
      const rows = readContacts(Stream.make(new TextEncoder().encode(text)), { kinds: { umsatz: "number:1.234,56" } })
      const { rows: planned, summary } = yield* planImport(rows, { mapping: { kinds: { umsatz: "number:1.234,56" } } })
      assert.deepInclude(summary, {
        changed: 3,
        fields: { "CustomFields.Umsatz": 3 },
        onlyForm: { "CustomFields.Umsatz": 1 }
      })
      assert.deepStrictEqual(
        summary.sample.map(({ onlyForm = [] }) => onlyForm.length),
        [1, 0, 0]
      )
      const forms = yield* Stream.runCollect(Stream.map(planned, ({ onlyForm = [] }) => onlyForm))
      assert.deepStrictEqual(forms, [["CustomFields.Umsatz"], [], []])
    }).pipe(Effect.scoped, Effect.provide(withRuns(Layer.fresh(layerMemory))))
  )
})
