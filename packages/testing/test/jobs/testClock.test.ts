/** Exports and imports of a store in memory under a `TestClock`, which stands still while they run. */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { ContactsService, EmailAddress, ImportSource, RuleText } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient, layerMemory } from "@roster/server"
import { awaitExport, exportTo } from "@roster/workflows"
import { Clock, Effect, Fiber, Layer, Stream } from "effect"
import { TestClock } from "effect/testing"
import { amount } from "../../src/simulation/LongRun.ts"

const often = amount({ ci: 20, long: 100 })

const layers = [
  ["the SQL layer in memory", layerMemory(), often],
  [
    "the HTTP client of a store in memory",
    RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
      Layer.provide(EmbeddedHttpClient.layer({ filename: ":memory:" })),
      Layer.orDie
    ),
    amount({ ci: 3, long: 100 })
  ]
] as const

const addresses = Array.from({ length: 50 }, (_, index) => EmailAddress.make(`ann${index}@example.com`))

const added = Effect.gen(function* () {
  const contacts = yield* ContactsService
  yield* contacts.add(addresses.map((email) => ({ email })))
  return contacts
})

const text = <E>(content: Stream.Stream<Uint8Array, E>) => Stream.mkString(Stream.decodeText(content))

describe.each(layers)("%s", (_, layer, runs) => {
  const fresh = Effect.provide(layer, { local: true })

  it.effect(`has an export ready at its first status, without a step of the clock, ${runs} of ${runs} times`, () =>
    Effect.gen(function* () {
      const contacts = yield* added
      const link = yield* contacts.export()
      assert.strictEqual(yield* contacts.exportStatus(link.id), "Ready")
      const csv = yield* text(contacts.download(link.link))
      assert.strictEqual(csv.trim().split("\n").length, addresses.length + 1)
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    }).pipe(fresh, Effect.repeat({ times: runs - 1 }))
  )

  it.effect(`ends a wait for an export by its schedule, ${runs} of ${runs} times`, () =>
    Effect.gen(function* () {
      const contacts = yield* added
      const link = yield* contacts.export({ fileFormat: "Json" })
      yield* awaitExport(link.id)
      let file = ""
      const sink = (content: Parameters<typeof text>[0]) => Effect.map(text(content), (all) => (file = all))
      yield* exportTo({ fileFormat: "Json" }, sink).pipe(Effect.provide(NodeServices.layer))
      assert.include(file, addresses[0] ?? "")
      assert.strictEqual(yield* Clock.currentTimeMillis, 0)
    }).pipe(fresh, Effect.repeat({ times: runs - 1 }))
  )

  it.effect("has ended exports and imports that were asked for at once", () =>
    Effect.gen(function* () {
      const contacts = yield* added
      const links = yield* Effect.all(
        Array.from({ length: 10 }, () => contacts.export()),
        { concurrency: "unbounded" }
      )
      const statuses = yield* Effect.forEach(links, ({ id }) => contacts.exportStatus(id), { concurrency: "unbounded" })
      assert.deepStrictEqual([...new Set(statuses)], ["Ready"])
    }).pipe(fresh)
  )

  it.effect("has imported a file when the call returns", () =>
    Effect.gen(function* () {
      const contacts = yield* ContactsService
      const content = Stream.make(new TextEncoder().encode("email,plan\nann@example.com,gold\nben@example.com,free\n"))
      yield* contacts.import(ImportSource.File({ name: "people.csv", content }))
      const found = yield* contacts.list({ rule: RuleText.make("plan = 'gold'") })
      assert.deepStrictEqual(
        found.map(({ email }) => email),
        ["ann@example.com"]
      )
    }).pipe(fresh)
  )

  it.effect("expires an export by the clock", () =>
    Effect.gen(function* () {
      const contacts = yield* added
      const link = yield* contacts.export()
      yield* TestClock.adjust("23 hours")
      assert.strictEqual(yield* contacts.exportStatus(link.id), "Ready")
      yield* TestClock.adjust("1 hour")
      assert.strictEqual(yield* contacts.exportStatus(link.id), "Expired")
    }).pipe(fresh)
  )
})

// The HTTP client gives up after 30 seconds of the clock, as it has to.
it.effect("a wait for an export ends while a test lets time pass too", () =>
  Effect.gen(function* () {
    yield* added
    const waiting = yield* Effect.forkChild(exportTo({}, (content) => Stream.runDrain(content)))
    yield* TestClock.adjust("10 minutes")
    assert.isAbove((yield* Fiber.join(waiting)).bytes, 0)
  }).pipe(Effect.provide([layerMemory(), NodeServices.layer], { local: true }), Effect.repeat({ times: often - 1 }))
)
