/** S75 Random calls of several callers at once: some order of them explains every answer, whatever was lost. */
import { assert, describe } from "@effect/vitest"
import { ContactsService, CredentialsService, type FaultPlan } from "@roster/domain"
import { Context, Effect, Layer, Random } from "effect"
import {
  type Account,
  makeRound,
  readingContacts,
  type Round,
  ruleOf,
  someCall
} from "../durability/history/HistoryCalls.ts"
import { makeHistory } from "../durability/history/KeyHistory.ts"
import { anyFault, layer as services, valueOf, workload } from "./Workload.ts"

/** The calls of one run, which all callers note. */
class Calls extends Context.Service<Calls, Round>()("simulation/Calls") {}

const layer = (faults: FaultPlan.FaultPlan) =>
  Layer.merge(
    services(faults),
    Layer.effect(
      Calls,
      Effect.map(Random.Random, (random) => {
        let moments = 0
        return makeRound(
          "r",
          makeHistory(() => ++moments),
          () => random.nextDoubleUnsafe()
        )
      })
    )
  )

const account = Effect.gen(function* () {
  const client = {
    contacts: yield* ContactsService,
    credentials: yield* CredentialsService
  }
  return { name: "", once: client, repeating: client } satisfies Account
})

const callsAtRandom = Effect.gen(function* () {
  const round = yield* Calls
  const one = yield* account
  yield* Effect.repeat(
    Effect.suspend(() => someCall(round, one)),
    { times: 7 }
  )
})

describe("random calls at once", () => {
  workload("are explained by some order of them", {
    layer,
    callers: { one: callsAtRandom, two: callsAtRandom, three: callsAtRandom },
    faults: {
      "contacts.add": anyFault,
      "contacts.update": anyFault,
      "contacts.delete": anyFault,
      "contacts.deleteMany": anyFault,
      "contacts.list": anyFault,
      "apiKeys.create": anyFault
    },
    invariant: (exits) =>
      Effect.gen(function* () {
        Object.values(exits).forEach(valueOf)
        const round = yield* Calls
        const { repeating } = yield* account
        for (const end of round.imports) end()
        const end = readingContacts(round, "")
        end(yield* repeating.contacts.list({ rule: ruleOf(round), limit: 1000 }))
        assert.deepStrictEqual(round.history.issues(), [])
      })
  })
})
