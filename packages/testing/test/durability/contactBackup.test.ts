import { NodeServices } from "@effect/platform-node"
import { assert, describe, layer } from "@effect/vitest"
import { type Contact, ContactFilter, ContactsService, EmailAddress, RuleText } from "@roster/domain"
import {
  deleteContacts,
  exportTo,
  isMoreThanHalf,
  readBackup,
  restoreContacts,
  surveyBackup,
  UnreadableBackup
} from "@roster/workflows"
import { layerMemory } from "@roster/server"
import { Effect, FileSystem, Layer, Path, Stream } from "effect"

const email = (name: string) => EmailAddress.make(`${name}@example.com`)

const people = Array.from({ length: 2345 }, (_, i) => ({
  email: email(`p${i}`),
  status: i % 3 === 0 ? ("Bounced" as const) : ("Active" as const),
  firstName: `First ${i}`,
  // One name of these is enough for JSON.parse to take the other for it.
  customFields: { note: `=${i}, "quoted"\n`, empty: "", [i % 2 === 0 ? "5\\" : '5"']: `${i}` },
  ...(i % 10 === 0 ? { consent: { ip: "192.0.2.1", date: null, tracking: "Allow" as const } } : {})
}))

const said = ({ consent, customFields, email, firstName, lastName, status }: Contact) => ({
  consent,
  customFields,
  email,
  firstName,
  lastName,
  status
})

/** A store with people in it, and those who bounced in a file. */
const arrange = Effect.gen(function* () {
  const contacts = yield* ContactsService
  yield* contacts.deleteMany(ContactFilter.ByRule({ rule: RuleText.make("All") }))
  for (let at = 0; at < people.length; at += 1000) yield* contacts.add(people.slice(at, at + 1000))
  const fs = yield* FileSystem.FileSystem
  const file = (yield* Path.Path).join(yield* fs.makeTempDirectoryScoped(), "backup.json")
  const filter = ContactFilter.ByRule({ rule: RuleText.make("status = Bounced") })
  yield* exportTo({ filter, fileFormat: "Json" }, file)
  const all = Stream.runCollect(contacts.stream())
  return { contacts, all, backup: () => readBackup(fs.stream(file)), fs, file }
})

