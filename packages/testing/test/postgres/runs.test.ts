/** The service records what a reader sees change, on PostgreSQL. (On SQLite: `properties/runs.test.ts`.) */
import { it } from "@effect/vitest"
import { SqlServices } from "@roster/server"
import { Effect, Layer } from "effect"
import { amount, runSeed } from "../../src/simulation/LongRun.ts"
import { calls, compareRecord } from "../properties/RecordedRuns.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

const services = Layer.unwrap(Effect.map(freshDatabase, (url) => SqlServices.layerPostgres({ postgres: { url } })))

describePostgres("on PostgreSQL", () => {
  it.layer(services, { excludeTestServices: true })((it) => {
    it.effect.prop(
      "the record of a run is what a reader saw before and after each of its calls",
      [calls],
      ([calls]) => compareRecord(calls),
      { arbitrary: { runs: amount({ ci: 15, long: 1000 }), seed: runSeed("recorded runs"), size: 50 }, timeout: 60_000 }
    )
  })
})
