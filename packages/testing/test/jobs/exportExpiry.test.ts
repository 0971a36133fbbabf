import { assert, layer } from "@effect/vitest"
import { ContactFilter, ContactsService } from "@roster/domain"
import { awaitExport } from "@roster/workflows"
import { Effect, Layer, Schedule, Stream } from "effect"
import { layerEmbedded, layerFile, layerMemory, layerServed } from "../../src/index.ts"
import { refused } from "../../src/conformance/cases/Refused.ts"
import { ShiftedClock } from "./ShiftedClock.ts"

// Not a part of the conformance suite: it takes a day, and so a clock that a layer is built with.
for (const [name, services] of [
  ["SQL in memory", layerMemory],
  ["SQL on a file", layerFile],
  ["HTTP client, server, SQL on a file, in one process", layerEmbedded],
  ["HTTP client, server, SQL on a file, over a socket", layerServed]
] as const) {
  layer(Layer.provideMerge(services, ShiftedClock.layer), { excludeTestServices: true, timeout: "2 minutes" })(
    name,
    (it) => {
      it.effect("an export expires after 24 hours", () =>
        Effect.gen(function* () {
          const contacts = yield* ContactsService
          const clock = yield* ShiftedClock
          const { id, link } = yield* contacts.export({ filter: ContactFilter.ByEmails({ emails: ["a@example.com"] }) })
          const wait = awaitExport(id, { schedule: Schedule.spaced("20 millis"), limit: "2 minutes" })
          yield* wait
          yield* clock.advance("23 hours")
          yield* clock.advance("55 minutes")
          assert.strictEqual(yield* contacts.exportStatus(id), "Ready")
          yield* Stream.runDrain(contacts.download(link))
          yield* clock.advance("10 minutes")
          assert.strictEqual(yield* contacts.exportStatus(id), "Expired")
          assert.strictEqual((yield* refused(wait, "ExportExpired")).id, id)
          yield* refused(Stream.runDrain(contacts.download(link)), "ExportExpired")
        })
      )
    }
  )
}
