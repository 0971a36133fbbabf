/** The status of one person is what docs/decisions/upsert.md says, whatever ways in follow one another. */
import { describe, it } from "@effect/vitest"
import { StoreBackup } from "@roster/server"
import { RunLog } from "@roster/workflows"
import { Effect, Layer } from "effect"
import { mkdtempSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"
import { layerEmbedded, layersOn, withRuns } from "../../src/layers/ServiceLayers.ts"
import { foreign, noSuchPath } from "../conformance/ForeignService.ts"
import { leavesAgain, randomCourse, restores, undoneDeletions, walk, type Walking } from "./LadderWalk.ts"

const first = runSeed("statuses of one person") % 1_000_000
const seeds = (ci: number) => Array.from({ length: amount({ ci, long: 100 * ci }) }, (_, index) => first + index)
const steps = 25
const timeout = amount({ ci: 60_000, long: 3_600_000 })

const freshFolder = Effect.acquireRelease(
  Effect.sync(() => mkdtempSync(join(tmpdir(), "roster-"))),
  (folder) => Effect.sync(() => rmSync(folder, { recursive: true, force: true }))
)

describe("the status of one person", () => {
  it.live(
    "follows the ladder by every way in, with backups and restores, on SQLite",
    () =>
      Effect.forEach(
        [leavesAgain, undoneDeletions, restores, ...seeds(2)],
        Effect.fnUntraced(function* (given) {
          const folder = yield* freshFolder
          const [store, backup] = [join(folder, "roster.db"), join(folder, "backup.db")]
          const log = yield* Layer.build(RunLog.layerMemory())
          // Opened for each step, since a restore needs a store that nobody has open.
          const services = layersOn["SQL on a file"](store)
          const walking: Walking = {
            on: (step) => Effect.provide(Effect.provide(step, services), log),
            backups: {
              create: StoreBackup.create({ from: store, to: backup, replace: true }),
              restore: StoreBackup.restore({ from: backup, to: store })
            }
          }
          yield* walk(walking, typeof given === "number" ? randomCourse(walking, given, steps) : given)
        }, Effect.scoped),
        { discard: true }
      ),
    timeout
  )

  for (const [name, services, isForeign] of [
    ["over HTTP", layerEmbedded, false],
    ["at a foreign service", foreign(noSuchPath), true]
  ] as const) {
    it.live(
      `follows the ladder by every way in, ${name}`,
      () =>
        Effect.gen(function* () {
          const context = yield* Layer.build(withRuns(services))
          const on = <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.provideContext(step, context)
          const courses = [
            leavesAgain,
            undoneDeletions,
            ...seeds(4).map((seed) => randomCourse({ isForeign }, seed, steps))
          ]
          yield* Effect.forEach(courses, (course) => walk({ on, isForeign }, course), { discard: true })
        }),
      timeout
    )
  }
})
