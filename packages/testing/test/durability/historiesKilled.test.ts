/**
 * S74 Sixteen clients over a network that breaks, and a service that is killed: the history of each key has an
 * explanation.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { Effect } from "effect"
import { historyTime, historyTrial } from "./history/HistoryTrial.ts"
import { killableServe, servePlace } from "./KillableServe.ts"
import { runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { assertWhole } from "./StoreLook.ts"

describe("S.5 histories of keys", () => {
  it.live(
    "S74 of a process on a file that is killed, every ok is visible, no fail is, and unknown is either",
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S74"))
        const place = yield* servePlace
        const figures = yield* historyTrial(
          { count: 1, start: killableServe(place), check: () => assertWhole(place) },
          random
        )
        process.stdout.write(`S74, nothing lost: ${JSON.stringify(figures)}\n`)
        assert.isAbove(figures.ok, 0)
        assert.isAbove(figures.unknown, 0)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    historyTime
  )
})
