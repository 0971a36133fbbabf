import { assert, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { seedCsv, seeded, seedGenerated } from "@roster/testing"
import { Effect } from "effect"

/** The program under test. */
const gold = Effect.gen(function* () {
  const contacts = yield* ContactsService
  return (yield* contacts.list({ rule: "plan = 'gold'", limit: 1000 })).map(({ email }) => email)
})

const customers = `email,firstname,plan
ann@example.com,Ann,gold
ben@example.com,Ben,free
`

it.effect("finds the customers of a plan", () =>
  Effect.gen(function* () {
    assert.deepStrictEqual(yield* gold, ["ann@example.com"])
  }).pipe(Effect.provide(layerMemory().pipe(seeded(seedCsv(customers)))))
)

it.effect("finds them among any others", () =>
  Effect.gen(function* () {
    yield* seedGenerated({ count: 500 })
    assert.deepStrictEqual(yield* gold, ["ann@example.com"])
  }).pipe(Effect.provide(layerMemory().pipe(seeded(seedCsv(customers)))))
)
