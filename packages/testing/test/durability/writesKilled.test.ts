/**
 * S58 What was acknowledged is there after SIGKILL, and nothing is there by halves.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { killableServe, servePlace } from "./KillableServe.ts"
import { amount, longRun, runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { makeWriter, settle, writeUntilGone } from "./MixedWrites.ts"
import { assertWhole } from "./StoreLook.ts"

const kills = amount({ ci: 3, long: 300 })
const writers = 6

describe("S.5 kill -9 under mixed writes", () => {
  it.live(
    `S58 after each of ${kills} kills every acknowledged write is there, and every other one wholly or not at all`,
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S58"))
        const place = yield* servePlace
        const all = Array.from({ length: writers }, (_, index) => makeWriter(`w${index}`))
        let acknowledged = 0
        let unknown = 0
        for (let kill = 0; kill < kills; kill++) {
          yield* Effect.scoped(
            Effect.gen(function* () {
              const serve = yield* killableServe(place)
              // Now as a write leaves, now as one was acknowledged, while those of the other writers are under way.
              const onSending = random() < 0.5
              let left = 1 + Math.floor(random() * 150)
              const count = () => {
                left--
                if (left === 0) serve.killNow()
              }
              yield* Effect.forEach(
                all,
                (writer) =>
                  writeUntilGone(serve, writer, random, {
                    sent: () => {
                      if (onSending) count()
                    },
                    acknowledged: () => {
                      acknowledged++
                      if (!onSending) count()
                    }
                  }),
                { concurrency: "unbounded", discard: true }
              )
              yield* serve.ended
            })
          )
          unknown += all.filter(({ perhaps }) => perhaps !== undefined).length
          for (const writer of all) assert.isUndefined(settle(place, writer))
          assertWhole(place)
        }
        process.stdout.write(
          `S58: ${kills} kills, ${acknowledged} acknowledged writes, 0 lost; ${unknown} under way, 0 by halves\n`
        )
        const serve = yield* killableServe(place)
        for (const writer of all) assert.isUndefined(settle(place, writer))
        yield* serve.stop
        assertWhole(place)
      }).pipe(Effect.provide(NodeServices.layer)),
    longRun ? 60 * 60_000 : 60_000
  )
})
