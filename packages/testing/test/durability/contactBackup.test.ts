import { assert, layer } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { isMoreThanHalf, readExportedContacts, UnreadableExport } from "@roster/workflows"
import { layerMemory } from "@roster/server"
import { Effect, Stream } from "effect"

const contactsIn = <E, R>(contacts: ReturnType<typeof readExportedContacts<E, R>>) => Stream.runCollect(contacts)

layer(layerMemory(), { excludeTestServices: true })("an export of contacts as JSON", (it) => {
  it.effect("that is truncated is refused", () =>
    Effect.gen(function* () {
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
          assert.instanceOf(
            yield* Effect.flip(contactsIn(readExportedContacts(pieces(some, size)))),
            UnreadableExport,
            some
          )
        }
        for (const [some, count] of [
          [text, 2],
          [`\ufeff \n${text}\r\n\t`, 2],
          ["[ ]", 0]
        ] as const) {
          assert.strictEqual((yield* contactsIn(readExportedContacts(pieces(some, size)))).length, count)
        }
      }
      const other = yield* Effect.flip(contactsIn(readExportedContacts(Stream.make(Buffer.from('[{"Name":"x"}]')))))
      assert.instanceOf(other, UnreadableExport)
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
          const error = yield* Effect.flip(contactsIn(readExportedContacts(inPieces(bytes, size))))
          assert.instanceOf(error, UnreadableExport)
          assert.match(error.message, /not UTF-8/)
        }
        for (const mark of [[], [0xef, 0xbb, 0xbf]]) {
          const whole = yield* contactsIn(
            readExportedContacts(inPieces(Buffer.concat([Buffer.from(mark), text]), size))
          )
          assert.strictEqual(whole[0]?.firstName, "Zoë")
        }
        const cut = yield* Effect.flip(contactsIn(readExportedContacts(inPieces(text.subarray(0, at + 1), size))))
        assert.match(cut.message, /breaks off/)
      }
    })
  )

  it.effect("says whether a number is more than half of all contacts", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      yield* contacts.add(Array.from({ length: 10 }, (_, index) => ({ email: `p${index}@example.com` })))
      const answers = yield* Effect.forEach([0, 1, 4, 5, 6, 10], (count) => isMoreThanHalf(count))
      assert.deepStrictEqual(answers, [false, false, false, false, true, true])
    })
  )
})
