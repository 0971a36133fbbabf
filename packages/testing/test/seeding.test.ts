import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Effect, Stream } from "effect"
import { seedCsv, seeded, seedGenerated } from "../src/index.ts"

const emails = Effect.flatMap(ContactsService, (contacts) =>
  Stream.runCollect(Stream.map(contacts.stream(), ({ email }) => email))
)
const fresh = Effect.provide(layerMemory(), { local: true })

describe("a seed", () => {
  it.effect("is the contacts of a CSV file, any number of them", () =>
    Effect.gen(function* () {
      const rows = Array.from({ length: 1001 }, (_, index) => `ann${index}@example.com;Ann;gold`)
      const contacts = yield* seedCsv(["email;firstname;plan", ...rows].join("\n"))
      assert.strictEqual(contacts.length, 1001)
      assert.deepStrictEqual(
        yield* emails,
        contacts.map(({ email }) => email)
      )
      const service = yield* ContactsService
      const last = yield* service.get("ann1000@example.com")
      assert.deepStrictEqual([last.firstName, last.customFields?.["plan"]], ["Ann", "gold"])
    }).pipe(fresh)
  )

  it.effect("names a row that is no contact, and adds nothing then", () =>
    Effect.gen(function* () {
      const bytes = Stream.make(new TextEncoder().encode("email\nann@example.com\nann\n"))
      const error = yield* Effect.flip(seedCsv(bytes))
      assert.include(error.message, "Line 3 of the seed is no contact")
      assert.deepStrictEqual(yield* emails, [])
    }).pipe(fresh)
  )

  it.effect("is generated, the same by the same seed", () =>
    Effect.gen(function* () {
      const seed = Effect.all([seedGenerated({ count: 30, seed: 7 }), emails])
      const [contacts, stored] = yield* seed.pipe(fresh)
      const again = yield* seedGenerated({ count: 30, seed: 7 }).pipe(fresh)
      assert.deepStrictEqual(contacts, again)
      assert.deepStrictEqual([contacts.length, new Set(stored).size], [30, 30])
    })
  )

  it.effect("fills a layer", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* emails, ["ann@example.com"])
    }).pipe(Effect.provide(layerMemory().pipe(seeded(seedCsv("email\nann@example.com")))))
  )
})
