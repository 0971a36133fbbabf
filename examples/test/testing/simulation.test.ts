import { assert, it } from "@effect/vitest"
import { ContactsService, FaultPlan } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { seedCsv, seeded, simulate, type SimulationOptions } from "@roster/testing"
import { Effect, Exit } from "effect"

const email = "ann@example.com"

const pointsOf = Effect.fnUntraced(function* (contacts: ContactsService["Service"]) {
  const contact = yield* contacts.get(email)
  return { contact, points: Number(contact.customFields?.["points"] ?? 0) }
})

/** The program under test: it writes only what it has seen, and looks again if another was faster. */
const givePoint = Effect.gen(function* () {
  const contacts = yield* ContactsService
  for (;;) {
    const { contact, points } = yield* pointsOf(contacts)
    const write = { customFields: { points: String(points + 1) } }
    const [answer] = yield* contacts.change([{ email, seen: contact, write }])
    // AlreadySo is no success: another gave the same point.
    if (answer?._tag === "Done") return
  }
})

/** A wrong one: it loses the point that another gives between its read and its write. */
const givePointBlindly = Effect.gen(function* () {
  const contacts = yield* ContactsService
  const { points } = yield* pointsOf(contacts)
  yield* contacts.update(email, { customFields: { points: String(points + 1) } })
})

const simulated = <E>(program: Effect.Effect<void, E, ContactsService>, options: SimulationOptions) =>
  simulate(
    {
      layer: (faults) => layerMemory().pipe(seeded(seedCsv(`email\n${email}\n`)), FaultPlan.layer(faults)),
      callers: { shop: program, support: program },
      // Some seeds refuse some of the first calls, so that a caller fails.
      faults: { "contacts.get": [FaultPlan.unavailable()], "contacts.change": [FaultPlan.rateLimited(1)] },
      invariant: ({ shop, support }) =>
        Effect.gen(function* () {
          const { points } = yield* pointsOf(yield* ContactsService)
          assert.strictEqual(points, [shop, support].filter(Exit.isSuccess).length)
        })
    },
    options
  )

it.live("loses no point", () => simulated(givePoint, { seeds: 40 }))

it.live("finds the order that loses one, and repeats it", () =>
  Effect.gen(function* () {
    const failed = yield* Effect.flip(simulated(givePointBlindly, { seeds: 40 }))
    const again = yield* Effect.flip(simulated(givePointBlindly, { repeat: failed.repeat }))
    assert.deepStrictEqual(again.transcript, failed.transcript)
  })
)
