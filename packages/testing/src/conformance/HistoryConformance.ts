/** The history of a contact, on every layer that keeps runs. (docs/decisions/history.md) */
import { assert } from "./cases/Assert.ts"
import type { Cases } from "./cases/Cases.ts"
import {
  ContactFilter,
  type ContactHistory,
  ContactsService,
  type HistoryPage,
  ImportSource,
  NamedRun,
  RunsService
} from "@roster/domain"
import { DateTime, Effect, Stream } from "effect"
import { eventually } from "./cases/Eventually.ts"
import { place } from "./cases/Place.ts"
import { refused } from "./cases/Refused.ts"

const beginOf = (command: string, about: string) =>
  Effect.map(
    RunsService.use((runs) => runs.begin({ command, about })),
    ({ id, key }) => ({ id, key, inRun: Effect.provideService(NamedRun, id) })
  )

/** What is compared of entries. */
const shown = ({ entries }: Pick<ContactHistory, "entries">) =>
  entries.map(({ about, effect, fields, run }) => [effect, fields, run, about ?? null])

export const historyConformance = (it: Cases<ContactsService | RunsService>): void => {
  it.describe("the history of a contact", () => {
    it.effect("has what runs did to it and each status that it was given, once, the newest first", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const runs = yield* RunsService
        const { domain, email } = place()
        const [ada, bob] = [email("Ada"), email("bob")]
        const list = `list of ${domain}`
        const imported = yield* beginOf("import", "rows.csv")
        yield* imported.inRun(contacts.add([{ email: bob }, { email: ada, firstName: "Ada" }], { listNames: [list] }))
        yield* runs.end(imported.id)
        const updated = yield* beginOf("update", "city")
        yield* updated.inRun(contacts.add([{ email: ada, customFields: { city: "London" }, status: "Unsubscribed" }]))
        yield* runs.end(updated.id)
        const { dateAdded, source } = yield* contacts.get(ada)

        const history = yield* contacts.history(ada.toUpperCase())
        assert.deepStrictEqual([history.exists, history.next], [true, null])
        // A run that began in the second of its status comes before or after it.
        const status = history.entries.filter(({ fields }) => "Status" in fields)
        const others = history.entries.filter(({ fields }) => !("Status" in fields))
        assert.deepStrictEqual(shown({ entries: status }), [
          ["Changed", { Status: ["Active", "Unsubscribed"] }, updated.id, "city"]
        ])
        assert.deepStrictEqual(shown({ entries: others }), [
          ["Changed", { "CustomFields.city": [null, "London"] }, updated.id, "city"],
          ["Created", {}, imported.id, "rows.csv"]
        ])
        const added = others[1]
        assert.deepStrictEqual(
          [added?.command, added?.source, added && DateTime.toEpochMillis(added.date)],
          ["import", source ?? undefined, dateAdded == null ? undefined : DateTime.toEpochMillis(dateAdded)]
        )
        assert.deepStrictEqual(new Set(history.entries.map(({ key }) => key)), new Set([imported.key]))
      })
    )

    it.effect("says how a contact came in that no run added, and has its consent", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const ada = email("ada")
        yield* contacts.add([{ email: ada, status: "NotConfirmed" }])
        const added = yield* contacts.get(ada)
        yield* contacts.add([
          {
            email: ada,
            status: "Active",
            consent: { ip: "192.0.2.1", date: DateTime.makeUnsafe("2026-01-02T03:04:05Z"), tracking: "Allow" }
          }
        ])
        const history = yield* contacts.history(ada)
        const fields = Object.assign({}, ...history.entries.slice(0, -2).map((entry) => entry.fields))
        assert.deepStrictEqual(fields, {
          Status: ["NotConfirmed", "Active"],
          "Consent.ConsentIP": [null, "192.0.2.1"],
          "Consent.ConsentDate": [null, "2026-01-02T03:04:05Z"],
          "Consent.ConsentTracking": [fields["Consent.ConsentTracking"]?.[0] ?? null, "Allow"]
        })
        assert.deepStrictEqual(shown({ entries: history.entries.slice(-2) }), [
          ["Changed", { Status: [null, "NotConfirmed"] }, null, null],
          ["Created", {}, null, null]
        ])
        assert.strictEqual(history.entries.at(-1)?.source, added.source)
      })
    )

    it.effect("is known of a contact that was deleted, and of one that was added again", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const ada = email("ada")
        yield* contacts.add([{ email: ada, firstName: "Ada" }])
        const deleting = yield* beginOf("delete", "one")
        yield* deleting.inRun(contacts.deleteMany(ContactFilter.ByEmails({ emails: [ada] })))
        const gone = yield* contacts.history(ada)
        assert.strictEqual(gone.exists, false)
        assert.deepStrictEqual(shown(gone), [
          ["Deleted", { Email: [ada, null], Status: ["Active", null], FirstName: ["Ada", null] }, deleting.id, "one"]
        ])
        const adding = yield* beginOf("import", "again.csv")
        yield* adding.inRun(contacts.add([{ email: ada }]))
        const back = yield* contacts.history(ada)
        assert.deepStrictEqual(
          [back.exists, shown(back)],
          [true, [["Created", {}, adding.id, "again.csv"], ...shown(gone)]]
        )
      })
    )

    it.effect("has what an import of the service did", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const ada = email("ada")
        const { id, inRun } = yield* beginOf("import", "rows.csv")
        const content = Stream.encodeText(Stream.make(`Email,FirstName\n${ada},Ada\n`))
        yield* inRun(contacts.import(ImportSource.File({ name: "rows.csv", content })))
        yield* eventually(
          RunsService.use((runs) => runs.get(id)),
          ({ created }) => created === 1
        )
        assert.deepStrictEqual(shown(yield* contacts.history(ada)), [["Created", {}, id, "rows.csv"]])
      })
    )

    it.effect("finds an international address in each of its spellings", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { domain } = place()
        const { id, inRun } = yield* beginOf("import", "rows.csv")
        const spelled = [`JÖRG@bücher.${domain}`, `a"b@bücher.${domain}`.replace('"', "_")]
        yield* inRun(contacts.add(spelled.map((email) => ({ email }))))
        const asked = [`jörg@xn--bcher-kva.${domain}`, `a_b@xn--bcher-kva.${domain}`]
        for (const email of asked) {
          assert.deepStrictEqual(shown(yield* contacts.history(email)), [["Created", {}, id, "rows.csv"]])
        }
      })
    )

    it.effect("is read page by page, each entry once, and erased persons are not in it", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const runs = yield* RunsService
        const { email } = place()
        const ada = email("ada")
        const { id, inRun } = yield* beginOf("import", "rows.csv")
        for (let n = 0; n < 8; n++) {
          const status = n % 2 === 0 ? "Unsubscribed" : "Active"
          yield* inRun(contacts.add([{ email: email(`n${n}`) }, { email: ada, firstName: `n${n}`, status }]))
          if (n === 3) yield* contacts.add([{ email: ada, status: "Bounced" }])
        }
        const all = yield* contacts.history(ada, { limit: 1000 })
        assert.strictEqual(all.next, null)
        assert.strictEqual(all.entries.filter(({ fields }) => "FirstName" in fields).length, 7)
        assert.strictEqual(all.entries.filter(({ fields }) => "Status" in fields).length, 9)
        assert.strictEqual(all.entries.filter(({ effect }) => effect === "Created").length, 1)
        for (const limit of [1, 2, 3, 7]) {
          const entries: Array<ContactHistory["entries"][number]> = []
          let page: HistoryPage | undefined = { limit }
          while (page !== undefined) {
            const read: ContactHistory = yield* contacts.history(ada, page)
            assert.isTrue(read.entries.length <= limit)
            entries.push(...read.entries)
            page = read.next === null ? undefined : { limit, cursor: read.next }
          }
          assert.deepStrictEqual(entries, all.entries)
        }
        const changes = yield* runs.changes(id, { limit: 1000 })
        yield* runs.erase(
          id,
          changes.flatMap(({ email: of, number }) => (of === ada ? [number] : []))
        )
        const left = yield* contacts.history(ada, { limit: 1000 })
        assert.strictEqual(left.entries.filter(({ fields }) => "FirstName" in fields).length, 0)
      })
    )

    it.effect("is not there of an address that nobody had, nor with a page that is none", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const { email } = place()
        const ada = email("ada")
        assert.strictEqual((yield* refused(contacts.history(ada), "ContactNotFound")).email, ada)
        yield* contacts.add([{ email: ada }])
        yield* refused(contacts.history("no address"), "InvalidInput")
        assert.strictEqual((yield* refused(contacts.history(ada, { limit: 1001 }), "InvalidInput")).field, "limit")
        for (const cursor of ["", "1.2.3", "1.2.3.4.5", "99999999999999999.0.0.0.0", "x"]) {
          assert.strictEqual((yield* refused(contacts.history(ada, { cursor }), "InvalidInput")).field, "cursor")
        }
      })
    )
  })
}
