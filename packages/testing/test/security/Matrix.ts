/**
 * What each key opens, by the annotations of the contract: every operation with every access level, and with no good key.
 */
import { assert, layer } from "@effect/vitest"
import { operations } from "@roster/api"
import { AccessLevel } from "@roster/domain"
import { Effect, type Layer } from "effect"
import type { Wire } from "../wire/Wire.ts"
import { ask, askJson, refusedWith, succeeded } from "../wire/Wire.ts"
import { deleteKey, everyRequest, expireKey, hopeless, makeKey, ofEvery } from "./Access.ts"

/** Stands for the level of operations that any valid key may call. */
const anyKey = "None"

export const accessMatrix = (store: string, wire: Layer.Layer<Wire, unknown>): void => {
  layer(wire, { excludeTestServices: true, timeout: "60 seconds" })(`the matrix of access on ${store}`, (it) => {
    it.effect(
      "S08 every access level opens exactly the operations that are annotated with it, before anything else is looked at",
      () =>
        Effect.gen(function* () {
          const key = yield* makeKey({ Name: "matrix", AccessLevel: [] })
          let asked = 0
          for (const level of AccessLevel.literals) {
            succeeded(yield* askJson("PUT", "/security/apikeys/matrix", { Name: "matrix", AccessLevel: [level] }))
            yield* ofEvery(
              Effect.fnUntraced(function* ({ id, method, path, required }) {
                const answer = yield* ask(method, path, { ...hopeless, key })
                asked += 1
                if (required !== level && required !== anyKey)
                  return assert.include(refusedWith(answer, 403), required, `${id} with ${level}`)
                assert.notInclude([401, 403], answer.status, `${id} with ${level}`)
                assert.include([200, 400, 404, 415, 202], answer.status, `${id} with ${level}`)
              })
            )
          }
          assert.strictEqual(asked, AccessLevel.literals.length * operations.size)
          yield* deleteKey("matrix")
        }),
      120_000
    )

    it.effect(
      "S08 a key of all levels but one opens all operations but those",
      () =>
        Effect.gen(function* () {
          const key = yield* makeKey({ Name: "all but", AccessLevel: [] })
          for (const level of new Set(
            everyRequest.map(({ required }) => required).filter((level) => level !== anyKey)
          )) {
            const AccessLevels = AccessLevel.literals.filter((other) => other !== level)
            succeeded(
              yield* askJson("PUT", "/security/apikeys/all%20but", { Name: "all but", AccessLevel: AccessLevels })
            )
            yield* ofEvery(
              Effect.fnUntraced(function* ({ id, method, path, required }) {
                const { status } = yield* ask(method, path, { ...hopeless, key })
                assert.strictEqual(status === 403, required === level, `${id} without ${level}`)
              })
            )
          }
          yield* deleteKey("all but")
        }),
      120_000
    )

    it.effect("S08 no key, an expired one and a revoked one are 401 everywhere, one from outside its ranges 403", () =>
      Effect.gen(function* () {
        const all = AccessLevel.literals
        const expired = yield* makeKey({ Name: "expired", AccessLevel: all })
        const revoked = yield* makeKey({ Name: "revoked", AccessLevel: all })
        const outside = yield* makeKey({
          Name: "outside",
          AccessLevel: all,
          RestrictAccessToIPRange: ["10.0.0.0/8", "::1"]
        })
        succeeded(yield* ask("GET", "/contacts", { key: expired }))
        succeeded(yield* ask("GET", "/contacts", { key: revoked }))
        yield* deleteKey("revoked")
        yield* expireKey({ Name: "expired", AccessLevel: all }, expired)
        // All at once, since each wrong key alone is answered later than the one before.
        const refusals: ReadonlyArray<readonly [key: string | null, status: number]> = [
          [null, 401],
          [expired, 401],
          [revoked, 401],
          [outside, 403]
        ]
        yield* Effect.forEach(
          refusals,
          ([key, status]) =>
            ofEvery(
              Effect.fnUntraced(function* ({ id, method, path, required }) {
                const text = refusedWith(yield* ask(method, path, { ...hopeless, key }), status)
                assert.strictEqual(text.includes(required), status === 403, id)
              })
            ),
          { concurrency: "unbounded" }
        )
        for (const name of ["expired", "outside"]) yield* deleteKey(name)
      })
    )
  })
}
