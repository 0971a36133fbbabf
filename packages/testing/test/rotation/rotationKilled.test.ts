import { assert, layer } from "@effect/vitest"
import { DateTime, Effect, Exit } from "effect"
import { TestClock } from "effect/testing"
import { layerMemory } from "../../src/index.ts"
import type { Stop } from "./HeldSecrets.ts"
import { lifetimeOf, makeTrial, succeeded, tagOf } from "./Trial.ts"

/** Runs again as cron does: a successor of the stopped run is left alone for a quarter of an hour. */
const untilDone = Effect.fnUntraced(function* <A, E extends { readonly _tag: string }, R>(
  rotate: Effect.Effect<Exit.Exit<A, E>, never, R>
) {
  for (let run = 0; run < 2; run++) {
    const exit = yield* rotate
    if (Exit.isSuccess(exit)) return exit.value
    assert.strictEqual(tagOf(exit), "RotationRefused", String(exit.cause))
    yield* TestClock.adjust("15 minutes")
  }
  return succeeded(yield* rotate)
})

layer(layerMemory)("a rotation that is stopped at every place, and run again", (it) => {
  for (const how of ["Dies", "IsInterrupted", "LosesTheAnswer"] as const satisfies ReadonlyArray<Stop["how"]>) {
    it.effect.each(["1 day", "0 seconds"] as const)(
      `${how}: ends with one API key of the name, whose secret was delivered, and a grace of %s`,
      (grace) =>
        Effect.gen(function* () {
          let stopped = 0
          for (let at = 0; ; at++) {
            const { ci, delivered, keys, makeKey, rotate, secrets } = yield* makeTrial
            const { token: _, ...old } = yield* makeKey({ expires: DateTime.add(yield* DateTime.now, { days: 90 }) })
            secrets.stopAt({ at, how })
            const first = yield* rotate({ grace })
            const places = secrets.places()
            const where = `stopped at ${at}: ${secrets.log.join(", ")}`
            secrets.stopAt(undefined)
            // A run that was told that all is done is not run again.
            const rotated = Exit.isSuccess(first) ? first.value : yield* untilDone(rotate({ grace }))
            if (Exit.isFailure(first)) stopped++
            const all = yield* keys
            const key = all.find(({ name }) => name === ci)
            const { dateCreated, expires } = old
            assert.deepStrictEqual<unknown>({ ...key, dateCreated, expires }, old, where)
            assert.strictEqual(lifetimeOf(key), lifetimeOf(old), where)
            assert.isTrue(secrets.isHeld(ci), where)
            assert.strictEqual(secrets.secretOf(ci), delivered.at(-1)?.secret, where)
            assert.sameMembers(
              all.filter((one) => one !== key).map(({ name }) => name),
              rotated.old.map(({ name }) => name),
              where
            )
            const ends = DateTime.add(yield* DateTime.now, { days: 1 })
            for (const { expires } of rotated.old) {
              assert.isTrue(expires !== null && DateTime.isLessThanOrEqualTo(expires, ends), where)
            }
            // All that was ever delivered works.
            if (grace === "1 day") for (const { secret } of delivered) assert.isTrue(secrets.isLive(secret), where)
            if (Exit.isSuccess(first) && at >= places) break
          }
          if (how === "LosesTheAnswer") assert.strictEqual(stopped, 0)
          else assert.isAtLeast(stopped, 15)
        })
    )

    it.effect(`${how}: ends with a login of a dated name, whose password was delivered`, () =>
      Effect.gen(function* () {
        for (let at = 0; ; at++) {
          const { delivered, makeSmtp, rotateSmtp, secrets, smtp } = yield* makeTrial
          yield* makeSmtp
          secrets.stopAt({ at, how })
          const first = yield* rotateSmtp()
          const places = secrets.places()
          const where = `stopped at ${at}: ${secrets.log.join(", ")}`
          secrets.stopAt(undefined)
          const { name, old } = Exit.isSuccess(first) ? first.value : yield* untilDone(rotateSmtp())
          assert.match(name, /^shop\+\d{8}(?:-2)?@/, where)
          assert.strictEqual(secrets.secretOf(name), delivered.at(-1)?.secret, where)
          const logins = (yield* smtp).map((login) => login.name)
          assert.sameMembers(logins, [name, ...old.map((one) => one.name)], where)
          for (const { secret } of delivered) assert.isTrue(secrets.isLive(secret), where)
          if (Exit.isSuccess(first) && at >= places) break
        }
      })
    )
  }
})
