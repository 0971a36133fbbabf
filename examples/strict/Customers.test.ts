import { assert, describe, it } from "@effect/vitest"
import { ContactsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Effect } from "effect"
import { bringIn, correct, type Customer, keyFor, thank } from "./Customers.ts"

const ada: Customer = { email: "ada@example.com", first: undefined, last: "Lovelace" }
const lin: Customer = { email: "lin@example.com", first: "Lin", tags: { city: "Oslo" } }

describe("customers with empty columns", () => {
  it.effect("come in, are corrected, thanked and given keys", () =>
    Effect.gen(function* () {
      assert.deepStrictEqual(yield* bringIn([ada, lin]), ["Accepted", "Accepted"])
      const corrected = yield* correct(ada.email, { first: "Ada" })
      assert.deepStrictEqual([corrected.firstName, corrected.lastName], ["Ada", "Lovelace"])
      const { consent, lastName } = yield* Effect.flatMap(ContactsService, (contacts) => contacts.get(lin.email))
      assert.deepStrictEqual([lastName, consent], [undefined, undefined])
      assert.isDefined((yield* thank(ada)).transactionId)
      assert.strictEqual((yield* keyFor("partner")).expires ?? undefined, undefined)
    }).pipe(Effect.provide(layerMemory({ allowedSenders: ["*@example.com"] })))
  )
})
