/** The unit test of the rotation: a week passes at once, on the clock of the test. */
import { assert, describe, it } from "@effect/vitest"
import { CredentialsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { Effect, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { rotateKey, SecretStore } from "../src/KeyRotation.ts"

const name = "crm-sync"
const make = CredentialsService.use(({ apiKeys }) => apiKeys.create({ name, for: ["contacts:write"] }))
const keys = CredentialsService.use(({ apiKeys }) => apiKeys.list())

describe("the rotation of a key", () => {
  it.effect("delivers a secret under the name of the old one, which is gone after the next rotation", () => {
    const secrets = new Map<string, string>()
    const store = Layer.succeed(SecretStore, {
      put: (name, secret) => Effect.sync(() => void secrets.set(name, Redacted.value(secret)))
    })
    return Effect.gen(function* () {
      const made = yield* make
      const { old } = yield* rotateKey(name)
      assert.deepStrictEqual(
        old.map(({ name }) => name),
        ["crm-sync~old-1970-01-08"]
      )
      assert.notStrictEqual(secrets.get(name), Redacted.value(made.token))
      yield* TestClock.adjust("31 days")
      yield* rotateKey(name)
      const names = (yield* keys).filter((key) => key.name.startsWith(name)).map((key) => key.name)
      assert.sameMembers(names, [name, "crm-sync~old-1970-02-08"])
    }).pipe(Effect.provide(Layer.merge(layerMemory(), store)))
  })
})
