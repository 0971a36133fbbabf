/**
 * A file of contacts says all that can be said of them: exported, imported and exported again it is the same file, whatever
 * the contacts are called and whatever is said of them.
 *
 * What the columns cannot say: who brought a contact in and when, what was done with its mail (the service's own to say),
 * and the difference between a field that is empty and one that is not there, which no rule sees either.
 */
import { afterAll, assert, layer } from "@effect/vitest"
import { ContactFilter, type ContactPayload, ContactsService, RuleText } from "@roster/domain"
import { Effect, Schedule, Stream } from "effect"
import { file, profile, utf8 } from "../../src/conformance/jobs/Importing.ts"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"
import { layerMemory } from "../../src/index.ts"
import { jsonRecordsOf, textOf, type XmlElement, xmlOf } from "../../src/conformance/jobs/ExportedFile.ts"
import { awkwardContacts } from "../../src/properties/AwkwardContacts.ts"

const seed = runSeed("round trips of generated contacts")
const property = (runs: { readonly ci: number; readonly long: number }) => ({
  arbitrary: { runs: amount(runs), seed, size: 100 },
  timeout: amount({ ci: 120_000, long: 3_600_000 })
})

let stores = 0
let written = 0
afterAll(() => process.stdout.write(`round trips: ${written} contacts in ${stores} stores\n`))

const soon = Schedule.spaced("1 millis")

const exported = Effect.fnUntraced(function* (fileFormat: "Csv" | "Json" | "Xml") {
  const contacts = yield* ContactsService
  const { id, link } = yield* contacts.export({ fileFormat })
  const status = yield* contacts
    .exportStatus(id)
    .pipe(Effect.repeat({ schedule: soon, until: (status) => status !== "Loading" }), Effect.timeout("2 minutes"))
  assert.strictEqual(status, "Ready")
  const chunks = yield* Stream.runCollect(contacts.download(link))
  return textOf(Buffer.concat([...chunks]))
})

/** Imports a file to its end: behind its last row stands one more, which is taken out again. */
const imported = Effect.fnUntraced(function* (content: string) {
  const contacts = yield* ContactsService
  const marker = "marker@elsewhere.example"
  const cells = cellsOf(content)[0]?.length ?? 0
  yield* contacts.import(file(utf8(`${content}${marker}${",".repeat(cells - 1)}\r\n`)))
  yield* contacts
    .delete(marker)
    .pipe(
      Effect.retry({ schedule: soon, while: (error) => error._tag === "ContactNotFound" }),
      Effect.timeout("2 minutes")
    )
})

const everyone = ContactFilter.ByRule({ rule: RuleText.make("All") })

const storeOf = Effect.fnUntraced(function* (payloads: ReadonlyArray<ContactPayload>) {
  const contacts = yield* ContactsService
  yield* contacts.deleteMany(everyone)
  yield* contacts.add(payloads)
  stores++
  written += payloads.length
  return contacts
})

/** The cells of a file as they are written, quotes included. */
const cellsOf = (text: string): ReadonlyArray<ReadonlyArray<string>> => {
  const records: Array<Array<string>> = [[]]
  for (const [, cell = "", end] of text.matchAll(/("(?:[^"]|"")*"|[^",\r\n]*)(,|\r\n)/g)) {
    records.at(-1)?.push(cell)
    if (end === "\r\n") records.push([])
  }
  return records.slice(0, -1)
}

const saidByTheService =
  /^(?:Source|DateAdded|DateUpdated|StatusChangeDate|Total\w+|Last(?:Sent|Opened|Clicked|Failed|IP)|ErrorCode|FriendlyErrorMessage)$/

/** The bytes of a file without the columns that are the service's own to say. */
const ownBytes = (text: string): string => {
  const records = cellsOf(text)
  const kept = records[0]?.map((name) => !saidByTheService.test(name)) ?? []
  return records.map((cells) => cells.filter((_, i) => kept[i]).join(",")).join("\r\n")
}

const invalidXmlChars = /[^\t\n\r\u{20}-\u{D7FF}\u{E000}-\u{FFFD}\u{10000}-\u{10FFFF}]/gu
/** XML has no way to say some characters: they are replaced, and two names may become one. */
const inXml = (text: string) => text.replaceAll(invalidXmlChars, "\u{FFFD}")
const childOf = (element: XmlElement | undefined, name: string) =>
  element?.children.find((child) => child.name === name)

layer(layerMemory, { excludeTestServices: true, timeout: "60 seconds" })("a file of generated contacts", (it) => {
  it.effect.prop(
    "is the same file again, imported into an empty store, and changes nothing in its own",
    [awkwardContacts({ minLength: 1, maxLength: 80 })],
    ([payloads]) =>
      Effect.gen(function* () {
        const contacts = yield* storeOf(payloads)
        const before = yield* contacts.list({ limit: 1000 })
        assert.strictEqual(before.length, payloads.length)
        const first = yield* exported("Csv")

        yield* imported(first)
        const after = yield* contacts.list({ limit: 1000 })
        assert.deepStrictEqual(after.map(profile), before.map(profile))
        assert.strictEqual(ownBytes(yield* exported("Csv")), ownBytes(first))

        yield* contacts.deleteMany(everyone)
        yield* imported(first)
        assert.strictEqual(ownBytes(yield* exported("Csv")), ownBytes(first))
      }),
    property({ ci: 30, long: 2000 })
  )

  it.effect.prop(
    "gives the contacts back, read as JSON and as XML",
    [awkwardContacts({ minLength: 1, maxLength: 80 })],
    ([payloads]) =>
      Effect.gen(function* () {
        yield* storeOf(payloads)
        const expected = payloads.map(({ consent, customFields, email, firstName, lastName, status }) => ({
          texts: [email, status ?? "Active", firstName ?? "", lastName ?? "", consent?.ip ?? ""],
          // An empty field is none.
          fields: Object.entries(customFields ?? {}).filter(([, value]) => value !== "")
        }))
        const records = jsonRecordsOf(yield* exported("Json"))
        assert.deepStrictEqual(
          records.map(({ Consent, CustomFields, Email, FirstName, LastName, Status }) => ({
            texts: [Email, Status, FirstName ?? "", LastName ?? "", Object(Consent).ConsentIP ?? ""],
            fields: Object.entries(Object(CustomFields))
          })),
          expected
        )
        const root = xmlOf(yield* exported("Xml"))
        assert.deepStrictEqual(
          root.children.map((contact) => ({
            texts: [
              ...["Email", "Status", "FirstName", "LastName"].map((name) => childOf(contact, name)?.text ?? ""),
              childOf(childOf(contact, "Consent"), "ConsentIP")?.text ?? ""
            ],
            fields: childOf(contact, "CustomFields")?.children.map(({ attributes, text }) => [attributes["Name"], text])
          })),
          expected.map(({ fields, texts }) => ({
            texts: texts.map(inXml),
            fields: fields.map((field) => field.map(inXml))
          }))
        )
      }),
    property({ ci: 40, long: 1000 })
  )
})
