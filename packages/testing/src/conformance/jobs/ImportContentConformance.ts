/** On every layer, an import whose source fails ends with the source's error, and nothing is imported. */
import { assert } from "../cases/Assert.ts"
import type { Cases } from "../cases/Cases.ts"
import { ContactsService, ImportSource } from "@roster/domain"
import { Cause, Effect, Exit, PlatformError, Stream } from "effect"
import { file, imported, utf8 } from "./Importing.ts"
import { type Place, place } from "../cases/Place.ts"

const systemError = (code: string, _tag: PlatformError.SystemErrorTag) =>
  PlatformError.systemError({
    _tag,
    module: "Source",
    method: "read",
    pathOrDescriptor: "/home/ann/customers.csv",
    cause: Object.assign(new Error(`read ${code}`), { code, syscall: "connect" })
  })

/** Errors of a source; a transport can have some of them too. */
const errors = [
  ["a file that is gone", systemError("ENOENT", "NotFound")],
  ["a connection of its own that was refused", systemError("ECONNREFUSED", "Unknown")],
  ["a connection of its own that broke", systemError("ECONNRESET", "Unknown")],
  ["a disk that fails", systemError("EIO", "Unknown")],
  ["an argument", PlatformError.badArgument({ module: "Source", method: "read" })]
] as const

const rows = ({ email }: Place, count: number): Uint8Array =>
  utf8(`Email,FirstName\n${Array.from({ length: count }, (_, row) => `${email(`r${row}`)},Name ${row}\n`).join("")}`)

/** Registers the tests. */
export const importContentConformance = (it: Cases<ContactsService>): void => {
  /** Nothing of the failed import is there once a later import is complete. */
  const nothingImported = Effect.fnUntraced(function* ({ email, rule }: Place) {
    const contacts = yield* ContactsService
    yield* contacts.import(file(utf8(`Email\n${email("later")}\n`)))
    const found = yield* imported(rule, 1)
    assert.deepStrictEqual(
      found.map((contact) => contact.email),
      [email("later")]
    )
  })

  it.describe("contacts: the content of an import", () => {
    it.effect.each(errors)("fails with the error of its source: %s", ([, error]) =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const here = place()
        const content = rows(here, 5000)
        for (const replayable of [true, false]) {
          // At the start, in the middle of a row, and after more than one chunk.
          for (const before of [0, 40, 200_000]) {
            let reads = 0
            const failing = Stream.suspend(() => {
              reads++
              return Stream.concat(Stream.make(content.subarray(0, before)), Stream.fail(error))
            })
            const source = ImportSource.File({ name: "customers.csv", content: failing, replayable })
            assert.strictEqual(yield* Effect.flip(contacts.import(source)), error)
            assert.strictEqual(reads, 1)
          }
        }
        yield* nothingImported(here)
      })
    )

    it.effect("dies where its source does", () =>
      Effect.gen(function* () {
        const contacts = yield* ContactsService
        const here = place()
        const bug = new Error("a bug of the caller")
        const content = Stream.concat(Stream.make(rows(here, 10)), Stream.die(bug))
        const exit = yield* Effect.exit(contacts.import(ImportSource.File({ name: "customers.csv", content })))
        assert.isTrue(Exit.isFailure(exit))
        if (Exit.isFailure(exit)) assert.strictEqual(Cause.squash(exit.cause), bug)
        yield* nothingImported(here)
      })
    )
  })
}
