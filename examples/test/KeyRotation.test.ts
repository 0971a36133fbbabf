/** The unit test of the rotation: hours of waiting pass at once, on the clock of the test. */
import { assert, describe, it } from "@effect/vitest"
import { CredentialsService } from "@roster/domain"
import { layerMemory } from "@roster/server"
import { RunLog } from "@roster/workflows"
import { Effect, Fiber, Layer, Redacted } from "effect"
import { TestClock } from "effect/testing"
import { rotateKey, SecretStore } from "../src/KeyRotation.ts"

const name = "crm-sync"
const make = CredentialsService.use(({ apiKeys }) => apiKeys.create({ name, for: ["contacts:write"] }))
const keys = CredentialsService.use(({ apiKeys }) => apiKeys.list())

const world = () => {
  const secrets = new Map<string, string>()
  const store = Layer.succeed(SecretStore, {
    put: (name, secret) => Effect.sync(() => void secrets.set(name, Redacted.value(secret)))
  })
  return { secrets, layer: Layer.mergeAll(layerMemory(), store, RunLog.layerMemory()) }
}

describe("the rotation of a key", () => {
  it.effect("delivers the new secret, waits for the old one to be unused, and keeps the name and the rights", () => {
    const { layer, secrets } = world()
    return Effect.gen(function* () {
      const made = yield* make
      const before = (yield* keys).length
      const job = yield* Effect.forkChild(rotateKey(name))
      // A key that was never used is waited for a minute.
      yield* TestClock.adjust("30 seconds")
      // Both work for now.
      assert.strictEqual((yield* keys).length, before + 1)
      assert.match(secrets.get(name) ?? "", /./)
      assert.notStrictEqual(secrets.get(name), Redacted.value(made.token))
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(yield* Fiber.join(job), "rotated")
      const [key, ...others] = (yield* keys).filter((key) => key.name.startsWith(name))
      assert.deepStrictEqual([key?.name, key?.accessLevels, others], [name, made.accessLevels, []])
    }).pipe(Effect.provide(layer))
  })

  it.effect("resumes where it was stopped, and delivers no second secret", () => {
    const { layer, secrets } = world()
    return Effect.gen(function* () {
      yield* make
      const job = yield* Effect.forkChild(rotateKey(name))
      yield* TestClock.adjust("30 seconds")
      yield* Fiber.interrupt(job)
      const delivered = secrets.get(name)
      const next = yield* Effect.forkChild(rotateKey(name))
      yield* TestClock.adjust("2 hours")
      assert.strictEqual(yield* Fiber.join(next), "rotated")
      assert.isDefined(delivered)
      assert.strictEqual(secrets.get(name), delivered)
    }).pipe(Effect.provide(layer))
  })
})
