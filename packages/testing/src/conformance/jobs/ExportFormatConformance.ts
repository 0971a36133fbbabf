/** Export files, on every layer: Csv, Json and Xml, plain or in a Zip, strictly by the standard of each format. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { Contact, ContactFilter, ContactsService } from "@roster/domain"
import { Effect, Predicate, Schema } from "effect"
import { awkwardFields, awkwardTexts } from "../contacts/ContactTextConformance.ts"
import { csvOf, csvRecordsOf, jsonRecordsOf, textOf, type XmlElement, xmlOf, zipOf } from "./ExportedFile.ts"
import { exported } from "./Exporting.ts"
import { place } from "../cases/Place.ts"

/** Texts that XML 1.0 can represent. */
const inXml = awkwardTexts.filter((text) =>
  /^[\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]*$/u.test(text)
)

const childOf = (element: XmlElement, name: string) => element.children.find((child) => child.name === name)

export const exportFormatConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: the file of an export", () => {
    it.effect("as Csv has a header, one record for each contact, and the cells of its fields", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const payloads = awkwardTexts.map((text, i) => ({
          email: email(`${99 - i}.${i}`),
          lastName: `L ${text}`,
          customFields: { note: `N ${text}` }
        }))
        yield* contacts.add([...payloads, { email: email("none") }])
        const text = textOf(yield* exported({ filter: ContactFilter.ByRule({ rule }) }))
        const [header = []] = csvOf(text)
        assert.deepStrictEqual(header, [
          ..."Email Status FirstName LastName ConsentIP ConsentDate ConsentTracking Source DateAdded".split(" "),
          ..."DateUpdated StatusChangeDate TotalSent TotalOpened TotalClicked TotalFailed LastSent LastOpened".split(
            " "
          ),
          ..."LastClicked LastFailed LastIP ErrorCode FriendlyErrorMessage".split(" "),
          "note"
        ])
        const records = csvRecordsOf(text)
        assert.deepStrictEqual(
          records.map((record) => [
            record.get("Email"),
            record.get("LastName"),
            record.get("note"),
            record.get("Source"),
            record.get("Status")
          ]),
          [
            ...payloads.map(({ customFields, email, lastName }) => [
              email,
              lastName,
              customFields.note,
              "ContactApi",
              "Active"
            ]),
            [email("none"), undefined, undefined, "ContactApi", "Active"]
          ]
        )
        assert.match(records[0]?.get("DateAdded") ?? "", /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/)
      })
    )

    it.effect("as Csv holds no cell that a spreadsheet would run", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const formulas = ["=1+1", "+49", "-x", "@x", "\tx", "\rx", "=cmd|' /C calc'!A0", "＝1"]
        yield* contacts.add(
          formulas.map((firstName, i) => ({ email: email(`=f${i}`), firstName, customFields: { "=f": firstName } }))
        )
        const records = csvOf(
          textOf(
            yield* exported({ filter: ContactFilter.ByRule({ rule }), fileFormat: "Csv", compressionFormat: "None" })
          )
        )
        for (const cell of records.flat()) assert.notMatch(cell, /(?:^|[,;|\t\r\n])[=+\-@＝＋－＠]/)
        assert.deepStrictEqual(
          records.slice(1).map((cells) => cells[2]),
          formulas.map((formula) => `'${formula}`)
        )
        assert.strictEqual(records[0]?.at(-1), "'=f")
      })
    )

    it.effect("as Csv has the custom fields in the order of the alphabet", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add([
          { email: email("a"), customFields: { zeta: "1", alpha: "2" } },
          { email: email("b"), customFields: { mid: "3" } }
        ])
        const [header = [], ...rows] = csvOf(textOf(yield* exported({ filter: ContactFilter.ByRule({ rule }) })))
        assert.deepStrictEqual(header.slice(-3), ["alpha", "mid", "zeta"])
        assert.deepStrictEqual(
          rows.map((cells) => cells.slice(-3)),
          [
            ["2", "", "1"],
            ["", "3", ""]
          ]
        )
      })
    )

    it.effect("as Csv has one column for equal names, with the spelling met first, and as Json each contact's", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const records = [{ Town: "1" }, { town: "2", "caf\u00e9": "a" }, { "CAFE\u0301": "b", TOWN: "3" }]
        yield* contacts.add(records.map((customFields, i) => ({ email: email(`c${i}`), customFields })))
        const filter = ContactFilter.ByRule({ rule })
        const [header = [], ...rows] = csvOf(textOf(yield* exported({ filter, fileFormat: "Csv" })))
        const columns = header.flatMap((name, at) => (/^(town|caf)/i.test(name) ? [at] : []))
        assert.deepStrictEqual(
          [header, ...rows].map((cells) => columns.map((at) => cells[at])),
          [
            ["Town", "caf\u00e9"],
            ["1", ""],
            ["2", "a"],
            ["3", "b"]
          ]
        )
        const json = jsonRecordsOf(textOf(yield* exported({ filter, fileFormat: "Json" })))
        assert.deepStrictEqual<unknown>(
          json.map((contact) => contact["CustomFields"]),
          records
        )
      })
    )

    it.effect("as Json is the array of the contacts as they travel", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add([
          ...awkwardTexts.map((text, i) => ({ email: email(`j${i}`), firstName: text, customFields: { text } })),
          { email: email("fields"), customFields: awkwardFields, consent: { ip: "192.0.2.1" } }
        ])
        const file = jsonRecordsOf(
          textOf(yield* exported({ filter: ContactFilter.ByRule({ rule }), fileFormat: "Json" }))
        )
        const listed = yield* contacts.list({ rule, limit: 100 })
        assert.deepStrictEqual<unknown>(file, yield* Schema.encodeEffect(Schema.Array(Contact))(listed))
        const fields = file.at(-1)?.["CustomFields"]
        assert.deepStrictEqual(
          Object.entries(Predicate.isObject(fields) ? fields : {}).sort(),
          Object.entries(awkwardFields).sort()
        )
      })
    )

    it.effect("as Xml has one element for each contact", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        const payloads = inXml.map((text, i) => ({ email: email(`x${i}`), firstName: text }))
        yield* contacts.add([...payloads, { email: email("fields"), customFields: awkwardFields }])
        const root = xmlOf(textOf(yield* exported({ filter: ContactFilter.ByRule({ rule }), fileFormat: "Xml" })))
        assert.deepStrictEqual(
          [root.name, [...new Set(root.children.map((child) => child.name))]],
          ["Contacts", ["Contact"]]
        )
        assert.deepStrictEqual(
          root.children
            .slice(0, -1)
            .map((contact) => [childOf(contact, "Email")?.text, childOf(contact, "FirstName")?.text]),
          payloads.map(({ email, firstName }) => [email, firstName])
        )
        const fields = childOf(root.children.at(-1) ?? root, "CustomFields")?.children ?? []
        assert.deepStrictEqual(fields.map((field) => field.text).sort(), Object.values(awkwardFields).sort())
      })
    )

    it.effect.each(["Csv", "Json", "Xml"] as const)("as %s in a Zip is that one file", (fileFormat) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email, rule } = place()
        yield* contacts.add(
          Array.from({ length: 500 }, (_, i) => ({ email: email(`z${i}`), firstName: "😀".repeat(i % 50) }))
        )
        const filter = ContactFilter.ByRule({ rule })
        const plain = yield* exported({ filter, fileFormat })
        const archive = yield* exported({ filter, fileFormat, compressionFormat: "Zip" })
        const files = [...zipOf(archive)]
        assert.strictEqual(files.length, 1)
        assert.isTrue(files[0]?.[0].endsWith(`.${fileFormat.toLowerCase()}`))
        assert.strictEqual(textOf(files[0]?.[1] ?? new Uint8Array()), textOf(plain))
        assert.isBelow(archive.length, plain.length)
      })
    )
  })
}
