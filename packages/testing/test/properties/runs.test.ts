/** The service records what a reader sees change, on SQLite. (On PostgreSQL: `postgres/runs.test.ts`.) */
import { layer } from "@effect/vitest"
import { SqlServices } from "@roster/server"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"
import { calls, compareRecord } from "./RecordedRuns.ts"

layer(SqlServices.layerWithStore({ filename: ":memory:" }), { excludeTestServices: true })("on SQLite", (it) => {
  it.effect.prop(
    "the record of a run is what a reader saw before and after each of its calls",
    [calls],
    ([calls]) => compareRecord(calls),
    { arbitrary: { runs: amount({ ci: 40, long: 2000 }), seed: runSeed("recorded runs"), size: 50 }, timeout: 60_000 }
  )
})
