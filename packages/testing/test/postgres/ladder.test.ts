/** The status of one person is what docs/decisions/upsert.md says, on PostgreSQL. */
import { it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { withRuns } from "../../src/layers/ServiceLayers.ts"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"
import { randomCourse, undoneDeletions, walk } from "../consent/LadderWalk.ts"
import { describePostgres, layerPostgres } from "./TestPostgres.ts"

const first = runSeed("statuses of one person") % 1_000_000
const seeds = Array.from({ length: amount({ ci: 3, long: 300 }) }, (_, index) => first + index)

describePostgres("the status of one person", () => {
  it.live(
    "follows the ladder by every way in, on PostgreSQL",
    () =>
      Effect.gen(function* () {
        const context = yield* Layer.build(withRuns(layerPostgres))
        const on = <A, E, R>(step: Effect.Effect<A, E, R>) => Effect.provideContext(step, context)
        const courses = [undoneDeletions, ...seeds.map((seed) => randomCourse({}, seed, 25))]
        yield* Effect.forEach(courses, (course) => walk({ on }, course), { discard: true })
      }),
    amount({ ci: 60_000, long: 3_600_000 })
  )
})
