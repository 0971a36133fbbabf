/** Exports, on every layer: which contacts are in the file, in which order, and how to wait for it. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { ContactFilter, ContactsService, ExportId, RuleText } from "@roster/domain"
import { awaitExport } from "@roster/workflows"
import { Effect, Schedule, Stream } from "effect"
import { csvOf, csvRecordsOf, jsonRecordsOf, textOf, xmlOf } from "./ExportedFile.ts"
import { byEmails, exported } from "./Exporting.ts"
import { impossibleEmails, place } from "../cases/Place.ts"
import { refused } from "../cases/Refused.ts"

export const exportConformance = (it: Cases<ContactsService>): void => {
  it.describe("contacts: export", () => {
    it.needing("own-account").effect("of everything has all contacts in the order of the list", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        yield* contacts.add([{ email: email("b") }, { email: email("a") }])
        const all: Array<string> = []
        for (
          let page = yield* contacts.list({ limit: 1000 });
          page.length > 0;
          page = yield* contacts.list({ limit: 1000, offset: all.length })
        ) {
          all.push(...page.map((contact) => contact.email))
        }
        const file = jsonRecordsOf(textOf(yield* exported({ fileFormat: "Json" })))
        assert.deepStrictEqual<ReadonlyArray<unknown>>(
          file.map((contact) => contact["Email"]),
          all
        )
        assert.isAtLeast(csvOf(textOf(yield* exported())).length, all.length + 1)
      })
    )

    it.effect(
      "of more addresses, or of a longer rule, than an address of a request holds has those that are meant",
      () =>
        Effect.gen(function* () {
          const contacts = yield* ContactsService
          const { email } = place()
          yield* contacts.add([{ email: email("one") }, { email: email("other") }])
          const emails = Array.from({ length: 1000 }, (_, index) => email(`nobody${index}`))
          const rule = RuleText.make(
            [email("one"), ...emails.slice(0, 250)].map((one) => `email = '${one}'`).join(" OR ")
          )
          for (const filter of [byEmails(email("one"), ...emails), ContactFilter.ByRule({ rule })]) {
            const file = jsonRecordsOf(textOf(yield* exported({ fileFormat: "Json", filter })))
            assert.deepStrictEqual<ReadonlyArray<unknown>>(
              file.map((contact) => contact["Email"]),
              [email("one")]
            )
          }
        })
    )

    it.effect("of addresses has those that are there, in the order of the list and in any spelling", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const awkward = email("o'c+d/e&f=g%h#i?j")
        yield* contacts.add([{ email: email("a") }, { email: email("b") }, { email: awkward }])
        const filter = byEmails(awkward.toUpperCase(), email("nobody"), ` ${email("a")}`, email("a"))
        const records = csvRecordsOf(textOf(yield* exported({ filter })))
        assert.deepStrictEqual(
          records.map((record) => record.get("Email")),
          [email("a"), awkward]
        )
      })
    )

    it.effect("of nobody has a header in Csv, and is an empty list in Json and Xml", () =>
      Effect.gen(function* () {
        const filter = byEmails(place().email("nobody"))
        assert.strictEqual(csvOf(textOf(yield* exported({ filter }))).length, 1)
        assert.deepStrictEqual(jsonRecordsOf(textOf(yield* exported({ filter, fileFormat: "Json" }))), [])
        assert.deepStrictEqual(xmlOf(textOf(yield* exported({ filter, fileFormat: "Xml" }))).children, [])
      })
    )

    it.effect("takes a file name of any kind and makes no path of it", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        yield* contacts.add([{ email: email("a") }])
        for (const fileName of [
          "my contacts.csv",
          "żółć 😀.csv",
          "../../etc/passwd",
          "a/b?c#d%2fe.csv",
          "",
          "\r\nSet-Cookie: a=b"
        ]) {
          assert.strictEqual(csvOf(textOf(yield* exported({ filter: byEmails(email("a")), fileName }))).length, 2)
        }
      })
    )

    it.needing("own-account").effect("gives a link that is an address of its own, and a status until it is there", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const [first, second] = [yield* contacts.export(), yield* contacts.export()]
        assert.notStrictEqual(first.id, second.id)
        assert.notStrictEqual(first.link, second.link)
        assert.isTrue(URL.canParse(first.link))
        assert.include(["Loading", "Ready"], yield* contacts.exportStatus(first.id))
        yield* awaitExport(first.id, { schedule: Schedule.spaced("20 millis"), limit: "2 minutes" })
        assert.strictEqual(yield* contacts.exportStatus(first.id), "Ready")
      })
    )

    it.effect("fails with ExportNotFound for an id and a link that there are not", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const id = ExportId.make("00000000-0000-4000-8000-000000000000")
        assert.strictEqual((yield* refused(contacts.exportStatus(id), "ExportNotFound")).id, id)
        const { link } = yield* contacts.export({ filter: byEmails(place().email("nobody")) })
        // The long part of the path cannot be guessed.
        const guess = link.replaceAll(/[\w-]{20,}/g, (part) => [...part].toReversed().join(""))
        assert.notStrictEqual(guess, link)
        yield* refused(Stream.runDrain(contacts.download(guess)), "ExportNotFound")
      })
    )

    it.effect("refuses a link that is none", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        for (const link of ["", "not a link", "file:///etc/passwd", "javascript:alert(1)"]) {
          yield* refused(Stream.runDrain(contacts.download(link)), "InvalidInput")
        }
      })
    )

    it.effect("refuses addresses that cannot be", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        for (const [, impossible] of impossibleEmails) {
          yield* refused(contacts.export({ filter: byEmails("a@example.com", impossible) }), "InvalidInput")
        }
      })
    )
  })
}
