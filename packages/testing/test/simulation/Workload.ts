/**
 * Results that run at once, as a test: twenty seeds of each in a run of all tests, and 10,000 over all of them with
 * `ROSTER_LONG_RUN`, which begins elsewhere each night. `ROSTER_SEED` is the first seed.
 */
import { assert, it } from "@effect/vitest"
import { FaultPlan } from "@roster/domain"
import { RosterClient } from "@roster/http-client"
import { EmbeddedHttpClient } from "@roster/server"
import { Effect, Exit, Layer } from "effect"
import { amount, longRun, runSeed } from "../../src/simulation/LongRun.ts"
import { layerMemory, withRuns } from "../../src/layers/ServiceLayers.ts"
import type { Simulation } from "../../src/simulation/SimulatedRun.ts"
import { simulate } from "../../src/simulation/Simulation.ts"

/** Answers that are lost, and calls that are refused or late. */
export const anyFault = [
  FaultPlan.cutAfter,
  FaultPlan.cutBefore,
  FaultPlan.rateLimited(),
  FaultPlan.unavailable(1),
  FaultPlan.delay("2 seconds")
]

/** The services on an empty store in memory, and a log of runs. */
export const layer = (faults: FaultPlan.FaultPlan) => withRuns(layerMemory.pipe(FaultPlan.layer(faults)))

/** The same behind the HTTP client, whose retries, keys and server run by the seed too. */
export const layerOverHttp = (faults: FaultPlan.FaultPlan) =>
  withRuns(
    RosterClient.layer({ baseUrl: EmbeddedHttpClient.baseUrl }).pipe(
      Layer.provide(Layer.orDie(EmbeddedHttpClient.layer({ filename: ":memory:", faults })))
    )
  )

/** Both, by what the name of a workload says of it. */
export const layers = [
  ["", layer],
  [", over HTTP", layerOverHttp]
] as const

/** The value of what has to have succeeded. */
export const valueOf = <A, E>(exit: Exit.Exit<A, E>): A =>
  Exit.isSuccess(exit) ? exit.value : assert.fail(`it failed with ${String(exit.cause)}`)

const firstSeed = longRun ? runSeed("S75") : Number(process.env["ROSTER_SEED"] ?? 1)

/**
 * Registers callers as a test. `known` are runs that broke the invariant once. 1000 seeds reach the marks of the simulation,
 * and no others.
 */
export const workload = <Results, Services, LayerError>(
  name: string,
  simulation: Simulation<Results, Services, LayerError>,
  { known = [] }: { readonly known?: ReadonlyArray<string> } = {}
): void => {
  const seeds = amount({ ci: 20, long: 1000 })
  it.live(
    `S75 ${name}`,
    () =>
      Effect.gen(function* () {
        const { newOrders, ...report } = yield* simulate(simulation, { firstSeed, seeds })
        assert.includeMembers([...(simulation.marks ?? [])], [...report.marks])
        if (!longRun) return
        process.stdout.write(`S75 ${name}: ${report.orders} orders, ${newOrders} of the last hundred seeds\n`)
        assert.deepStrictEqual(report.unreachedMarks, [], "no seed has reached these situations")
        assert.isAtLeast(newOrders, 20, "the last hundred seeds bring few new orders: the workload is too small")
      }),
    amount({ ci: 60_000, long: 1_800_000 })
  )
  for (const repeat of known) {
    it.live(`S75 ${name}, the run ${repeat} that failed once`, () => simulate(simulation, { repeat }))
  }
}
