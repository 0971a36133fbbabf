import { assert, layer } from "@effect/vitest"
import { Effect, Exit } from "effect"
import { layerMemory } from "../../src/index.ts"
import type { Stop } from "./HeldSecrets.ts"
import { lifetimeOf, makeTrial, succeeded } from "./Trial.ts"

layer(layerMemory)("a rotation that is stopped at every place, and run again", (it) => {
  for (const how of ["Dies", "IsInterrupted", "LosesTheAnswer"] as const satisfies ReadonlyArray<Stop["how"]>) {
    it.effect(`${how}: ends with one API key of the name, whose secret was delivered`, () =>
      Effect.gen(function* () {
        let stopped = 0
        for (let at = 0; ; at++) {
          const trial = yield* makeTrial
          const { ci, delivered, keys, makeKey, rotate, secrets } = trial
          const { token: _, ...old } = yield* makeKey
          secrets.stopAt({ at, how })
          const first = yield* rotate()
          const places = secrets.places()
          const where = `stopped at ${at}: ${secrets.log.join(", ")}`
          const isNoted = secrets.log.includes("after save Delivered") && !secrets.log.includes("after clear")
          secrets.stopAt(undefined)
          if (Exit.isFailure(first)) {
            stopped++
            // A run that was told that all is done is not run again.
            succeeded(yield* rotate())
          }
          const [key, ...others] = yield* keys
          assert.deepStrictEqual(others, [], where)
          const { dateCreated, expires } = old
          assert.deepStrictEqual<unknown>({ ...key, dateCreated, expires }, old, where)
          assert.strictEqual(lifetimeOf(key), lifetimeOf(old), where)
          assert.isTrue(secrets.isHeld(ci), where)
          if (isNoted) assert.strictEqual(delivered.length, 1, where)
          assert.strictEqual(secrets.secretOf(ci), delivered.at(-1)?.secret, where)
          if (Exit.isSuccess(first) && at >= places) break
        }
        if (how === "LosesTheAnswer") assert.strictEqual(stopped, 0)
        else assert.isAbove(stopped, 25)
      })
    )

    it.effect(`${how}: ends with one login of a dated name, whose password was delivered`, () =>
      Effect.gen(function* () {
        for (let at = 0; ; at++) {
          const { delivered, makeSmtp, rotateSmtp, secrets, smtp } = yield* makeTrial
          const { token: _, ...old } = yield* makeSmtp
          secrets.stopAt({ at, how })
          const first = yield* rotateSmtp()
          const places = secrets.places()
          const where = `stopped at ${at}: ${secrets.log.join(", ")}`
          secrets.stopAt(undefined)
          if (Exit.isFailure(first)) yield* rotateSmtp()
          const [login, ...others] = yield* smtp
          assert.deepStrictEqual(others, [], where)
          assert.deepStrictEqual<unknown>(
            { ...login, name: old.name, dateCreated: old.dateCreated, expires: old.expires },
            old,
            where
          )
          assert.strictEqual(lifetimeOf(login), lifetimeOf(old), where)
          assert.match(login?.name ?? "", /^shop\+1970\d{4}-[0-9a-f]{8}@/, where)
          assert.strictEqual(secrets.secretOf(login?.name ?? ""), delivered.at(-1)?.secret, where)
          if (Exit.isSuccess(first) && at >= places) break
        }
      })
    )
  }
})
