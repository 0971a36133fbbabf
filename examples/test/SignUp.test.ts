/** The unit test of the application: the same program, with the services in memory. */
import { assert, describe, it } from "@effect/vitest"
import { layerMemory } from "@roster/server"
import { Effect } from "effect"
import { application } from "../src/SignUp.ts"

const services = layerMemory({ allowedSenders: ["*@example.com"] })

describe("the application", () => {
  it.effect("welcomes each subscriber once", () =>
    application.pipe(
      Effect.map(({ active, outcomes }) => {
        assert.deepStrictEqual(outcomes, ["welcomed", "welcomed", "updated"])
        assert.strictEqual(active, 2)
      }),
      Effect.provide(services)
    )
  )
})
