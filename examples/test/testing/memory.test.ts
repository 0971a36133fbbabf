import { assert, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { awaitExport } from "@roster/workflows"
import { Effect, Stream } from "effect"

/** The program under test: it asks for an export and waits by the default schedule. */
const report = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const { id, link } = yield* contacts.export({ fileFormat: "Csv" })
  yield* awaitExport(id)
  return yield* Stream.mkString(Stream.decodeText(contacts.download(link)))
})

it.effect("reports every customer", () =>
  Effect.gen(function* () {
    const contacts = yield* ContactsService
    yield* contacts.add([{ email: "ann@example.com" }])
    // No second passes, and the test clock does not move.
    assert.include(yield* report, "ann@example.com")
  }).pipe(Effect.provide(layerMemory()))
)
