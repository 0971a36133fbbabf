/**
 * S73 Whatever is asked of a service, and in whatever order: it answers what its document says, holds what the model
 * holds, and tells no account of another. Some order explains what it answers to calls at once, and holds then. `ROSTER_LONG_RUN` makes 100,000 calls, and `ROSTER_SEED` repeats a run.
 */
import { NodeServices } from "@effect/platform-node"
import { assert, describe, it } from "@effect/vitest"
import { operations } from "@roster/api"
import { Effect } from "effect"
import { amount, longRun, runSeed } from "../../src/simulation/LongRun.ts"
import { runFuzz } from "./Fuzz.ts"

const calls = Number(process.env["ROSTER_FUZZ_CALLS"] ?? amount({ ci: 250, long: 100_000 }))

/** Runs that found something, by seed, with as many calls as it took. */
const kept: ReadonlyArray<readonly [seed: number, calls: number]> = []

describe("S.5 stateful fuzz", () => {
  it.live(
    `S73 ${calls} random calls find no undocumented answer, no leak, and nothing that the model does not hold`,
    () =>
      Effect.gen(function* () {
        const seed = runSeed("S73")
        const { byStatus, successes } = yield* runFuzz({ seed, calls })
        const statuses = [...byStatus]
          .sort(([one], [other]) => one - other)
          .map(([status, count]) => `${status}: ${count}`)
        process.stdout.write(`S73: ${calls} calls of ${successes.size} operations, answers ${statuses.join(", ")}\n`)
        const never = [...operations.keys()].filter((id) => !successes.has(id))
        // A short run may not come to each of them.
        if (longRun) assert.deepStrictEqual(never, [], "operations without a success")
      }).pipe(Effect.provide(NodeServices.layer)),
    longRun ? 60 * 60_000 : 60_000
  )

  for (const [seed, calls] of kept) {
    it.live(`S73 seed ${seed}, which found something in ${calls} calls, finds nothing now`, () =>
      Effect.asVoid(runFuzz({ seed, calls })).pipe(Effect.provide(NodeServices.layer))
    )
  }
})