layer(Layer.merge(layerMemory(), NodeServices.layer), { excludeTestServices: true })("a backup of contacts", (it) => {
  describe("before they are deleted", () => {
    it.effect("says how many there are, of which status, and the first of them", () =>
      Effect.gen(function* () {
        const { backup } = yield* arrange
        const survey = yield* surveyBackup(backup())
        assert.strictEqual(survey.count, 782)
        assert.deepStrictEqual([...survey.statuses], [["Bounced", 782]])
        assert.deepStrictEqual(
          survey.sample.map((contact) => contact.email),
          ["p0", "p3", "p6", "p9", "p12"].map(email)
        )
      })
    )

    it.effect("is exactly what is deleted: a contact that matches later survives", () =>
      Effect.gen(function* () {
        const { all, backup, contacts } = yield* arrange
        yield* contacts.add([{ email: email("late"), status: "Bounced" }])
        const report = yield* deleteContacts(backup())
        assert.deepStrictEqual(report, { deleted: 782, left: 0, stoppedBy: undefined })
        const left = (yield* all).map((contact) => contact.email)
        assert.deepStrictEqual(left, [
          ...people.filter((_, i) => i % 3 !== 0).map((person) => person.email),
          email("late")
        ])
        // Again does no harm.
        assert.strictEqual((yield* deleteContacts(backup())).deleted, 782)
        assert.strictEqual((yield* all).length, left.length)
      })
    )

    it.effect("brings them back as they were, but for their place", () =>
      Effect.gen(function* () {
        const { all, backup } = yield* arrange
        const before = new Map((yield* all).map((contact) => [contact.email, said(contact)]))
        yield* deleteContacts(backup())
        const report = yield* restoreContacts(backup())
        assert.deepStrictEqual(report, {
          read: 782,
          restored: 782,
          statusesKept: 0,
          keptStatuses: [],
          refused: [],
          notSent: 0,
          unknown: 0,
          stoppedBy: undefined
        })
        assert.deepStrictEqual(new Map((yield* all).map((contact) => [contact.email, said(contact)])), before)
      })
    )

    it.effect("that is truncated is refused", () =>
      Effect.gen(function* () {
        const { file, fs } = yield* arrange
        const content = yield* fs.readFile(file)
        const cut = yield* Effect.flip(surveyBackup(readBackup(Stream.make(content.subarray(0, content.length - 40)))))
        assert.instanceOf(cut, UnreadableBackup)
        // Cut anywhere, or with anything behind it or between its records, and in pieces of any size.
        const text = '[{"Email":"a@x.example","FirstName":"\\"]}"}, {"Email":"b@x.example"}]'
        const pieces = (text: string, size: number) =>
          Stream.fromIterable(text.match(new RegExp(`.{1,${size}}`, "gs")) ?? []).pipe(Stream.encodeText)
        const broken = [
          ...Array.from({ length: text.length }, (_, end) => text.slice(0, end)),
          `${text},`,
          `${text}]`,
          `${text}[]`,
          text.replace("}, {", "},, {"),
          text.replace("}, {", "} {"),
          text.replace("[{", "[,{"),
          text.replace("}]", "},]"),
          text.replace("}]", "}}"),
          '{"Email":"a@x.example"}',
          "[1]",
          "null"
        ]
        for (const size of [1, 2, 7, 1000]) {
          for (const some of broken) {
            assert.instanceOf(yield* Effect.flip(surveyBackup(readBackup(pieces(some, size)))), UnreadableBackup, some)
          }
          for (const [some, count] of [
            [text, 2],
            [`\ufeff \n${text}\r\n\t`, 2],
            ["[ ]", 0]
          ] as const) {
            assert.strictEqual((yield* surveyBackup(readBackup(pieces(some, size)))).count, count)
          }
        }
        const other = yield* Effect.flip(surveyBackup(readBackup(Stream.make(Buffer.from('[{"Name":"x"}]')))))
        assert.instanceOf(other, UnreadableBackup)
      })
    )

    it.effect("with bytes that are not UTF-8 is refused: no contact is restored under a mangled name", () =>
      Effect.gen(function* () {
        const text = Buffer.from('[{"Email":"a@x.example","FirstName":"Zoë"},{"Email":"b@x.example"}]')
        const at = text.indexOf(0xc3)
        const damaged = [
          text.with(at, 0xff),
          // Its second byte is gone, as where a file was cut and put together again.
          Buffer.concat([text.subarray(0, at + 1), text.subarray(at + 2)]),
          Buffer.from(text.toString("utf8"), "latin1"),
          // It ends inside a character.
          Buffer.concat([text, Buffer.of(0xc3)])
        ]
        const inPieces = (bytes: Uint8Array, size: number) =>
          Stream.fromIterable(
            Array.from({ length: Math.ceil(bytes.length / size) }, (_, i) => bytes.slice(i * size, (i + 1) * size))
          )
        for (const size of [1, 2, 7, 1000]) {
          for (const bytes of damaged) {
            const error = yield* Effect.flip(surveyBackup(readBackup(inPieces(bytes, size))))
            assert.instanceOf(error, UnreadableBackup)
            assert.match(error.message, /not UTF-8/)
          }
          for (const mark of [[], [0xef, 0xbb, 0xbf]]) {
            const whole = yield* surveyBackup(readBackup(inPieces(Buffer.concat([Buffer.from(mark), text]), size)))
            assert.strictEqual(whole.sample[0]?.firstName, "Zoë")
          }
          const cut = yield* Effect.flip(surveyBackup(readBackup(inPieces(text.subarray(0, at + 1), size))))
          assert.match(cut.message, /breaks off/)
        }
      })
    )

    it.effect("knows whether it is more than half of all", () =>
      Effect.gen(function* () {
        const { contacts } = yield* arrange
        yield* contacts.deleteMany(ContactFilter.ByRule({ rule: RuleText.make("All") }))
        yield* contacts.add(people.slice(0, 10))
        const answers = yield* Effect.forEach([0, 1, 4, 5, 6, 10], (count) => isMoreThanHalf(count))
        assert.deepStrictEqual(answers, [false, false, false, false, true, true])
      })
    )
  })
})
