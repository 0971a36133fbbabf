import { assert, describe, it } from "@effect/vitest"
import { ContactsService, EmailAddress } from "@roster/domain"
import { Context, Effect, Layer } from "effect"
import * as SqlServices from "../src/SqlServices.ts"

class First extends Context.Service<First, ContactsService["Service"]>()("First") {}
class Second extends Context.Service<Second, ContactsService["Service"]>()("Second") {}

describe("the services", () => {
  it.effect("of two stores in one application are of two stores", () =>
    Effect.gen(function* () {
      const first = yield* First
      const second = yield* Second
      yield* first.add([{ email: EmailAddress.make("ann@example.com") }])
      assert.deepStrictEqual([(yield* first.list()).length, (yield* second.list()).length], [1, 0])
    }).pipe(
      Effect.provide(
        Layer.mergeAll(
          Layer.provide(Layer.effect(First, ContactsService), SqlServices.layerMemory()),
          Layer.provide(Layer.effect(Second, ContactsService), SqlServices.layerMemory())
        )
      )
    )
  )
})
