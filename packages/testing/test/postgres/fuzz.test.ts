/** The stateful fuzz on PostgreSQL. `ROSTER_FUZZ_CALLS` changes how many calls it makes, and `ROSTER_SEED` repeats a run. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { operations } from "@roster/api"
import { Effect } from "effect"
import { Reactivity } from "effect/reactivity"
import * as PostgresClient from "../../../server/src/store/postgres/PostgresClient.ts"
import { longRun, runSeed } from "../../src/simulation/LongRun.ts"
import { type FuzzedStore, runFuzz } from "../fuzz/Fuzz.ts"
import { describePostgres, freshDatabase } from "./TestPostgres.ts"

const calls = Number(process.env["ROSTER_FUZZ_CALLS"] ?? 20_000)

const onPostgres = Effect.gen(function* () {
  const database = yield* freshDatabase
  const sql = yield* PostgresClient.make({ url: database, maxConnections: 1 })
  const openJobs = sql<{ readonly open: number }>`SELECT count(*) AS open FROM jobs WHERE ended IS NULL`
  const content = Effect.gen(function* () {
    const tables = yield* sql<{ readonly name: string }>`
      SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'`
    const texts = yield* Effect.forEach(
      tables,
      ({ name }) => sql<{ readonly text: string }>`SELECT all_of::text AS text FROM ${sql(name)} AS all_of`
    )
    return texts
      .flat()
      .map(({ text }) => text)
      .join("\n")
  })
  const store: FuzzedStore = {
    database,
    openJobs: Effect.orDie(Effect.map(openJobs, ([row]) => Number(row?.open))),
    content: Effect.orDie(content),
    integrity: Effect.succeed("ok")
  }
  return store
})

describePostgres("stateful fuzz on PostgreSQL (nightly)", () => {
  it.live.skipIf(!longRun)(
    `${calls} random calls find no undocumented answer, no leak, and nothing that the model does not hold`,
    () =>
      Effect.gen(function* () {
        const seed = runSeed("S73 on PostgreSQL")
        const { byStatus, successes } = yield* runFuzz({ seed, calls, store: yield* onPostgres })
        process.stdout.write(`S73 on PostgreSQL: ${calls} calls, ${byStatus.get(200) ?? 0} answered with 200\n`)
        assert.deepStrictEqual([...successes].sort(), [...operations.keys()].sort())
      }).pipe(Effect.scoped, Effect.provide([NodeServices.layer, Reactivity.layer])),
    60 * 60_000
  )
})
