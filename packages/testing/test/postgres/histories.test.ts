/** S72, S74 Three processes on one PostgreSQL: the history of each key has an explanation, whatever is killed or breaks. */
import { NodeServices } from "@effect/platform-node"
import { assert, it } from "@effect/vitest"
import { Effect, Redacted } from "effect"
import { historyTime, historyTrial } from "../durability/history/HistoryTrial.ts"
import { killableServe, servePlace } from "../durability/KillableServe.ts"
import { runSeed, seededRandom } from "../../src/simulation/LongRun.ts"
import { faultProxy } from "../faults/server/FaultProxy.ts"
import { describePostgres, freshDatabase, restartPostgres, startOwnPostgres } from "./TestPostgres.ts"

startOwnPostgres()

const processes = 3

/** Of a piece of data between the processes and the database. */
const faultRate = 0.001

describePostgres("S.5 histories of keys on PostgreSQL", () => {
  it.live(
    `S72 and S74 of ${processes} processes and their database, killed and restarted, no acknowledged write is lost`,
    () =>
      Effect.gen(function* () {
        const random = seededRandom(runSeed("S74 on PostgreSQL"))
        const place = yield* servePlace
        const restart = restartPostgres
        const url = new URL(Redacted.value(yield* freshDatabase))
        let breaks = false
        const proxy = yield* faultProxy({ random: () => (breaks ? random() : 1), rate: faultRate })
        yield* proxy.leadTo(Number(url.port))
        url.port = String(proxy.port)
        const database = Redacted.make(url.href)
        const figures = yield* historyTrial(
          {
            count: processes,
            start: killableServe(place, { database }),
            restartDatabase: restart && Effect.suspend(() => restart(random() < 0.5)),
            breakNetwork: (given) => {
              breaks = given
            }
          },
          random
        )
        process.stdout.write(
          `S74 on PostgreSQL, nothing lost: ${JSON.stringify({ ...figures, faultsOfDatabase: proxy.faults() })}\n`
        )
        assert.isAbove(figures.ok, 0)
        assert.isAbove(figures.unknown, 0)
      }).pipe(Effect.scoped, Effect.provide(NodeServices.layer)),
    historyTime
  )
})
